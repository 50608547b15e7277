using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>
/// idl/ipc.idl as rpcrt4 wants to have it served: open and close go through the runtime's own interpreter, which alone can keep the
/// handle of a session whose run-down tells that its client is gone; exchange is read and written by hand. What rpcrt4 keeps pointers to
/// is never freed. Every entry catches everything: no exception may pass through rpcrt4.
/// </summary>
[SupportedOSPlatform("windows")]
internal static unsafe class RpcInterface
{
    // The formats of open and close as both compilers write them; exchange needs none.
    private static ReadOnlySpan<byte> ProcedureFormat =>
    [
        // open: primitive handle, old flags, procedure 0, stack 40, request 36, reply 88, Oi2 flags, 5 parameters, extensions
        0x32, 0x48, 0, 0, 0, 0, 0, 0, 0x28, 0, 0x24, 0, 0x58, 0, 0x44, 5, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0x0a, 0, 0x00, 0, 0x02, 0, // proof: in
        0x12, 0, 0x08, 0, 0x02, 0, // answer: out
        0x12, 0, 0x10, 0, 0x08, 0, // token: out
        0x10, 1, 0x18, 0, 0x12, 0, // session: out
        0x70, 0, 0x20, 0, 0x08, 0, // status
        // close: the context is the handle, procedure 2, stack 16, request 24, reply 32, 2 parameters
        0x00, 0x48, 0, 0, 0, 0, 2, 0, 0x10, 0, 0x30, 0xe0, 0, 0, 0, 0, 0x18, 0, 0x20, 0, 0x44, 2, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0x18, 1, 0x00, 0, 0x1a, 0, // session: in, out
        0x70, 0, 0x08, 0, 0x08, 0, // status
        0,
    ];
    private const ushort OpenAt = 0, CloseAt = 56;

    private static ReadOnlySpan<byte> TypeFormat =>
    [
        0, 0,
        0x1d, 0, 0x20, 0, 0x01, 0x5b, // 2: byte[32]
        0x1d, 0, 0x10, 0, 0x01, 0x5b, // 8: byte[16]
        0, 0, 0, 0,
        0x30, 0xa0, 0, 0,             // 18: context handle, out
        0, 0, 0, 0,
        0x30, 0xe0, 0, 0,             // 26: context handle, in and out
        0,
    ];

    public static Win32Rpc.Interface* Description { get; } = Make();

    public static void* SecurityCallback => (delegate* unmanaged[Stdcall]<void*, nint, int>)&OnSecurityCallback;

    private static T* Keep<T>(ReadOnlySpan<T> values) where T : unmanaged
    {
        var kept = (T*)NativeMemory.Alloc((nuint)values.Length, (nuint)sizeof(T));
        values.CopyTo(new Span<T>(kept, values.Length));
        return kept;
    }

    private static Win32Rpc.Interface* Make()
    {
        var runtime = NativeLibrary.Load("rpcrt4");
        nint interpreter = NativeLibrary.GetExport(runtime, "NdrServerCall2");
        nint allocate = NativeLibrary.GetExport(runtime, "I_RpcAllocate");
        nint free = NativeLibrary.GetExport(runtime, "I_RpcFree");
        var made = Keep<Win32Rpc.Interface>([RpcCall.Describe()]);
        var stub = Keep<Win32Rpc.StubDescription>([new Win32Rpc.StubDescription
        {
            InterfaceInformation = made,
            Allocate = (void*)allocate,
            Free = (void*)free,
            RundownRoutines = (void**)Keep<nint>([(nint)(delegate* unmanaged[Stdcall]<nint, void>)&OnRunDown]),
            FormatTypes = Keep(TypeFormat),
            CheckBounds = 1,
            Version = 0x50002,
            MidlVersion = 0x50200ca,
            Flags = 1,
        }]);
        made->InterpreterInfo = Keep<Win32Rpc.ServerInfo>([new Win32Rpc.ServerInfo
        {
            Stub = stub,
            Routines = (void**)Keep<nint>(
            [
                (nint)(delegate* unmanaged[Cdecl]<byte*, byte*, byte*, nint*, uint>)&OnOpen,
                0,
                (nint)(delegate* unmanaged[Cdecl]<nint*, uint>)&OnClose,
            ]),
            ProcedureFormat = Keep(ProcedureFormat),
            FormatOffsets = Keep<ushort>([OpenAt, 0, CloseAt]),
        }]);
        made->Dispatch = Keep<Win32Rpc.DispatchTable>([new Win32Rpc.DispatchTable
        {
            Count = 3,
            Functions = (void**)Keep<nint>(
                [interpreter, (nint)(delegate* unmanaged[Stdcall]<Win32Rpc.Message*, void>)&OnExchange, interpreter, 0]),
        }]);
        return made;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvStdcall)])]
    private static int OnSecurityCallback(void* description, nint call)
    {
        try
        {
            return RpcRuntime.MayOpen(call) ? Win32Rpc.RPC_S_OK : Win32Rpc.RPC_S_ACCESS_DENIED;
        }
        catch (Exception)
        {
            return Win32Rpc.RPC_S_ACCESS_DENIED;
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static uint OnOpen(byte* proof, byte* answer, byte* token, nint* session)
    {
        *session = 0;
        try
        {
            var answerBytes = new Span<byte>(answer, RpcHandshake.SecretSize);
            var tokenBytes = new Span<byte>(token, RpcCall.TokenSize);
            answerBytes.Clear();
            tokenBytes.Clear();
            var status = RpcRuntime.Open(new ReadOnlySpan<byte>(proof, RpcHandshake.SecretSize), answerBytes, tokenBytes, out var client);
            if (client is not null)
                *session = GCHandle.ToIntPtr(GCHandle.Alloc(client));
            return (uint)status;
        }
        catch (Exception)
        {
            return (uint)IpcStatus.OutOfMemory;
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static uint OnClose(nint* session)
    {
        End(*session);
        *session = 0;
        return (uint)IpcStatus.Ok;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvStdcall)])]
    private static void OnRunDown(nint session) => End(session);

    private static void End(nint session)
    {
        try
        {
            if (session == 0)
                return;
            var handle = GCHandle.FromIntPtr(session);
            RpcRuntime.End((RpcClientSession)handle.Target!);
            handle.Free();
        }
        catch (Exception)
        {
            // Nobody is left whom it could be told.
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvStdcall)])]
    private static void OnExchange(Win32Rpc.Message* message)
    {
        try
        {
            RpcExchange.Answer(message);
        }
        catch (Exception)
        {
            RpcExchange.PutStatus(message, IpcStatus.OutOfMemory);
        }
    }
}
