using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Security.Cryptography;

namespace Ipc;

/// <summary>One client at the server: what the runtime's handle of the session leads to.</summary>
internal sealed record RpcClientSession(Guid Token, CallSession Session);

/// <summary>What rpcrt4 has once in a process: the interface, an endpoint of each sequence, which cannot be taken back and which all listeners
/// share, and the sessions of all clients. Twin of native/src/msrpc/runtime_win32.cpp.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class RpcRuntime
{
    // The registry's largest_message, and what goes around it in a call.
    private const uint LargestCall = (256u << 20) + 4096;

    private static readonly object s_lock = new();
    private static readonly Dictionary<RpcSequence, string> s_endpoints = [];
    private static readonly List<RpcListener> s_listeners = [];
    private static readonly Dictionary<Guid, CallSession> s_sessions = [];
    private static bool s_registered;

    /// <summary>The endpoint of a sequence, made when it is first asked for; registers the interface before. Throws.</summary>
    public static string Endpoint(RpcSequence sequence)
    {
        lock (s_lock)
        {
            RegisterInterface();
            if (!s_endpoints.TryGetValue(sequence, out var endpoint))
                s_endpoints.Add(sequence, endpoint = sequence == RpcSequence.Tcp ? MakeTcpEndpoint() : MakeEndpoint(sequence));
            return endpoint;
        }
    }

    private static void RegisterInterface()
    {
        if (s_registered)
            return;
        var status = Win32Rpc.RegisterInterface(
            RpcInterface.Description, null, null, Win32Rpc.RPC_IF_AUTOLISTEN | Win32Rpc.RPC_IF_ALLOW_CALLBACKS_WITH_NO_AUTH,
            Win32Rpc.RPC_C_LISTEN_MAX_CALLS_DEFAULT, LargestCall, RpcInterface.SecurityCallback);
        if (status == Win32Rpc.RPC_S_TYPE_ALREADY_REGISTERED)
        {
            throw new IpcException(IpcStatus.NotAvailable,
                "another copy of ipc, native or .NET, serves MS-RPC in this process already: use only one of them");
        }
        Check(status, "cannot register the interface with rpcrt4");
        s_registered = true;
    }

    private static void Check(int status, string what)
    {
        if (status != Win32Rpc.RPC_S_OK)
            throw Win32.Failure(IpcStatus.System, what, status);
    }

    private static string MakeEndpoint(RpcSequence sequence)
    {
        var random = Convert.ToHexString(RandomNumberGenerator.GetBytes(8)).ToLowerInvariant();
        var endpoint = $@"{(sequence == RpcSequence.NamedPipe ? @"\pipe\" : "")}ipc-rpc-{Environment.ProcessId}-{random}";
        var name = MsRpcTransport.NameOf(sequence);
        Check(Win32Rpc.UseSequenceEndpoint(name, Win32Rpc.RPC_C_PROTSEQ_MAX_REQS_DEFAULT, endpoint, OnlyThisUser.Instance.Attributes.Descriptor),
            $"cannot make an endpoint of {name}");
        return endpoint;
    }

    // The port that the system chooses.
    private static string MakeTcpEndpoint()
    {
        const string name = "ncacn_ip_tcp";
        Check(Win32Rpc.UseSequence(name, Win32Rpc.RPC_C_PROTSEQ_MAX_REQS_DEFAULT, null), $"cannot make an endpoint of {name}");
        byte* vector = null;
        Check(Win32Rpc.InquireBindings(&vector), $"cannot ask for the endpoint of {name}");
        string? found = null;
        var bindings = (nint*)(vector + sizeof(nint)); // after the count
        for (var i = 0; i < *(int*)vector && found is null; i++)
            found = bindings[i] == 0 ? null : EndpointIn(bindings[i], name);
        Win32Rpc.FreeBindings(&vector);
        return found ?? throw Win32.Failure(IpcStatus.System, $"cannot find the endpoint of {name}", Win32Rpc.RPC_S_NO_BINDINGS);
    }

    // The endpoint in a binding, if that is of the sequence.
    private static string? EndpointIn(nint binding, string sequence)
    {
        char* text = null;
        if (Win32Rpc.BindingToString(binding, &text) != Win32Rpc.RPC_S_OK)
            return null;
        char* itsSequence = null;
        char* itsEndpoint = null;
        string? endpoint = null;
        if (Win32Rpc.ParseStringBinding(text, null, &itsSequence, null, &itsEndpoint, null) == Win32Rpc.RPC_S_OK)
        {
            if (new string(itsSequence) == sequence)
                endpoint = new string(itsEndpoint);
            Win32Rpc.FreeString(&itsSequence);
            Win32Rpc.FreeString(&itsEndpoint);
        }
        Win32Rpc.FreeString(&text);
        return string.IsNullOrEmpty(endpoint) ? null : endpoint;
    }

    public static void Add(RpcListener listener)
    {
        lock (s_lock)
            s_listeners.Add(listener);
    }

    public static void Remove(RpcListener listener)
    {
        lock (s_lock)
            s_listeners.Remove(listener);
    }

    // ---- on rpcrt4's threads

    /// <summary>A session for a client that shows the proof of a listener: <see cref="IpcStatus.NoServer"/> if there is none.</summary>
    public static IpcStatus Open(ReadOnlySpan<byte> proof, Span<byte> answer, Span<byte> token, out RpcClientSession? client)
    {
        client = null;
        if (!MayOpen(0))
            return IpcStatus.NoPermission;
        lock (s_lock)
        {
            foreach (var listener in s_listeners)
            {
                if (!proof.SequenceEqual(listener.Handshake.Proof))
                    continue;
                if (listener.Welcome(out var refused) is not { } session)
                    return refused == IpcStatus.Closed ? IpcStatus.NoServer : refused;
                RandomNumberGenerator.Fill(token);
                client = new RpcClientSession(new Guid(token), session);
                s_sessions.Add(client.Token, session);
                listener.Handshake.Answer.CopyTo(answer);
                return IpcStatus.Ok;
            }
        }
        return IpcStatus.NoServer;
    }

    public static CallSession? Find(ReadOnlySpan<byte> token)
    {
        lock (s_lock)
            return s_sessions.GetValueOrDefault(new Guid(token));
    }

    public static void End(RpcClientSession client)
    {
        client.Session.ClientGone();
        lock (s_lock)
            s_sessions.Remove(client.Token);
    }

    /// <summary>Whether the call under way on this thread comes from this user. Over tcp, where the runtime knows no user without
    /// authentication, the proof alone must do.</summary>
    public static bool MayOpen(nint call)
    {
        if (Win32Rpc.Impersonate(call) != Win32Rpc.RPC_S_OK)
        {
            lock (s_lock)
                return s_endpoints.ContainsKey(RpcSequence.Tcp);
        }
        var caller = Win32.UserOfThread();
        Win32Rpc.Revert(call);
        return caller == Win32.ThisUser;
    }
}
