using System.Runtime.InteropServices;

namespace Ipc.Native;

// Opaque, as the handles in Handles.cs.
internal readonly struct NativePublisher;

internal readonly struct NativeSubscriber;

/// <summary>Frees a publisher when disposed, or when the garbage collector finds it forgotten.</summary>
internal sealed unsafe class PublisherHandle : SafeHandle
{
    public PublisherHandle(NativePublisher* publisher) : base((nint)0, ownsHandle: true) => SetHandle((nint)publisher);

    public override bool IsInvalid => (nint)handle == 0;

    protected override bool ReleaseHandle()
    {
        NativeMethods.PublisherFree((NativePublisher*)handle);
        return true;
    }
}

/// <summary>Frees a subscriber when disposed, or when the garbage collector finds it forgotten.</summary>
internal sealed unsafe class SubscriberHandle : SafeHandle
{
    public SubscriberHandle(NativeSubscriber* subscriber) : base((nint)0, ownsHandle: true) => SetHandle((nint)subscriber);

    public override bool IsInvalid => (nint)handle == 0;

    protected override bool ReleaseHandle()
    {
        NativeMethods.SubscriberFree((NativeSubscriber*)handle);
        return true;
    }
}
