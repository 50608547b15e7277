using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The peer behind a named pipe; docs/wire-formats.md "Shared-memory handover". The server sends the numbers its handles have,
/// and the client copies those handles out of the server's process: nobody puts anything into another process, and a client that dies
/// half-way leaves nothing behind.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe partial class PipePeer : SharedMemoryPeer
{
    private const int Words = 4; // of one sleeper each

    private readonly Win32Handle _pipe;
    private readonly string _address;
    private readonly Win32Handle[] _events = new Win32Handle[Words];
    // Set when the pipe has ended, or has brought what it should not: a read that is under way for as long as the segment stands.
    private readonly Win32Handle _alarm = Win32.CreateEvent();
    private readonly NativeOverlapped* _watching;
    private readonly Lock _lock = new(); // guards the pipe, the read, and looking at the alarm
    private Win32Handle? _section; // the server's keeps it for the client to copy
    private byte* _memory;
    private bool _watched;
    private bool _hungUp;
    private volatile bool _isGone; // the peer, as far as anybody has looked
    private bool _disposed;

    [StructLayout(LayoutKind.Sequential)]
    private struct Greeting
    {
        public uint Magic;
        public uint Version;
        public uint Layout;
        public uint Zero;
        public ulong Memory;
        public fixed ulong Events[Words]; // 64 bits each also in a 32-bit process
    }

    /// <param name="pipe">Overlapped; owned.</param>
    /// <param name="address">For error messages.</param>
    public PipePeer(Win32Handle pipe, string address)
    {
        (_pipe, _address) = (pipe, address);
        // The step, and behind it the byte that is not to come.
        _watching = (NativeOverlapped*)Marshal.AllocHGlobal(sizeof(NativeOverlapped) + 8);
    }

    public override byte* Make(ref ulong bytes, bool hugePages)
    {
        _section = Section.Create(ref bytes, hugePages);
        return Section.Map(_section, bytes);
    }

    public override bool HandOver(uint layout)
    {
        var greeting = new Greeting
        {
            Magic = SharedMemoryLayout.HandoverMagic,
            Version = SharedMemoryLayout.VersionOf(layout),
            Layout = layout,
            Memory = NumberOf(_section!)
        };
        for (var i = 0; i < Words; i++)
        {
            _events[i] = Win32.CreateAutoResetEvent();
            greeting.Events[i] = NumberOf(_events[i]);
        }
        // The pipe's buffer is empty and larger: this does not wait for the client.
        var error = Finish(Win32.WriteFile(_pipe, (byte*)&greeting, (uint)sizeof(Greeting), null, NewStep()), new Deadline(1000), out var sent);
        if (Win32.IsEndOfPipe(error))
            return false;
        if (error != 0 || sent != sizeof(Greeting))
            throw Win32.Failure(IpcStatus.System, "cannot hand shared memory over", error);
        lock (_lock)
            Watch();
        return true;
    }

    public override byte* Receive(uint layout, Deadline deadline, out ulong bytes)
    {
        Greeting greeting = default;
        for (uint have = 0; have < sizeof(Greeting);)
        {
            var error = Finish(Win32.ReadFile(_pipe, (byte*)&greeting + have, (uint)sizeof(Greeting) - have, null, NewStep()), deadline, out var got);
            have += got;
            if (have >= 16 && SharedMemoryHandover.WhatIsWrong(_address, greeting.Magic, greeting.Version, greeting.Layout, layout) is { } wrong)
                throw wrong;
            if (error == (int)Win32.WAIT_TIMEOUT)
                throw new IpcException(IpcStatus.TimedOut, $"the server at {_address} did not accept this client within the time-out");
            if (Win32.IsEndOfPipe(error))
                throw have == 0 ? ServerIsGone() : SharedMemoryHandover.NotTheServer(_address);
            if (error != 0)
                throw Win32.Failure(IpcStatus.System, "cannot receive the server's shared memory", error);
        }
        using var section = CopyHandles(greeting);
        bytes = Section.BytesOf(section);
        return bytes == 0 ? null : Section.Map(section, bytes);
    }

    // The server is of our own user (that was checked when the pipe was connected), so this process may copy its handles; numbers
    // that mean nothing there, or something else, do no harm: what comes of them is checked before it is used.
    private Win32Handle CopyHandles(Greeting greeting)
    {
        uint number = 0;
        if (Win32.GetNamedPipeServerProcessId(_pipe, &number) == 0)
            throw ServerIsGone();
        using var server = Win32.OpenProcessForHandles(number) ?? throw Win32.Failure(IpcStatus.NoPermission,
            $"cannot take the shared memory over from process {number}: a server that runs as administrator has clients that do, too", Win32.LastError);
        var section = Win32.CopyHandle(server, greeting.Memory, Win32.FILE_MAP_READ | Win32.FILE_MAP_WRITE);
        var sound = section is not null;
        for (var i = 0; sound && i < Words; i++)
        {
            var copy = Win32.CopyHandle(server, greeting.Events[i], Win32.EVENT_MODIFY_STATE | Win32.SYNCHRONIZE);
            if (copy is not null)
                _events[i] = copy;
            sound = copy is not null && Win32.WaitForSingleObject(copy, 0) != Win32.WAIT_FAILED;
        }
        // Looked at last: then it was the server's own process that the handles came from, not a later one of its number.
        var stillThere = Win32.PeekNamedPipe(_pipe, null, 0, null, null, null) != 0;
        if (!sound || !stillThere)
        {
            section?.Dispose();
            throw stillThere ? SharedMemoryHandover.NotTheServer(_address) : ServerIsGone();
        }
        lock (_lock)
            Watch();
        return section!;
    }

    public override void SleepOn(byte* memory)
    {
        _memory = memory;
        for (var i = 0; i < Words; i++)
            SleepingPlaces.Add(Word(i), new SleepingPlace { WakeUps = _events[i], Alarm = _alarm });
    }

    public override bool HasOneProcessorWithUs() => SharedMemoryWait.OneProcessor;

    public override bool HasDied()
    {
        // The alarm, too, with the lock: another thread that saw it may begin the read anew, which is no end.
        lock (_lock)
        {
            if (Win32.WaitForSingleObject(_alarm, 0) == Win32.WAIT_TIMEOUT)
                return false;
            uint got = 0;
            if (_hungUp || !_watched || Win32.GetOverlappedResult(_pipe, _watching, &got, 0) != 0 ||
                Win32.LastError != Win32.ERROR_OPERATION_ABORTED)
                return _isGone = true;
            // The system cancels what a thread began when that thread ends, as the one that accepted may have: begin anew.
            Watch();
            return _isGone = !_watched;
        }
    }

    public override void HangUp()
    {
        lock (_lock)
        {
            if (_hungUp)
                return;
            _hungUp = true;
            if (_watched)
            {
                uint got = 0;
                _ = Win32.CancelIoEx(_pipe, _watching);
                _ = Win32.GetOverlappedResult(_pipe, _watching, &got, 1);
            }
            _pipe.Dispose();
            _ = Win32.SetEvent(_alarm);
        }
    }

    // Nothing of a server of Windows outlives it.
    public override void ForgetDeadServer(Deadline deadline) { }

    public override void Dispose()
    {
        if (_disposed)
            return;
        _disposed = true;
        HangUp();
        for (var i = 0; i < Words; i++)
        {
            if (_memory != null)
                SleepingPlaces.Remove(Word(i));
            _events[i]?.Dispose();
        }
        _section?.Dispose();
        _alarm.Dispose();
        Marshal.FreeHGlobal((nint)_watching);
    }

    private uint* Word(int index)
    {
        var ring = new RingControl(_memory, index / 2);
        return index % 2 == 0 ? ring.ReaderParked : ring.WriterParked;
    }

    // With the lock.
    private void Watch()
    {
        _watched = Win32.ReadFile(_pipe, (byte*)(_watching + 1), 1, null, NewStep()) != 0 || Win32.LastError == Win32.ERROR_IO_PENDING;
        if (!_watched)
            _ = Win32.SetEvent(_alarm);
    }

    private NativeOverlapped* NewStep()
    {
        *_watching = new NativeOverlapped { EventHandle = _alarm.DangerousGetHandle() };
        return _watching;
    }

    // One step on the pipe to its end: its error (WAIT_TIMEOUT: the deadline passed), and how many bytes were moved.
    private int Finish(int begun, Deadline deadline, out uint moved)
    {
        moved = 0;
        var error = begun != 0 ? 0 : Win32.LastError;
        if (error is not (0 or Win32.ERROR_IO_PENDING))
            return error;
        var done = _alarm.DangerousGetHandle();
        var late = error != 0 && Win32.WaitForAny(&done, 1, deadline) != Win32.WAIT_OBJECT_0;
        if (late)
            _ = Win32.CancelIoEx(_pipe, _watching);
        uint count = 0;
        error = Win32.GetOverlappedResult(_pipe, _watching, &count, 1) != 0 ? 0 : Win32.LastError;
        moved = count;
        return late && error == Win32.ERROR_OPERATION_ABORTED ? (int)Win32.WAIT_TIMEOUT : error;
    }

    private static ulong NumberOf(Win32Handle handle) => (ulong)handle.DangerousGetHandle();

    private IpcException ServerIsGone() => new(IpcStatus.PeerClosed, $"the server at {_address} closed before it accepted this client: reconnect");
}
