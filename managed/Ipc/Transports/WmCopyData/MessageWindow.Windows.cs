using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using static Ipc.Win32Messages;

namespace Ipc;

/// <summary>Message-only windows; made, used and destroyed by one thread.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class MessageWindow
{
    // The native library, should it be in this process, has classes of these names of its own: they belong to its module.
    public const string ListenerClass = "ipc.wm-copydata", SessionClass = "ipc.wm-copydata.session", ClientClass = "ipc.wm-copydata.client";

    /// <summary>A new window; <paramref name="self"/> is what Self gives in its procedure.</summary>
    public static nint Make(string name, delegate* unmanaged<nint, uint, nint, nint, nint> procedure, string title, GCHandle self)
    {
        var module = GetModuleHandleW(0);
        fixed (char* p = name)
        {
            var description = new WindowClass { Size = (uint)sizeof(WindowClass), Procedure = procedure, Module = module, Name = p };
            if (RegisterClassExW(&description) == 0 && Marshal.GetLastPInvokeError() != ERROR_CLASS_ALREADY_EXISTS)
                throw new IpcException(IpcStatus.System, $"cannot register a window class: {Win32.ErrorText(Win32.LastError)}");
        }
        var window = CreateWindowExW(0, name, title, 0, 0, 0, 0, 0, HWND_MESSAGE, 0, module, 0);
        if (window == 0)
            throw new IpcException(IpcStatus.System, $"cannot make a message-only window: {Win32.ErrorText(Win32.LastError)}");
        if (self.IsAllocated)
            SetWindowLongPtrW(window, GWLP_USERDATA, GCHandle.ToIntPtr(self));
        return window;
    }

    /// <summary>What the window belongs to; null while it is being made.</summary>
    public static T? Self<T>(nint window) where T : class
    {
        var handle = GetWindowLongPtrW(window, GWLP_USERDATA);
        return handle == 0 ? null : GCHandle.FromIntPtr(handle).Target as T;
    }

    /// <summary>The process a window belongs to; 0 if there is no such window.</summary>
    public static uint ProcessOf(nint window)
    {
        uint process = 0;
        return GetWindowThreadProcessId(window, &process) == 0 ? 0 : process;
    }
}
