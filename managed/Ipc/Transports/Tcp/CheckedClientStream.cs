using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A client whose server will look for its owner. The system forgets the owner of a socket that is closed, so one that has only sent waits
/// with that until the server has looked; an answer tells the same for nothing. Twin of native/src/transports/tcp/checked_client_stream.hpp.</summary>
[SupportedOSPlatform("linux")]
internal sealed class CheckedClientStream(Descriptor socket, int longestSend) : SocketStream(socket, longestSend: longestSend)
{
    private const int Limit = 1000; // milliseconds

    private bool _hasSent;     // the sending thread's
    private bool _wasAnswered; // the receiving thread's

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        var count = base.Receive(buffer, all, deadline);
        if (count > 0)
            _wasAnswered = true;
        return count;
    }

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        _hasSent = true;
        return base.Send(head, body, deadline);
    }

    // The descriptor goes with Dispose, so that whoever only closes does not wait.
    public override void Interrupt() => LocalSocket.ShutDown(Socket);

    public override void Dispose()
    {
        if (_hasSent && !_wasAnswered && !Socket.IsClosed)
            WaitUntilAdmitted();
        base.Dispose();
    }

    private void WaitUntilAdmitted()
    {
        if (TcpSocket.RemoteEndPoint(Socket) is not { } server)
            return;
        var client = TcpSocket.LocalEndPoint(Socket);
        var deadline = new Deadline(Limit);
        while (TcpOwners.Here.IsToBeAdmitted(server, client) && !deadline.Expired)
            Thread.Sleep(1);
    }
}
