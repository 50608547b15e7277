using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>What late-bound COM takes of Windows: apartments, the running object table, arrays and variants. Interfaces are called
/// through their tables of functions, so that no run-time code has to be made for them.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32Com
{
    public const int S_OK = 0, S_FALSE = 1, E_NOTIMPL = unchecked((int)0x80004001), E_NOINTERFACE = unchecked((int)0x80004002),
        E_POINTER = unchecked((int)0x80004003),
        E_FAIL = unchecked((int)0x80004005), E_OUTOFMEMORY = unchecked((int)0x8007000E), E_INVALIDARG = unchecked((int)0x80070057),
        MK_E_UNAVAILABLE = unchecked((int)0x800401E3), DISP_E_MEMBERNOTFOUND = unchecked((int)0x80020003), DISP_E_TYPEMISMATCH = unchecked((int)0x80020005),
        DISP_E_UNKNOWNNAME = unchecked((int)0x80020006), DISP_E_BADPARAMCOUNT = unchecked((int)0x8002000E);
    public const ushort VT_EMPTY = 0, VT_I4 = 3, VT_DISPATCH = 9, VT_VARIANT = 12, VT_UI1 = 17, VT_ARRAY = 0x2000, VT_BYREF = 0x4000;
    public const uint COINIT_MULTITHREADED = 0, COINIT_APARTMENTTHREADED = 2, ROTFLAGS_REGISTRATIONKEEPSALIVE = 1;
    public const uint MSHCTX_LOCAL = 0, MSHLFLAGS_TABLESTRONG = 1;
    public const ushort DISPATCH_METHOD = 1;
    public const int DISPID_UNKNOWN = -1;

    public static readonly Guid IID_IUnknown = new("00000000-0000-0000-C000-000000000046");
    public static readonly Guid IID_IDispatch = new("00020400-0000-0000-C000-000000000046");

    [StructLayout(LayoutKind.Sequential)]
    public struct Variant
    {
        public ushort Type;
        private readonly ushort _reserved1;
        private readonly ushort _reserved2;
        private readonly ushort _reserved3;
        public nint Value;
        private readonly nint _second;

        public int Number
        {
            readonly get => (int)Value;
            set => (Type, Value) = (VT_I4, unchecked((nint)(uint)value));
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Arguments
    {
        public Variant* Values; // the last one first
        public nint Names;
        public uint Count;
        public uint NameCount;
    }

    /// <summary>An array of one dimension.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct SafeArray
    {
        public ushort Dimensions;
        public ushort Features;
        public uint ElementSize;
        public uint Locks;
        public byte* Data;
        public uint Count;
        public int LowerBound;
    }

    /// <summary>Gives a reference to an interface back.</summary>
    public static void Release(nint instance)
    {
        if (instance != 0)
            _ = ((delegate* unmanaged<nint, uint>)Method(instance, 2))(instance);
    }

    public static int QueryInterface(nint instance, Guid wanted, out nint found)
    {
        nint given = 0;
        var result = ((delegate* unmanaged<nint, Guid*, nint*, int>)Method(instance, 0))(instance, &wanted, &given);
        found = given;
        return result;
    }

    /// <summary>A function of an interface, by its place in the table.</summary>
    public static nint Method(nint instance, int place) => (*(nint**)instance)[place];

    [LibraryImport("ole32")]
    public static partial int CoInitializeEx(nint reserved, uint apartment);

    [LibraryImport("ole32")]
    public static partial void CoUninitialize();

    [LibraryImport("ole32")]
    public static partial int GetRunningObjectTable(uint reserved, nint* table);

    [LibraryImport("ole32", StringMarshalling = StringMarshalling.Utf16)]
    public static partial int CreateItemMoniker(string separator, string item, nint* moniker);

    [LibraryImport("ole32")]
    public static partial int CoDisconnectObject(nint instance, uint reserved);

    [LibraryImport("ole32")]
    public static partial int CreateStreamOnHGlobal(nint memory, int freeWithIt, nint* stream);

    [LibraryImport("ole32")]
    public static partial int CoMarshalInterface(nint stream, Guid* wanted, nint instance, uint context, nint reserved, uint flags);

    [LibraryImport("ole32")]
    public static partial int CoMarshalInterThreadInterfaceInStream(Guid* wanted, nint instance, nint* stream);

    [LibraryImport("ole32")]
    public static partial int CoGetInterfaceAndReleaseStream(nint stream, Guid* wanted, nint* instance);

    [LibraryImport("ole32")]
    public static partial int CoImpersonateClient();

    [LibraryImport("ole32")]
    public static partial int CoRevertToSelf();

    [LibraryImport("oleaut32")]
    public static partial SafeArray* SafeArrayCreateVector(ushort type, int lowerBound, uint count);

    [LibraryImport("oleaut32")]
    public static partial int SafeArrayDestroy(SafeArray* array);

    [LibraryImport("oleaut32")]
    public static partial int VariantClear(Variant* value);
}
