using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc.Native;

/// <summary>The one place where a status of the C ABI becomes an exception.</summary>
internal static unsafe class NativeStatus
{
    /// <summary>Returns on <see cref="IpcStatus.Ok"/>, else throws with the native error message. Must be called on the thread that got
    /// the status, before it calls the library again: the error message is that thread's latest.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Check(IpcStatus status)
    {
        if (status != IpcStatus.Ok)
            Throw(status);
    }

    // Apart from Check, so that Check stays small enough to be inlined on the hot path. Never inlined itself: its caller may be
    // compiled before the library is loaded, and the functions called here are bound when they are compiled.
    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Throw(IpcStatus status)
    {
        var errorMessage = Text(NativeMethods.LastError());
        throw new IpcException(status, errorMessage.Length > 0 ? errorMessage : Text(NativeMethods.StatusText(status)));
    }

    /// <summary>What the library last told this thread of a failure.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static string LastMessage() => Text(NativeMethods.LastError());

    /// <summary>A message's length as .NET counts: spans end at 2^31 - 1 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Length(nuint length)
    {
        if (length > int.MaxValue)
            ThrowTooLong(length);
        return (int)length;
    }

    [DoesNotReturn]
    private static void ThrowTooLong(nuint length) => throw new IpcException(IpcStatus.PeerTooLarge,
        $"the peer sent {length} bytes, more than one .NET span can hold: lower the option max= on both sides");

    /// <summary>Zero-terminated UTF-8 as a string; "" for null.</summary>
    public static string Text(byte* text) => Marshal.PtrToStringUTF8((nint)text) ?? "";
}
