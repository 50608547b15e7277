using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A pipe's name, docs/wire-formats.md "Names on Windows", and the address it comes from, for error messages. Claim: a second
/// pipe, which exists as long as somebody listens at the path.</summary>
internal sealed record PipeName(string Address, string Path, string Claim);

/// <summary>What the system keeps together: bytes, or each write as one message.</summary>
internal enum PipeMode { Byte, Message }

/// <summary>Named pipes of the own user: names, connecting, checking who is there. What listens is <see cref="LocalPipeListener"/>;
/// twin of native/src/win32/local_pipe.cpp.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class LocalPipe
{
    // A name whose instances are all taken although nobody claims to listen: connections that outlived their listener, or a
    // server that is not of this library and may come back from a client.
    private const int UnclaimedPatienceMilliseconds = 200;
    private const int WaitSliceMilliseconds = 50;

    /// <summary>A pipe that only this library uses, after checking the name; the prefix ends with '-'.</summary>
    public static PipeName PrivateName(IpcAddress address, string prefix)
    {
        PlainName.Check(address);
        return new PipeName(address.ToString(), $@"\\.\pipe\ipc-{Win32.ThisUser}-{prefix}{address.Name}", ClaimOf(address, prefix));
    }

    /// <summary>A pipe that others connect to by name.</summary>
    public static PipeName PublicName(IpcAddress address)
    {
        PlainName.Check(address);
        return new PipeName(address.ToString(), $@"\\.\pipe\{address.Name}", ClaimOf(address, "pipe-"));
    }

    private static string ClaimOf(IpcAddress address, string prefix) => $@"\\.\pipe\ipc-{Win32.ThisUser}-listening-{prefix}{address.Name}";

    /// <summary>Connects as a client that can be identified but not impersonated, and checks that pipe and server belong to this
    /// user. Nobody there is <see cref="IpcStatus.NoServer"/> at once; the deadline matters while all instances are taken. The handle
    /// is overlapped.</summary>
    public static Win32Handle Connect(PipeName name, PipeMode mode, Deadline deadline)
    {
        var unclaimed = new Deadline(UnclaimedPatienceMilliseconds);
        while (true)
        {
            var pipe = Win32.OpenPipe(name.Path);
            if (pipe is null)
            {
                if (Win32.LastError != Win32.ERROR_PIPE_BUSY)
                    throw ConnectFailed(name, Win32.LastError);
                WaitForInstance(name, deadline, unclaimed);
                continue;
            }
            try
            {
                CheckServer(name, pipe);
                SetReadMode(name, mode, pipe);
                return pipe;
            }
            catch
            {
                pipe.Dispose();
                throw;
            }
        }
    }

    /// <summary>Refuses a pipe that belongs to another user.</summary>
    public static void CheckOwner(PipeName name, Win32Handle pipe)
    {
        var owner = Win32.OwnerOf(pipe) ?? throw new IpcException(IpcStatus.NoPermission, $"the system does not say who owns the pipe of {name.Address}");
        if (owner != Win32.ThisUser)
            throw new IpcException(IpcStatus.NoPermission, $"the pipe of {name.Address} belongs to {owner}, not to this user: choose another name");
    }

    /// <summary>Whether a process is known to be another user's. Who cannot be asked has passed the pipe's DACL or owner check, which
    /// are the system's own; this one catches a handle passed on to somebody else's process.</summary>
    public static bool IsForeign(uint process) => Win32.UserOfProcess(process) is { } user && user != Win32.ThisUser;

    private static void CheckServer(PipeName name, Win32Handle pipe)
    {
        CheckOwner(name, pipe);
        uint process;
        if (Win32.GetNamedPipeServerProcessId(pipe, &process) != 0 && IsForeign(process))
            throw new IpcException(IpcStatus.NoPermission, $"the server at {name.Address} (process {process}) belongs to another user: run both as the same");
    }

    private static void SetReadMode(PipeName name, PipeMode mode, Win32Handle pipe)
    {
        var readMode = Win32.PIPE_READMODE_MESSAGE;
        if (mode == PipeMode.Message && Win32.SetNamedPipeHandleState(pipe, &readMode, null, null) == 0)
            throw new IpcException(IpcStatus.NotOurProtocol,
                $"the server at {name.Address} keeps no messages apart: use mode=byte, or change the server");
    }

    // All instances are taken. Waits a moment for one; throws when it is no use to go on.
    private static void WaitForInstance(PipeName name, Deadline deadline, Deadline unclaimed)
    {
        if (unclaimed.Expired && !Exists(name.Claim))
            throw new IpcException(IpcStatus.NoServer, $"nobody listens at {name.Address} any more, though connections are left: start the server first");
        if (deadline.Expired)
            throw new IpcException(IpcStatus.TimedOut, $"the server at {name.Address} is there but accepts no client within the time-out");
        _ = Win32.WaitNamedPipe(name.Path, (uint)Math.Max(deadline.SliceMilliseconds(WaitSliceMilliseconds), 1));
    }

    // Without connecting to it.
    private static bool Exists(string pipe) => Win32.WaitNamedPipe(pipe, 1) != 0 || Win32.LastError != Win32.ERROR_FILE_NOT_FOUND;

    private static IpcException ConnectFailed(PipeName name, int error) => error switch
    {
        Win32.ERROR_FILE_NOT_FOUND or Win32.ERROR_PATH_NOT_FOUND =>
            new IpcException(IpcStatus.NoServer, $"nobody listens at {name.Address}: start the server first"),
        Win32.ERROR_ACCESS_DENIED => Win32.Failure(IpcStatus.NoPermission, $"may not connect to {name.Address}, which is another user's", error),
        _ => Win32.Failure(IpcStatus.System, $"cannot connect to {name.Address}", error),
    };
}
