namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed partial class StreamChannel
{
    private protected override ChannelReadiness? CreateReadiness() =>
        OperatingSystem.IsLinux() && _stream.Descriptors is var (receiving, sending) ? new DescriptorReadiness(receiving, sending) : null;

    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        Span<byte> header = stackalloc byte[HeaderSize];
        WriteHeader(header, kind, id, payload.Length);
        while (done < HeaderSize + payload.Length)
        {
            var sent = done < HeaderSize ? _stream.Send(header[done..], payload, deadline) : _stream.Send(payload[(done - HeaderSize)..], [], deadline);
            if (sent == ByteStream.TimedOut)
                return false;
            if (sent <= 0)
                throw SendFailed(sent, done > 0, deadline);
            done += sent;
        }
        return true;
    }

    private protected override bool AwaitWhole(Deadline deadline)
    {
        if (!_hasFrame)
        {
            if (_toSkip > 0)
                SkipRest(deadline);
            while (_end - _start < HeaderSize)
            {
                if (!TryFillForHeader(deadline))
                    return false;
            }
            ReadHeader();
        }
        return TryComplete(deadline);
    }

    private protected override void BreakOff() => _stream.Interrupt();
}
