using System.Globalization;
using System.Runtime.CompilerServices;
using Ipc.Conformance.Raw;

namespace Ipc.Conformance.Puppets;

/// <summary>A case's surroundings: two puppets, a transport and a name of its own. Whatever goes wrong is told with both
/// puppets' last lines; a case that ends well has also left nothing behind.</summary>
internal sealed class Stage
{
    private const int HandshakeTimeout = 10_000;
    private static int s_counter;

    private readonly TransportEntry _transport;

    private Stage(string transport, PuppetProcess server, PuppetProcess client)
    {
        _transport = Registry.Transport(transport);
        (Server, Client) = (server, client);
        Name = string.Create(CultureInfo.InvariantCulture, $"conformance-{Environment.ProcessId}-{Interlocked.Increment(ref s_counter)}");
        Address = WithOptions(UsesPorts ? $"{transport}://127.0.0.1:0" : $"{transport}://{Name}", "");
    }

    public PuppetProcess Server { get; }
    public PuppetProcess Client { get; }
    /// <summary>The transport's registry id.</summary>
    public string Transport => _transport.Id;
    public string Name { get; }
    /// <summary>Where the server listens: with the system's choice of port once it does.</summary>
    public string Address { get; private set; }
    /// <summary>Whether the transport is named by the system (a port) rather than by us.</summary>
    public bool UsesPorts => _transport.NameForm.StartsWith("port", StringComparison.Ordinal);
    /// <summary>Whether there are messages as well as calls.</summary>
    public bool HasChannel => _transport.Kind == "channel";
    /// <summary>Whether a whole message may lie between the ends, rather than part of one (one block, written in place).</summary>
    public bool HasOneBlock => _transport.Id == "shm-event";

    /// <summary>How many messages or calls a case of many makes: a fifth where each takes a tenth of a millisecond to a whole one, which is under Wine; a tenth
    /// where it takes some, which is over transports of calls alone.</summary>
    public int Many(int onLinux) => !HasChannel ? onLinux / 10 : PuppetSystem.IsWine ? onLinux / 5 : onLinux;

    /// <summary>Runs a case with two puppets.</summary>
    public static async Task Run(string transport, string server, string client, Func<Stage, Task> body,
        [CallerMemberName] string test = "")
    {
        Modules.Prepare(Registry.Transport(transport));
        var stage = new Stage(transport, PuppetPool.Rent(server), PuppetPool.Rent(client));
        try
        {
            await body(stage);
            await stage.TidyUp();
        }
        catch (Exception e)
        {
            stage.Server.Dispose();
            stage.Client.Dispose();
            // Killed puppets cannot remove their names, and a failure must not stand in the way of the next run.
            foreach (var path in Names.Left(stage.Name))
                File.Delete(path);
            throw new ConformanceException(
                $"{transport} {server}:{client} {test}: {e.Message}\n{stage.Server.Transcript}\n{stage.Client.Transcript}", e);
        }
        PuppetPool.Return(stage.Server);
        PuppetPool.Return(stage.Client);
    }

    /// <summary>Listens as `l`.</summary>
    public async Task Listen(string options = "")
    {
        Address = await Server.Ok($"listen l {WithOptions(Address, options)}");
    }

    /// <summary>Connects the client's channel and accepts it as the server's, both by the same name.</summary>
    public async Task Connect(string options = "", string channel = "c", PuppetProcess? client = null)
    {
        var connecting = (client ?? Client).Give("connect", $"connect {channel} {WithOptions(Address, options)} {HandshakeTimeout}");
        await Server.Ok($"accept l {channel} {HandshakeTimeout}");
        (await connecting).Ok();
    }

    /// <summary>Listens as `l` and connects channel `c`.</summary>
    public async Task Open(string serverOptions = "", string clientOptions = "")
    {
        await Listen(serverOptions);
        await Connect(clientOptions);
    }

    /// <summary>One message of `length` bytes on channel `c`, sent and received at the same time, checked.</summary>
    public static async Task Exchange(PuppetProcess from, PuppetProcess to, int length, string channel = "c", int sequence = 1)
    {
        var receiving = to.Give("receive", $"receive {channel} {length} 7 {sequence} 10000");
        (await from.Give("send", $"send {channel} {length} 7 {sequence} 10000")).Ok();
        (await receiving).Ok(length);
    }

    /// <summary>Messages both ways on a channel: it is good.</summary>
    public async Task ExchangeBothWays(string channel = "c", PuppetProcess? client = null)
    {
        await Exchange(client ?? Client, Server, 1234, channel);
        await Exchange(Server, client ?? Client, 321, channel);
    }

    /// <summary>The listener still serves a good client, whatever others have left in its queue before.</summary>
    public async Task ServeAGoodClient()
    {
        const int mostInTheQueue = 15;
        var connecting = Client.Give("connect", $"connect good {Address} {HandshakeTimeout}");
        for (var i = 0; i < mostInTheQueue; i++)
        {
            if (!(await Server.Give("main", $"accept l good{i} 2000")).IsOk)
                continue;
            var echoing = Server.Give($"echo{i}", $"serve good{i} echo");
            // On the channel of a client that is gone the echo ends at once, or with the failure that client left.
            if (await Task.WhenAny(echoing, Task.Delay(60)) == echoing)
                continue;
            (await connecting).Ok();
            // Should this be one of the gone after all, only slower to end, its echo ends now and another channel comes.
            if (!(await Client.Give("main", "call good 100 1 1 100 500")).IsOk)
                continue;
            await Client.Ok("free good");
            (await echoing).Ok();
            return;
        }
        throw new ConformanceException("the listener does not serve a good client any more");
    }

    /// <summary>The address with these options instead of its own.</summary>
    public static string WithOptions(string address, string options) =>
        address.Split('?')[0] + (options.Length > 0 ? $"?{options}" : "");

    private async Task TidyUp()
    {
        foreach (var puppet in new[] { Client, Server })
        {
            if (!puppet.IsDead)
                await puppet.Ok("reset");
        }
        var left = Names.Left(Name);
        // A peer's end is noticed a moment after it: what that end removes may still be there.
        for (var tries = 0; left.Count > 0 && tries < 20; tries++)
        {
            await Task.Delay(50);
            left = Names.Left(Name);
        }
        if (left.Count > 0)
            throw new ConformanceException($"left behind in the file system: {string.Join(", ", left)}");
    }
}
