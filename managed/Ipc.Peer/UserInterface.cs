using System.Diagnostics;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc.Peer;

/// <summary>Scenarios `ui-idle`, `ui-busy` and `ui-blocked`, the client: raw calls as a program with windows makes them
/// (docs/measurement.md, "A client that pumps messages"). The thread that makes it is the one with the window.</summary>
[SupportedOSPlatform("windows")]
internal sealed class CallFromWindow : Operation, IDisposable
{
    private readonly IpcChannel _channel;
    private readonly RawExchange _exchange;
    private readonly bool _isBlocked;
    private readonly MessagePump _pump = new();
    private readonly AutoResetEvent _asked = new(false);
    private readonly Thread _caller;
    // Written before the event or the message that tells the other thread to look.
    private bool _stopped;
    private ExceptionDispatchInfo? _failure;

    public CallFromWindow(IpcChannel channel, RawPayloads payloads, string scenario)
    {
        (_channel, _exchange) = (channel, new RawExchange(payloads));
        _isBlocked = scenario == "ui-blocked";
        _caller = new Thread(Work) { IsBackground = true, Name = "caller" };
        _caller.Start();
        if (scenario == "ui-busy")
            _pump.KeepBusy();
    }

    public override Timing Once()
    {
        _exchange.Prepare();
        var begin = Clock.Now;
        if (_isBlocked)
        {
            _exchange.Call(_channel);
        }
        else
        {
            _asked.Set();
            _pump.Run();
        }
        var end = Clock.Now;
        _failure?.Throw();
        return new Timing(end, end - begin, _exchange.CheckReply());
    }

    // Makes calls for the thread with the window, one at a time.
    private void Work()
    {
        while (_asked.WaitOne() && !_stopped)
        {
            try
            {
                _exchange.Call(_channel);
            }
            catch (Exception e)
            {
                _failure = ExceptionDispatchInfo.Capture(e);
            }
            _pump.Tell();
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _ = _asked.Set();
        _caller.Join();
        _asked.Dispose();
        _pump.Dispose();
    }
}

/// <summary>A message-only window of the thread that makes it, and that thread's message loop.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class MessagePump : IDisposable
{
    private const uint Told = WindowMessages.WM_APP;
    private const uint Busy = WindowMessages.WM_APP + 1;
    private static readonly long s_workTicks = Stopwatch.Frequency / 1000;

    private readonly nint _window;

    public MessagePump()
    {
        _window = WindowMessages.CreateWindowExW(0, "STATIC", "", 0, 0, 0, 0, 0, WindowMessages.HWND_MESSAGE, 0, 0, 0);
        if (_window == 0)
            throw Failed("cannot make a message-only window");
    }

    /// <summary>From now on the queue always holds one message more, whose work takes a millisecond.</summary>
    public void KeepBusy() => Post(Busy);

    /// <summary>From any thread: ends one <see cref="Run"/>.</summary>
    public void Tell() => Post(Told);

    /// <summary>Pumps until told.</summary>
    public void Run()
    {
        WindowMessages.Message message;
        while (WindowMessages.GetMessageW(&message, 0, 0, 0) > 0)
        {
            if (message.Window == _window && message.Number == Told)
                return;
            if (message.Window == _window && message.Number == Busy)
                DoWork();
            else
                _ = WindowMessages.DispatchMessageW(&message);
        }
        throw new Failure("SYSTEM", "the message loop was told to end");
    }

    private void DoWork()
    {
        for (var end = Clock.Now + s_workTicks; Clock.Now < end;)
        {
        }
        Post(Busy);
    }

    private void Post(uint message)
    {
        if (WindowMessages.PostMessageW(_window, message, 0, 0) == 0)
            throw Failed("cannot post a message");
    }

    private static Failure Failed(string what) => new("SYSTEM", $"{what}: error {Marshal.GetLastWin32Error()}");

    public void Dispose() => _ = WindowMessages.DestroyWindow(_window);
}

/// <summary>What a message loop takes of Windows.</summary>
internal static unsafe partial class WindowMessages
{
    public const uint WM_APP = 0x8000;
    public const nint HWND_MESSAGE = -3;

    [StructLayout(LayoutKind.Sequential)]
    public struct Message
    {
        public nint Window;
        public uint Number;
        public nint First;
        public nint Second;
        public uint Time;
        public int X;
        public int Y;
        public uint Private;
    }

    [LibraryImport("user32", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial nint CreateWindowExW(uint extended, string name, string title, uint style, int x, int y, int width, int height, nint parent,
        nint menu, nint module, nint parameter);

    [LibraryImport("user32")]
    public static partial int DestroyWindow(nint window);

    [LibraryImport("user32", SetLastError = true)]
    public static partial int PostMessageW(nint window, uint message, nint first, nint second);

    [LibraryImport("user32")]
    public static partial int GetMessageW(Message* message, nint window, uint lowest, uint highest);

    [LibraryImport("user32")]
    public static partial nint DispatchMessageW(Message* message);
}
