using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using static Ipc.Win32Com;

namespace Ipc;

/// <summary>An object of ours that others call late bound: IDispatch over a table of functions, counted by references. Its methods have
/// the numbers 1, 2, 3 ... in the order of their names.</summary>
[SupportedOSPlatform("windows")]
internal abstract unsafe class DispatchObject
{
    private static readonly nint* s_functions = MakeFunctions();

    private readonly string[] _names;
    private int _references = 1;

    protected DispatchObject(params string[] names)
    {
        _names = names;
        // What callers hold: the table, and the way back here. It goes with the last reference.
        var memory = (nint*)NativeMemory.Alloc((nuint)(2 * sizeof(nint)));
        memory[0] = (nint)s_functions;
        memory[1] = GCHandle.ToIntPtr(GCHandle.Alloc(this));
        Pointer = (nint)memory;
    }

    /// <summary>The interface. The maker has the first reference.</summary>
    public nint Pointer { get; }

    /// <summary>Whether others than the maker, who has one reference, have references.</summary>
    public bool IsHeldElsewhere => Volatile.Read(ref _references) > 1;

    /// <summary>Arguments in the order written, references resolved; at most two. <paramref name="result"/> is empty before.</summary>
    protected abstract int Call(int number, ReadOnlySpan<Variant> arguments, ref Variant result);

    private static nint* MakeFunctions()
    {
        var table = (nint*)NativeMemory.Alloc((nuint)(7 * sizeof(nint)));
        table[0] = (nint)(delegate* unmanaged<nint, Guid*, nint*, int>)&QueryInterface;
        table[1] = (nint)(delegate* unmanaged<nint, uint>)&AddReference;
        table[2] = (nint)(delegate* unmanaged<nint, uint>)&ReleaseReference;
        table[3] = (nint)(delegate* unmanaged<nint, uint*, int>)&CountTypeInfos;
        table[4] = (nint)(delegate* unmanaged<nint, uint, uint, nint*, int>)&GetTypeInfo;
        table[5] = (nint)(delegate* unmanaged<nint, Guid*, char**, uint, uint, int*, int>)&GetNumbersOfNames;
        table[6] = (nint)(delegate* unmanaged<nint, int, Guid*, uint, ushort, Arguments*, Variant*, nint, nint, int>)&Invoke;
        return table;
    }

    private static GCHandle HandleOf(nint pointer) => GCHandle.FromIntPtr(((nint*)pointer)[1]);

    private static DispatchObject Of(nint pointer) => (DispatchObject)HandleOf(pointer).Target!;

    [UnmanagedCallersOnly]
    private static int QueryInterface(nint pointer, Guid* wanted, nint* found)
    {
        if (found == null)
            return E_POINTER;
        var has = *wanted == IID_IUnknown || *wanted == IID_IDispatch;
        *found = has ? pointer : 0;
        if (has)
            Interlocked.Increment(ref Of(pointer)._references);
        return has ? S_OK : E_NOINTERFACE;
    }

    [UnmanagedCallersOnly]
    private static uint AddReference(nint pointer) => (uint)Interlocked.Increment(ref Of(pointer)._references);

    [UnmanagedCallersOnly]
    private static uint ReleaseReference(nint pointer)
    {
        var left = Interlocked.Decrement(ref Of(pointer)._references);
        if (left == 0)
        {
            HandleOf(pointer).Free();
            NativeMemory.Free((void*)pointer);
        }
        return (uint)left;
    }

    [UnmanagedCallersOnly]
    private static int CountTypeInfos(nint pointer, uint* count)
    {
        if (count == null)
            return E_POINTER;
        *count = 0;
        return S_OK;
    }

    [UnmanagedCallersOnly]
    private static int GetTypeInfo(nint pointer, uint index, uint language, nint* info) => E_NOTIMPL;

    [UnmanagedCallersOnly]
    private static int GetNumbersOfNames(nint pointer, Guid* reserved, char** names, uint count, uint language, int* numbers)
    {
        if (names == null || numbers == null || count == 0)
            return E_INVALIDARG;
        new Span<int>(numbers, (int)Math.Min(count, 64)).Fill(DISPID_UNKNOWN);
        var place = Array.IndexOf(Of(pointer)._names, new string(names[0]));
        if (place < 0 || count != 1)
            return DISP_E_UNKNOWNNAME;
        numbers[0] = place + 1;
        return S_OK;
    }

    [UnmanagedCallersOnly]
    private static int Invoke(nint pointer, int number, Guid* reserved, uint language, ushort flags, Arguments* arguments, Variant* result, nint exception,
        nint which)
    {
        var self = Of(pointer);
        if (number < 1 || number > self._names.Length || (flags & DISPATCH_METHOD) == 0)
            return DISP_E_MEMBERNOTFOUND;
        if (arguments == null || arguments->NameCount != 0 || arguments->Count > 2)
            return DISP_E_BADPARAMCOUNT;
        Span<Variant> inOrder = stackalloc Variant[2];
        for (var i = 0; i < (int)arguments->Count; i++)
        {
            var given = &arguments->Values[(int)arguments->Count - 1 - i];
            // What a caller gave by reference, as scripting clients do.
            while (given->Type == (VT_BYREF | VT_VARIANT))
                given = (Variant*)given->Value;
            inOrder[i] = *given;
        }
        Variant made = default;
        int status;
        try
        {
            status = self.Call(number, inOrder[..(int)arguments->Count], ref made);
        }
        // No exception may leave for the system's code.
        catch (OutOfMemoryException)
        {
            status = E_OUTOFMEMORY;
        }
        catch (Exception)
        {
            status = E_FAIL;
        }
        if (result != null)
            *result = made;
        else
            _ = VariantClear(&made);
        return status;
    }
}
