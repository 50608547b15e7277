namespace Ipc;

/// <summary>The channel of a session, which it closes when it goes.</summary>
internal sealed class CallServerChannel(CallSession session) : FramedChannel(session.MaxMessageLength)
{
    // A plain message finds no request to answer and is refused; requests cannot be made here at all.
    protected override void SendFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline) => session.Reply(kind, id, payload);
    protected override Span<byte> ReserveFrame(int length, Deadline deadline) => session.Reserve(length);
    protected override void CommitFrame(FrameKind kind, uint id, int length, Deadline deadline) => session.ReplyReserved(kind, id, length);
    protected override FrameInfo NextFrame(Deadline deadline) => session.Next(deadline);
    protected override void TakeFrame(Span<byte> buffer, Deadline deadline) => session.Take(buffer);
    protected override ReadOnlySpan<byte> ViewFrame(Deadline deadline) => session.View();
    protected override void ReleaseFrame() => session.Release();
    protected override void CloseFrames() => session.Close();
    protected override void DisposeFrames() { }

    private protected override bool StillAnswers => session.RunsHere;
    private protected override bool ServesElsewhere => true;
    private protected override void ServeElsewhere(Action answerOne) => session.Serve(answerOne);

    private protected override bool HasCallsInFlight => false;
}
