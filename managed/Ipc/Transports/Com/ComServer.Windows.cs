using System.Runtime.Versioning;
using static Ipc.Win32Com;

namespace Ipc;

/// <summary>One client's object: what the client calls, and where its answers go.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class ComSession(CallSession session) : DispatchObject("Exchange", "Close")
{
    private sealed class Answer : IReplySink
    {
        public SafeArray* Array;

        public void Put(FrameKind kind, uint id, ReadOnlySpan<byte> reply) => Array = ComFrames.Make(kind, id, reply);
    }

    protected override int Call(int number, ReadOnlySpan<Variant> arguments, ref Variant result)
    {
        if (number == 2)
        {
            session.ClientGone();
            return S_OK;
        }
        if (arguments.Length != 1)
            return DISP_E_BADPARAMCOUNT;
        if (!ComFrames.TryRead(arguments[0], out var frame))
            return ComFrames.ToResult(IpcStatus.NotOurProtocol);
        var answer = new Answer();
        var status = session.Answer(frame.Kind, frame.Id, frame.Bytes, frame.Length, answer);
        if (status == IpcStatus.Ok && answer.Array != null)
            result = new Variant { Type = VT_ARRAY | VT_UI1, Value = (nint)answer.Array };
        else if (answer.Array != null)
            _ = SafeArrayDestroy(answer.Array);
        if (status != IpcStatus.Ok)
            return ComFrames.ToResult(status);
        return frame.Kind == FrameKind.Request && answer.Array == null ? E_OUTOFMEMORY : S_OK;
    }

    /// <summary>A session lives on a thread of its own. One for single threads is called there, so that a request that waits to be answered
    /// holds no other client up; the other keeps its apartment. It watches the client and ends with the session. Gives the
    /// interface for the calling thread's apartment, or 0.</summary>
    public static nint Start(CallSession session, PeerProcess client, IpcAddress address)
    {
        var singleThreaded = ComTransport.IsSingleThreaded(address);
        var closed = new ManualResetEvent(false); // stays: the session may still be about to set it
        session.WhenClosed = () => closed.Set();
        nint stream = 0, instance = 0;
        using var opened = new ManualResetEventSlim();
        ComTransport.StartThread(() =>
        {
            var entered = CoInitializeEx(0, singleThreaded ? COINIT_APARTMENTTHREADED : COINIT_MULTITHREADED);
            var made = new ComSession(session);
            nint written = 0;
            var wanted = IID_IDispatch;
            var good = entered >= 0 && CoMarshalInterThreadInterfaceInStream(&wanted, made.Pointer, &written) >= 0;
            stream = good ? written : 0;
            opened.Set();
            var watched = closed.SafeWaitHandle.DangerousGetHandle();
            if (good && ComFrames.Wait(singleThreaded, watched, client.Handle) == 1)
            {
                session.ClientGone();
                _ = ComFrames.Wait(singleThreaded, watched, 0);
            }
            if (good && singleThreaded)
                ComFrames.ServeWhileHeld(made, client.Handle);
            _ = CoDisconnectObject(made.Pointer, 0);
            Release(made.Pointer);
            client.Dispose();
            if (entered >= 0)
                CoUninitialize();
        }, singleThreaded, "ipc com session");
        opened.Wait();
        var type = IID_IDispatch;
        return stream != 0 && CoGetInterfaceAndReleaseStream(stream, &type, &instance) >= 0 ? instance : 0;
    }
}

/// <summary>What the running object table has. It outlives the listener as long as somebody calls it.</summary>
[SupportedOSPlatform("windows")]
internal sealed class ComDoor(ComListener listener, IpcAddress address) : DispatchObject("Process", "Connect")
{
    protected override int Call(int number, ReadOnlySpan<Variant> arguments, ref Variant result)
    {
        if (number == 1)
        {
            result.Number = Environment.ProcessId;
            return S_OK;
        }
        if (arguments.Length != 2)
            return DISP_E_BADPARAMCOUNT;
        if (arguments[0].Type != VT_I4 || arguments[1].Type != VT_I4)
            return DISP_E_TYPEMISMATCH;
        if (arguments[0].Number != ComFrames.Version)
            return ComFrames.ToResult(IpcStatus.NotOurProtocol);
        if (CallerIsForeign())
            return ComFrames.ToResult(IpcStatus.NoPermission);
        try
        {
            var client = new PeerProcess((uint)arguments[1].Number, address);
            var session = new CallSession(address);
            var instance = ComSession.Start(session, client, address);
            // A listener that is closed admits nobody.
            if (instance != 0 && listener.Admit(session) == IpcStatus.Ok)
            {
                result = new Variant { Type = VT_DISPATCH, Value = instance };
                return S_OK;
            }
            Release(instance);
            session.Close();
            return ComFrames.ToResult(IpcStatus.PeerClosed);
        }
        catch (IpcException e)
        {
            return ComFrames.ToResult(e.Status);
        }
    }

    // As far as the system tells (Wine does not): a stranger is refused even if it names a process of this user's.
    private static bool CallerIsForeign()
    {
        if (CoImpersonateClient() < 0)
            return false;
        try
        {
            return Win32.UserOfThread() is { } caller && caller != Win32.ThisUser;
        }
        finally
        {
            _ = CoRevertToSelf();
        }
    }
}

/// <summary>Registers an object in the running object table, which makes one for each client.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class ComListener : CallListener
{
    private readonly IpcAddress _address;
    private readonly NameClaim _claim;
    private readonly ManualResetEvent _closing = new(false);
    private readonly Thread _thread;
    private int _opened;

    public ComListener(IpcAddress address) : base(address.ToString())
    {
        _address = address;
        _claim = new NameClaim(address);
        LastingInterfaces.Keep();
        using var opened = new ManualResetEventSlim();
        _thread = ComTransport.StartThread(() => Run(opened), ComTransport.IsSingleThreaded(address), "ipc com listener");
        opened.Wait();
        if (_opened >= 0)
            return;
        _claim.Dispose();
        throw new IpcException(IpcStatus.System, $"cannot listen at {address}: {Win32.ErrorText(_opened)}");
    }

    private void Run(ManualResetEventSlim opened)
    {
        var singleThreaded = ComTransport.IsSingleThreaded(_address);
        var entered = CoInitializeEx(0, singleThreaded ? COINIT_APARTMENTTHREADED : COINIT_MULTITHREADED);
        var door = new ComDoor(this, _address).Pointer;
        nint moniker = 0, table = 0;
        uint registration = 0;
        var status = entered < 0 ? entered : ComFrames.MakeMoniker(_address, out moniker);
        if (status >= 0)
            status = GetRunningObjectTable(0, &table);
        if (status >= 0)
            status = ((delegate* unmanaged<nint, uint, nint, nint, uint*, int>)Method(table, 3))(table, ROTFLAGS_REGISTRATIONKEEPSALIVE, door, moniker,
                &registration);
        _opened = status;
        opened.Set();
        if (status >= 0)
        {
            _ = ComFrames.Wait(singleThreaded, _closing.SafeWaitHandle.DangerousGetHandle(), 0);
            _ = ((delegate* unmanaged<nint, uint, int>)Method(table, 4))(table, registration);
            _ = CoDisconnectObject(door, 0);
        }
        Release(table);
        Release(moniker);
        Release(door);
        if (entered >= 0)
            CoUninitialize();
    }

    protected override void StopListening()
    {
        _closing.Set();
        _thread.Join();
        _closing.Dispose();
        _claim.Dispose();
    }
}
