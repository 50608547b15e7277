namespace Ipc;

/// <summary>How a subscriber is let in, and gets the publisher's memory.</summary>
internal sealed unsafe partial class BroadcastSubscriber
{
    private BroadcastGreeting Join(Deadline deadline, out Descriptor[] files)
    {
        var join = new BroadcastJoin
        {
            Magic = BroadcastLayout.JoinMagic,
            Version = SharedMemoryLayout.Version,
            Policy = _waitedFor ? BroadcastLayout.PolicyWait : BroadcastLayout.PolicyDrop,
            WaitsBy = _waitPolicy.Mode == WaitMode.Spin ? SharedMemoryLayout.WaitsBySpinning : SharedMemoryLayout.WaitsByParking,
        };
        // A publisher that goes meanwhile says so by the end of its answer.
        _ = DescriptorMessage.Send(_socket, &join, sizeof(BroadcastJoin), []);
        while (Libc.Poll(_socket, Libc.POLLIN, deadline.LeftMilliseconds) == 0)
        {
            if (deadline.Expired)
            {
                files = [];
                throw new IpcException(IpcStatus.TimedOut, $"the publisher at {_address} did not let this subscriber in within the time-out");
            }
        }
        BroadcastGreeting greeting = default;
        var got = DescriptorMessage.Receive(_socket, &greeting, sizeof(BroadcastGreeting), out files);
        if (got is 0 or -Libc.ECONNRESET)
            throw new IpcException(IpcStatus.PeerClosed, $"the publisher at {_address} closed or died before it let this subscriber in: open it again");
        if (got < 0)
            throw Libc.Failure(IpcStatus.System, $"cannot take the shared memory of the publisher at {_address}", -got);
        if (got != sizeof(BroadcastGreeting) || greeting is not
            { Magic: SharedMemoryLayout.HandoverMagic, Version: SharedMemoryLayout.Version, Layout: BroadcastLayout.Layout })
            throw new IpcException(IpcStatus.NotOurProtocol, $"what listens at {_address} is not a publisher, or of another version: check the address");
        if (greeting.Answer == BroadcastLayout.Full)
            throw new IpcException(IpcStatus.NotAvailable,
                $"the publisher at {_address} has all the subscribers it can have ({BroadcastLayout.MostReaders}): close one of them first");
        return greeting.Answer == BroadcastLayout.Welcome && files.Length == 2 ? greeting : throw NotTheForm();
    }

    private (MappedMemory Data, MappedMemory Page) Map(Descriptor dataFile, Descriptor pageFile)
    {
        // Without the seals the publisher could shrink the memory under us, and touching it would kill this process.
        var bytes = SealedMemory.BytesOf(dataFile);
        if (bytes < BroadcastLayout.HeaderBytes || SealedMemory.BytesOf(pageFile) != BroadcastLayout.PageBytes)
            throw NotTheForm();
        var data = SealedMemory.Map(dataFile, bytes, writable: false);
        try
        {
            return (data, SealedMemory.Map(pageFile, BroadcastLayout.PageBytes, writable: true));
        }
        catch
        {
            data.Dispose();
            throw;
        }
    }

    private IpcException NotTheForm() => new(IpcStatus.NotOurProtocol,
        $"the shared memory that the publisher at {_address} handed over is not of the form expected: check the address and both versions");
}
