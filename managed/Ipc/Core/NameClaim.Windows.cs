using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;
using static Ipc.Win32Messages;

namespace Ipc;

/// <summary>The exclusive right of one process to listen under a name, where the system itself lets several have it: a named mutex, which
/// goes with its process.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class NameClaim : IDisposable
{
    private readonly SafeWaitHandle _claim;

    public NameClaim(IpcAddress address)
    {
        var security = OnlyThisUser.Instance.Attributes;
        _claim = CreateMutexW(&security, 0, $@"Local\ipc-{Win32.ThisUser}-{address.Transport}-{address.Name}");
        var error = Marshal.GetLastPInvokeError();
        if (_claim.IsInvalid && error is not (ERROR_ACCESS_DENIED or ERROR_INVALID_HANDLE))
            throw new IpcException(IpcStatus.System, $"cannot listen at {address}: {Win32.ErrorText(error)}");
        if (!_claim.IsInvalid && error != ERROR_ALREADY_EXISTS)
            return;
        _claim.Dispose();
        throw new IpcException(IpcStatus.NameInUse, $"cannot listen at {address}: another listener has this name; close it or choose another name");
    }

    public void Dispose() => _claim.Dispose();
}
