using System.Runtime.Versioning;
using System.Security.Cryptography;
using System.Text;

namespace Ipc;

/// <summary>What a server and its clients know of each other before the first call, docs/wire-formats.md "MS-RPC": a named section that
/// only this user can open. Twin of native/src/msrpc/handshake_win32.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class RpcHandshake
{
    public const int SecretSize = 32;

    private const uint Magic = 0x52435049; // "IPCR"
    private const uint Version = 1;
    private const int ProofAt = 16, AnswerAt = 48, EndpointAt = 80, LongestEndpoint = 87, Size = 168, SectionSize = 4096;

    private RpcHandshake(byte[] proof, byte[] answer, string endpoint)
    {
        Proof = proof;
        Answer = answer;
        Endpoint = endpoint;
    }

    /// <summary>The client shows this.</summary>
    public byte[] Proof { get; }
    /// <summary>The server answers with this.</summary>
    public byte[] Answer { get; }
    /// <summary>The server process's endpoint of the sequence.</summary>
    public string Endpoint { get; }

    public static RpcHandshake New(string endpoint) =>
        new(RandomNumberGenerator.GetBytes(SecretSize), RandomNumberGenerator.GetBytes(SecretSize), endpoint);

    private static string SectionName(IpcAddress address) => $@"Local\ipc-{address.Transport}-{address.Name}";

    /// <summary>Makes the place of this handshake: the name exists as long as the handle does, and no longer than its process.</summary>
    public Win32Handle MakePlace(IpcAddress address, RpcSequence sequence)
    {
        var section = MakeSection(address);
        try
        {
            var view = Map(section, Win32Rpc.FILE_MAP_WRITE, address);
            *(uint*)(view + 4) = Version;
            *(uint*)(view + 8) = (uint)sequence;
            Proof.CopyTo(new Span<byte>(view + ProofAt, SecretSize));
            Answer.CopyTo(new Span<byte>(view + AnswerAt, SecretSize));
            Encoding.ASCII.GetBytes(Endpoint).CopyTo(new Span<byte>(view + EndpointAt, LongestEndpoint));
            Volatile.Write(ref *(uint*)view, Magic);
            Win32Rpc.UnmapSection(view);
            return section;
        }
        catch
        {
            section.Dispose();
            throw;
        }
    }

    private static Win32Handle MakeSection(IpcAddress address)
    {
        var security = OnlyThisUser.Instance.Attributes;
        // A client that looks at a dead server's place keeps it for an instant.
        for (var tries = 0; ; tries++)
        {
            var made = Win32Rpc.CreateSection(-1, &security, Win32Rpc.PAGE_READWRITE, 0, SectionSize, SectionName(address));
            var error = Win32.LastError;
            if (made != 0 && error != Win32Rpc.ERROR_ALREADY_EXISTS)
                return new Win32Handle(made);
            if (made != 0)
                Win32.CloseHandle(made);
            if (error is Win32.ERROR_ACCESS_DENIED or Win32Rpc.ERROR_INVALID_HANDLE)
                throw Win32.Failure(IpcStatus.NoPermission, $"the name of {address} belongs to another user or another kind of object", error);
            if (error != Win32Rpc.ERROR_ALREADY_EXISTS)
                throw Win32.Failure(IpcStatus.System, $"cannot make the handshake section of {address}", error);
            if (tries == 5)
                throw new IpcException(IpcStatus.NameInUse, $"another server listens at {address}: stop it, or use another name");
            Thread.Sleep(10);
        }
    }

    private static byte* Map(Win32Handle section, uint access, IpcAddress address)
    {
        var view = Win32Rpc.MapSection(section, access, 0, 0, Size);
        return view != null ? view : throw Win32.Failure(IpcStatus.System, $"cannot map the handshake section of {address}", Win32.LastError);
    }

    /// <summary>The handshake at an address. <see cref="IpcStatus.NoServer"/>, <see cref="IpcStatus.NoPermission"/> if it is not this user's,
    /// <see cref="IpcStatus.NotOurProtocol"/>.</summary>
    public static RpcHandshake Find(IpcAddress address, RpcSequence sequence)
    {
        var opened = Win32Rpc.OpenSection(Win32Rpc.FILE_MAP_READ | Win32Rpc.READ_CONTROL, 0, SectionName(address));
        if (opened == 0)
        {
            throw Win32.LastError == Win32.ERROR_ACCESS_DENIED
                ? new IpcException(IpcStatus.NoPermission, $"the server at {address} belongs to another user")
                : Win32.Failure(IpcStatus.NoServer, $"nobody listens at {address}: start the server first", Win32.LastError);
        }
        using var section = new Win32Handle(opened);
        if (Win32.OwnerOf(section) != Win32.ThisUser)
            throw new IpcException(IpcStatus.NoPermission, $"the server at {address} belongs to another user");
        var view = Map(section, Win32Rpc.FILE_MAP_READ, address);
        try
        {
            return Read(view, address, sequence);
        }
        finally
        {
            Win32Rpc.UnmapSection(view);
        }
    }

    private static RpcHandshake Read(byte* view, IpcAddress address, RpcSequence sequence)
    {
        // Its maker is between two instructions, or has died there.
        for (var tries = 0; tries < 20 && Volatile.Read(ref *(uint*)view) == 0; tries++)
            Thread.Sleep(10);
        if (Volatile.Read(ref *(uint*)view) != Magic || *(uint*)(view + 4) != Version || *(uint*)(view + 8) != (uint)sequence)
            throw new IpcException(IpcStatus.NotOurProtocol, $"what stands at {address} is no handshake section of ipc: use another name");
        var endpoint = new ReadOnlySpan<byte>(view + EndpointAt, LongestEndpoint).ToArray();
        var end = Array.IndexOf<byte>(endpoint, 0);
        return new RpcHandshake(
            new ReadOnlySpan<byte>(view + ProofAt, SecretSize).ToArray(), new ReadOnlySpan<byte>(view + AnswerAt, SecretSize).ToArray(),
            Encoding.ASCII.GetString(endpoint, 0, end < 0 ? LongestEndpoint : end));
    }
}
