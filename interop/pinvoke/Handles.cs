using System.Runtime.InteropServices;

namespace Ipc.Native;

// The opaque handles of ipc.h. Empty structs, never laid out here: they exist so that a pointer to a listener
// cannot be passed where a channel is wanted.
internal readonly struct NativeListener;

internal readonly struct NativeChannel;

internal readonly struct NativeQueue;

/// <summary>Frees a listener when disposed, or when the garbage collector finds it forgotten.</summary>
internal sealed unsafe class ListenerHandle : SafeHandle
{
    public ListenerHandle(NativeListener* listener) : base((nint)0, ownsHandle: true) => SetHandle((nint)listener);

    public override bool IsInvalid => (nint)handle == 0;

    protected override bool ReleaseHandle()
    {
        NativeMethods.ListenerFree((NativeListener*)handle);
        return true;
    }
}

/// <summary>Frees a channel when disposed, or when the garbage collector finds it forgotten.</summary>
internal sealed unsafe class ChannelHandle : SafeHandle
{
    public ChannelHandle(NativeChannel* channel) : base((nint)0, ownsHandle: true) => SetHandle((nint)channel);

    public override bool IsInvalid => (nint)handle == 0;

    protected override bool ReleaseHandle()
    {
        NativeMethods.ChannelFree((NativeChannel*)handle);
        return true;
    }
}

/// <summary>Frees a queue's handle when disposed, or when the garbage collector finds it forgotten; the queue itself stays.</summary>
internal sealed unsafe class QueueHandle : SafeHandle
{
    public QueueHandle(NativeQueue* queue) : base((nint)0, ownsHandle: true) => SetHandle((nint)queue);

    public override bool IsInvalid => (nint)handle == 0;

    protected override bool ReleaseHandle()
    {
        NativeMethods.QueueFree((NativeQueue*)handle);
        return true;
    }
}
