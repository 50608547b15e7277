namespace Ipc;

internal sealed unsafe partial class WindowsSocketStream
{
    private SocketRoom? _waitForRoom;

    protected override Readiness MakeSending() => _waitForRoom = new SocketRoom(_room);

    partial void EndRoom() => _waitForRoom?.Dispose();
}
