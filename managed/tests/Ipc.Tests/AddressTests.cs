namespace Ipc.Tests;

public sealed class AddressTests
{
    [Fact]
    public void AnAddressIsTakenApart()
    {
        var address = IpcAddress.Parse("shm://prices?wait=spin&max=16k");
        Assert.Equal("shm", address.Transport);
        Assert.Equal("prices", address.Name);
        Assert.Equal("spin", address.Option("wait"));
        Assert.Equal("50", address.Option("spin"));
        Assert.Equal(50, address.OptionCount("spin"));
        Assert.Equal(256 * 1024, address.OptionSize("size"));
        Assert.Equal(16 * 1024, address.MaxMessageLength);
        Assert.Equal("shm://prices?wait=spin&max=16k", address.ToString());
        Assert.Equal("shm://other?wait=spin&max=16k", address.WithName("other"));
    }

    [Theory]
    [InlineData("unix://a", 64 << 20)]
    [InlineData("unix://a?max=1", 1)]
    [InlineData("unix://a?max=3k", 3072)]
    [InlineData("unix://a?max=1M", 1 << 20)]
    [InlineData("unix://a?max=1G", 1 << 30)]
    [InlineData("unix://a?max=2G", int.MaxValue - 0xFFFF)]
    public void TheLimitIsAPowerOf1024OrWhatAnArrayHolds(string text, int limit) => Assert.Equal(limit, IpcAddress.Parse(text).MaxMessageLength);

    [Theory]
    [InlineData("unix:///tmp/some.socket", "/tmp/some.socket")]
    [InlineData("tcp://[::1]:5000?users=any", "[::1]:5000")]
    [InlineData("tcp://0", "0")]
    public void NamesKeepTheirTransportsForm(string text, string name) => Assert.Equal(name, IpcAddress.Parse(text).Name);

    [Theory]
    [InlineData("")]
    [InlineData("shm")]
    [InlineData("shm:prices")]
    [InlineData("://prices")]
    [InlineData("shm://")]
    [InlineData("shm://?wait=spin")]
    [InlineData("shm://prices?")]
    [InlineData("shm://prices?wait")]
    [InlineData("shm://prices?=spin")]
    [InlineData("shm://prices?wait=spin&")]
    [InlineData("shm://pri\0ces")]
    public void WhatIsNoAddressIsToldSo(string text)
    {
        var failure = Assert.Throws<IpcException>(() => IpcAddress.Parse(text));
        Assert.Equal(IpcStatus.BadAddress, failure.Status);
        Assert.Contains("transport://name", failure.Message, StringComparison.Ordinal);
        Assert.True(failure.IsCallersMistake);
    }

    [Fact]
    public void AnUnknownTransportListsTheKnown()
    {
        var failure = Assert.Throws<IpcException>(() => IpcAddress.Parse("carrier-pigeon://coop"));
        Assert.Equal(IpcStatus.UnknownTransport, failure.Status);
        foreach (var transport in Registry.Transports)
            Assert.Contains(transport.Id, failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void AnUnknownOptionListsItsTransports()
    {
        var failure = Assert.Throws<IpcException>(() => IpcAddress.Parse("shm://a?speed=high"));
        Assert.Equal(IpcStatus.BadOption, failure.Status);
        Assert.Contains("wait, spin, size, pages, prefault, max", failure.Message, StringComparison.Ordinal);
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => IpcAddress.Parse("unix://a").Option("wait")));
    }

    [Theory]
    [InlineData("shm://a?wait=sometimes", "adaptive, spin, block")]
    [InlineData("shm://a?wait=", "adaptive, spin, block")]
    [InlineData("shm://a?spin=-1", "whole number")]
    [InlineData("shm://a?spin=1k", "whole number")]
    [InlineData("shm://a?max=", "64k")]
    [InlineData("shm://a?max=k", "64k")]
    [InlineData("shm://a?max=0", "64k")]
    [InlineData("shm://a?max=1.5M", "64k")]
    [InlineData("shm://a?max=1K", "64k")]
    [InlineData("shm://a?max=99999999999999999999G", "64k")]
    [InlineData("shm://a?max=9999999999G", "64k")]
    [InlineData("shm://a?max=3G", "2G")]
    [InlineData("shm://a?max=1k&max=2k", "once")]
    public void AWrongValueIsToldWhatIsRight(string text, string right)
    {
        var failure = Assert.Throws<IpcException>(() => IpcAddress.Parse(text));
        Assert.Equal(IpcStatus.BadOption, failure.Status);
        Assert.Contains(right, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("shm://a?size=4096")]
    [InlineData("shm://a?size=96k")]
    [InlineData("shm://a?size=8G")]
    public void ARingsSizeIsAPowerOfTwo(string text)
    {
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => ManagedIpc.Listen(text)));
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => ManagedIpc.Connect(text)));
    }

    [Theory]
    [InlineData("unix")]
    [InlineData("pipe")]
    [InlineData("fifo")]
    [InlineData("shm")]
    [InlineData("shm-event")]
    public void ANameCannotLeadElsewhere(string transport)
    {
        foreach (var name in new[] { ".hidden", "..", "a/b", "a b", "ü", new string('a', 81) })
        {
            Assert.Equal(IpcStatus.BadAddress, Pair.StatusOf(() => ManagedIpc.Listen($"{transport}://{name}")));
            Assert.Equal(IpcStatus.BadAddress, Pair.StatusOf(() => ManagedIpc.Connect($"{transport}://{name}")));
        }
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.Connect($"{transport}://{new string('a', 80 - 33)}-{Guid.NewGuid():N}")));
    }

    [Theory]
    [InlineData("tcp://")]
    [InlineData("tcp://port")]
    [InlineData("tcp://:5000")]
    [InlineData("tcp://1.2.3.4")]
    [InlineData("tcp://65536")]
    [InlineData("tcp://host:")]
    [InlineData("tcp://::1:5000")]
    [InlineData("tcp://[::1]")]
    [InlineData("tcp://-1")]
    public void ATcpNameHasAPort(string text)
    {
        Assert.Equal(IpcStatus.BadAddress, Pair.StatusOf(() => ManagedIpc.Listen(text)));
        Assert.Equal(IpcStatus.BadAddress, Pair.StatusOf(() => ManagedIpc.Connect(text)));
    }

    [Fact]
    public void EveryTransportOfTheRegistryThatHasAManagedSideIsThere()
    {
        foreach (var transport in Registry.Transports.Where(t => Registry.WhyNotAvailable(t).Length == 0))
        {
            var address = Pair.NewAddress(transport.Id);
            IDisposable opened = transport.Kind switch
            {
                "channel" or "call" => ManagedIpc.Listen(address),
                "queue" => ManagedIpc.OpenQueue(address),
                "broadcast" => ManagedIpc.Publish(address),
                _ => throw new InvalidOperationException($"{transport.Id} is of the unknown kind '{transport.Kind}'"),
            };
            // While it is open: some queues outlive their handles, some do not.
            if (transport.Kind == "queue")
                ManagedIpc.RemoveQueue(address);
            opened.Dispose();
        }
    }
}
