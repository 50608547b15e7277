namespace Ipc;

/// <summary>What the server answered. The bytes are the <see cref="CallClient"/>'s and good until its DropReply.</summary>
internal unsafe struct CallReply
{
    /// <summary>Reply or fault.</summary>
    public FrameKind Kind;
    /// <summary>The request's.</summary>
    public uint Id;
    /// <summary>Not managed memory, or pinned.</summary>
    public byte* Bytes;
    public uint Length;
}

/// <summary>The client's end of a transport that has calls and no channel underneath: kind "call" in registry.json. Exchange and
/// DropReply come from one thread at a time, Close from any. Twin of native/src/calls/call_client.hpp.</summary>
internal abstract class CallClient : IDisposable
{
    /// <summary>Takes one frame to the server and waits until it is answered (a request: the reply is returned) or taken (a message:
    /// what is returned does not matter). Failures are <see cref="IpcException"/>s. <see cref="IpcStatus.PeerClosed"/> once the server's channel
    /// has ended or its process died, within 2 s. <see cref="IpcStatus.TimedOut"/> leaves the client good, whatever becomes of the frame: its
    /// late answer never shows up as another request's. A transport that cannot do that repeats TimedOut, with an error message
    /// that says so, for ever.</summary>
    public abstract CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline);

    /// <summary>The last request's reply is done with; comes before the next request, if there was a reply.</summary>
    public virtual void DropReply() { }

    /// <summary>Tells the server that this client is done and interrupts Exchange within 100 ms, whose outcome then does not
    /// matter. Once.</summary>
    public abstract void Close();

    /// <summary>Releases everything, after Close; nobody is inside.</summary>
    public abstract void Dispose();
}
