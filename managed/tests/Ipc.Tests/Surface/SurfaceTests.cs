using System.Reflection;
using System.Xml.Linq;

namespace Ipc.Tests;

/// <summary>What every public member owes its reader: a time-out of either kind, the exceptions .NET knows, and the truth about both in its
/// comment.</summary>
public sealed class SurfaceTests
{
    public static TheoryData<string> Documented => ["Ipc", "Ipc.Queues"];

    [Fact]
    public void WhereverMillisecondsAreTakenATimeSpanIs()
    {
        const BindingFlags Declared = BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;
        var missing =
            from type in new[] { typeof(IpcChannel).Assembly, typeof(Ipc.Queues.QueueFactory).Assembly }.SelectMany(assembly => assembly.GetExportedTypes())
            from method in type.GetMethods(Declared)
            let parameters = method.GetParameters()
            where parameters.Length > 0 && parameters[^1].Name == "timeoutMilliseconds"
            let types = parameters[..^1].Select(parameter => parameter.ParameterType).Append(typeof(TimeSpan)).ToArray()
            where type.GetMethod(method.Name, types) is null && typeof(IpcTimeoutExtensions).GetMethod(method.Name, [type, .. types]) is null
            select $"{type.Name}.{method.Name}";
        Assert.Empty(missing);
    }

    [Fact]
    public void EveryTimeSpanIsRoundedUpAndCheckedAlike()
    {
        Assert.Equal(Timeout.Infinite, TimeSpans.Milliseconds(Timeout.InfiniteTimeSpan));
        Assert.Equal(0, TimeSpans.Milliseconds(TimeSpan.Zero));
        Assert.Equal(1, TimeSpans.Milliseconds(TimeSpan.FromTicks(1)));
        Assert.Equal(int.MaxValue, TimeSpans.Milliseconds(TimeSpan.MaxValue));
        using var pair = new Pair("unix");
        var negative = TimeSpan.FromMilliseconds(-2);
        foreach (var method in typeof(IpcChannel).GetMethods().Where(m => m.GetParameters() is [.., { ParameterType: var last }] && last == typeof(TimeSpan)
            && !m.GetParameters().Any(p => p.ParameterType.IsByRefLike || p.ParameterType.IsByRef) && !m.ReturnType.IsByRefLike))
        {
            var arguments = method.GetParameters().Select(p => p.ParameterType == typeof(TimeSpan) ? negative
                : p.ParameterType == typeof(string) ? "x" : Activator.CreateInstance(p.ParameterType)).ToArray();
            var failure = Assert.Throws<TargetInvocationException>(() => method.Invoke(pair.Client, arguments));
            Assert.Equal(IpcStatus.InvalidArgument, Assert.IsType<IpcException>(failure.InnerException).Status);
        }
    }

    [Fact]
    public void ATimeOutAndAClosedObjectAreSaidInDotNetsWordsToo()
    {
        using var pair = new Pair("unix");
        var buffer = new byte[10];
        IsA<TimeoutException>(() => pair.Client.Receive(buffer, 0));
        IsA<TimeoutException>(() => pair.Client.Peek(0));
        IsA<TimeoutException>(() => pair.Server.ReceiveRequest(1));
        IsA<TimeoutException>(() => pair.Client.Call([1], buffer, 1));
        IsA<TimeoutException>(() => pair.Listener.Accept(0));
        pair.Dispose();
        IsA<ObjectDisposedException>(() => pair.Client.Send([1]));
        IsA<ObjectDisposedException>(() => pair.Client.Receive(buffer));
        IsA<ObjectDisposedException>(() => pair.Client.TryPeek(out _));
        IsA<ObjectDisposedException>(() => pair.Client.Call([1], buffer));
        IsA<ObjectDisposedException>(() => pair.Server.Serve((_, _) => { }));
        IsA<ObjectDisposedException>(() => pair.Listener.Accept());
        var own = new FormatException();
        Assert.Same(own, new IpcException(IpcStatus.TimedOut, "with a cause", own).InnerException);
        Assert.Null(new IpcException(IpcStatus.NoServer, "without one").InnerException);

        static void IsA<T>(Action action) where T : Exception
        {
            var failure = Assert.ThrowsAny<IOException>(action);
            Assert.Equal(failure.Message, Assert.IsType<T>(failure.InnerException).Message);
        }
    }

    [Theory, MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void TryPeekSaysWhatPeekDoes(string transport)
    {
        using var pair = new Pair(transport);
        Assert.False(pair.Server.TryPeek(out var message));
        Assert.True(message.IsEmpty);
        Assert.False(pair.Server.TryPeek(out _, TimeSpan.FromMilliseconds(1)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(pair.Server.Release));
        foreach (var length in new[] { 1, 2000, 50_000 })
        {
            var sending = Aside.Run(() => pair.Client.Send(Pair.Bytes(length)));
            Assert.True(pair.Server.TryPeek(out message, Pair.Patience));
            Assert.True(message.SequenceEqual(Pair.Bytes(length)));
            // It is the same until it is given back.
            Assert.True(pair.Server.TryPeek(out message));
            Assert.Equal(length, message.Length);
            pair.Server.Release();
            sending.Join();
        }
        pair.Client.Close();
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => Pair.Until(() => pair.Server.TryPeek(out _))));
    }

    // Whoever catches nothing must have been told.
    [Theory, MemberData(nameof(Documented))]
    public void EveryMethodThatWaitsOrOpensSaysWhatItThrows(string assembly)
    {
        var members = XDocument.Load(Path.Combine(AppContext.BaseDirectory, assembly + ".xml")).Descendants("member").ToList();
        Assert.NotEmpty(members);
        var silent = members
            .Where(member => member.Attribute("name")!.Value.StartsWith("M:", StringComparison.Ordinal) && member.Element("inheritdoc") is null)
            .Where(member => member.Elements("param").Any(p =>
                p.Attribute("name")!.Value is "timeoutMilliseconds" or "cancellationToken" or "address" or "cancellation"))
            .Where(member => member.Element("exception") is null)
            .Select(member => member.Attribute("name")!.Value)
            // Delegates and internal classes are in the file, too; nobody calls those.
            .Where(name => !name.Contains("Handler.", StringComparison.Ordinal) && IsPublic(name));
        Assert.Empty(silent);
    }

    private static bool IsPublic(string member)
    {
        var path = member[2..].Split('(')[0];
        var type = path[..path.LastIndexOf('.')];
        return (typeof(IpcChannel).Assembly.GetType(type) ?? typeof(Ipc.Queues.QueueFactory).Assembly.GetType(type))?.IsVisible == true;
    }
}
