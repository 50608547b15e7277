using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>MS-RPC: what rpcrt4 and the system give for it. Structures are those of rpcdcep.h and rpcndr.h; rpcrt4 keeps pointers to them.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32Rpc
{
    // Statuses.
    public const int RPC_S_OK = 0, RPC_S_ACCESS_DENIED = 5, RPC_X_SS_CONTEXT_MISMATCH = 6, RPC_S_OUT_OF_MEMORY = 14, RPC_S_NOT_LISTENING = 1715,
        RPC_S_TYPE_ALREADY_REGISTERED = 1712, RPC_S_UNKNOWN_IF = 1717, RPC_S_NO_BINDINGS = 1718, RPC_S_OUT_OF_RESOURCES = 1721,
        RPC_S_SERVER_UNAVAILABLE = 1722, RPC_S_CALL_FAILED = 1726, RPC_S_CALL_FAILED_DNE = 1727, RPC_S_PROTOCOL_ERROR = 1728,
        RPC_S_UNSUPPORTED_TRANS_SYN = 1730, RPC_S_INVALID_BOUND = 1734, RPC_S_PROCNUM_OUT_OF_RANGE = 1745, RPC_X_BAD_STUB_DATA = 1783,
        RPC_S_CALL_CANCELLED = 1818, RPC_S_COMM_FAILURE = 1820, RPC_S_SERVER_OUT_OF_MEMORY = 1130;

    public const uint RPC_IF_AUTOLISTEN = 1, RPC_IF_ALLOW_CALLBACKS_WITH_NO_AUTH = 0x10, RPC_C_LISTEN_MAX_CALLS_DEFAULT = 1234,
        RPC_C_PROTSEQ_MAX_REQS_DEFAULT = 10, RPC_FLAGS_VALID_BIT = 0x8000, NDR_LOCAL_DATA_REPRESENTATION = 0x10;

    [StructLayout(LayoutKind.Sequential)]
    public struct Message
    {
        public nint Handle;
        public uint DataRepresentation;
        public byte* Buffer;
        public uint BufferLength;
        public uint ProcNum;
        public void* TransferSyntax;
        public void* InterfaceInformation;
        public void* ReservedForRuntime;
        public void* ManagerEpv;
        public void* ImportContext;
        public uint Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Syntax(Guid id, ushort major, ushort minor)
    {
        public Guid Id = id;
        public ushort Major = major;
        public ushort Minor = minor;
    }

    /// <summary>RPC_CLIENT_INTERFACE and RPC_SERVER_INTERFACE, which differ in what the eighth member is called.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Interface
    {
        public uint Length;
        public Syntax InterfaceId;
        public Syntax TransferSyntax;
        public DispatchTable* Dispatch;
        public uint EndpointCount;
        public void* Endpoints;
        public void* ManagerEpv;
        public void* InterpreterInfo;
        public uint Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct DispatchTable
    {
        public uint Count;
        public void** Functions;
        public nint Reserved;
    }

    /// <summary>MIDL_STUB_DESC.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct StubDescription
    {
        public Interface* InterfaceInformation;
        public void* Allocate;
        public void* Free;
        public void* ImplicitHandle;
        public void** RundownRoutines;
        public void* GenericBindingRoutines;
        public void* ExpressionEvaluation;
        public void* TransmitAs;
        public byte* FormatTypes;
        public int CheckBounds;
        public uint Version;
        public void* MallocFree;
        public int MidlVersion;
        public void* CommFaultOffsets;
        public void* UserMarshal;
        public void* NotifyRoutines;
        public nint Flags;
        public void* CsRoutines;
        public void* ProxyServerInfo;
        public void* ExpressionInfo;
    }

    /// <summary>MIDL_SERVER_INFO.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct ServerInfo
    {
        public StubDescription* Stub;
        public void** Routines;
        public byte* ProcedureFormat;
        public ushort* FormatOffsets;
        public void* Thunks;
        public void* TransferSyntax;
        public nint SyntaxCount;
        public void* Syntaxes;
    }

    // ---- bindings
    [LibraryImport("rpcrt4", EntryPoint = "RpcStringBindingComposeW", StringMarshalling = StringMarshalling.Utf16)]
    public static partial int ComposeStringBinding(string? objectId, string sequence, string? network, string endpoint, string? options, char** text);
    [LibraryImport("rpcrt4", EntryPoint = "RpcBindingFromStringBindingW")]
    public static partial int BindingFromString(char* text, nint* binding);
    [LibraryImport("rpcrt4", EntryPoint = "RpcBindingToStringBindingW")]
    public static partial int BindingToString(nint binding, char** text);
    [LibraryImport("rpcrt4", EntryPoint = "RpcStringBindingParseW")]
    public static partial int ParseStringBinding(char* text, char** objectId, char** sequence, char** network, char** endpoint, char** options);
    [LibraryImport("rpcrt4", EntryPoint = "RpcStringFreeW")]
    public static partial void FreeString(char** text);
    [LibraryImport("rpcrt4", EntryPoint = "RpcBindingFree")]
    public static partial void FreeBinding(nint* binding);

    // ---- a client's call, without a stub: failures are statuses and never structured exceptions
    [LibraryImport("rpcrt4", EntryPoint = "I_RpcGetBuffer")]
    public static partial int GetBuffer(Message* message);
    [LibraryImport("rpcrt4", EntryPoint = "I_RpcSendReceive")]
    public static partial int SendReceive(Message* message);
    [LibraryImport("rpcrt4", EntryPoint = "I_RpcFreeBuffer")]
    public static partial void FreeBuffer(Message* message);

    // ---- a server
    [LibraryImport("rpcrt4", EntryPoint = "RpcServerUseProtseqW", StringMarshalling = StringMarshalling.Utf16)]
    public static partial int UseSequence(string sequence, uint maximum, void* security);
    [LibraryImport("rpcrt4", EntryPoint = "RpcServerUseProtseqEpW", StringMarshalling = StringMarshalling.Utf16)]
    public static partial int UseSequenceEndpoint(string sequence, uint maximum, string endpoint, void* security);
    [LibraryImport("rpcrt4", EntryPoint = "RpcServerInqBindings")]
    public static partial int InquireBindings(byte** vector);
    [LibraryImport("rpcrt4", EntryPoint = "RpcBindingVectorFree")]
    public static partial void FreeBindings(byte** vector);
    [LibraryImport("rpcrt4", EntryPoint = "RpcServerRegisterIf2")]
    public static partial int RegisterInterface(Interface* description, Guid* managerType, void* manager, uint flags, uint maximumCalls, uint maximumSize,
        void* callback);
    [LibraryImport("rpcrt4", EntryPoint = "RpcImpersonateClient")]
    public static partial int Impersonate(nint call);
    [LibraryImport("rpcrt4", EntryPoint = "RpcRevertToSelfEx")]
    public static partial void Revert(nint call);

    // ---- sections, for the handshake section
    public const uint PAGE_READWRITE = 4, FILE_MAP_WRITE = 2, FILE_MAP_READ = 4, READ_CONTROL = 0x20000;
    public const int ERROR_INVALID_HANDLE = 6, ERROR_ALREADY_EXISTS = 183;

    [LibraryImport("kernel32", EntryPoint = "CreateFileMappingW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial nint CreateSection(nint file, Win32.SecurityAttributes* security, uint protection, uint sizeHigh, uint sizeLow, string name);
    [LibraryImport("kernel32", EntryPoint = "OpenFileMappingW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial nint OpenSection(uint access, int inherit, string name);
    [LibraryImport("kernel32", EntryPoint = "MapViewOfFile", SetLastError = true)]
    public static partial byte* MapSection(Win32Handle section, uint access, uint offsetHigh, uint offsetLow, nuint length);
    [LibraryImport("kernel32", EntryPoint = "UnmapViewOfFile")]
    public static partial void UnmapSection(byte* view);

    /// <summary>What a status of rpcrt4 means for a client that calls a session of a server.</summary>
    public static IpcStatus StatusOf(int status) => status switch
    {
        RPC_S_OK => IpcStatus.Ok,
        RPC_S_SERVER_UNAVAILABLE or RPC_S_CALL_FAILED or RPC_S_CALL_FAILED_DNE or RPC_S_COMM_FAILURE or RPC_S_CALL_CANCELLED
            or RPC_S_NOT_LISTENING or RPC_X_SS_CONTEXT_MISMATCH => IpcStatus.PeerClosed,
        RPC_S_ACCESS_DENIED => IpcStatus.NoPermission,
        RPC_S_OUT_OF_MEMORY or RPC_S_OUT_OF_RESOURCES or RPC_S_SERVER_OUT_OF_MEMORY => IpcStatus.OutOfMemory,
        RPC_S_UNKNOWN_IF or RPC_S_PROCNUM_OUT_OF_RANGE or RPC_S_UNSUPPORTED_TRANS_SYN or RPC_S_PROTOCOL_ERROR or RPC_X_BAD_STUB_DATA
            or RPC_S_INVALID_BOUND => IpcStatus.NotOurProtocol,
        _ => IpcStatus.System,
    };
}
