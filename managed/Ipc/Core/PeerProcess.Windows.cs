using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>The process at the other end of a connection, held open: its death shows at once, and its number cannot become
/// another's.</summary>
[SupportedOSPlatform("windows")]
internal sealed partial class PeerProcess : IDisposable
{
    private const uint Synchronize = 0x100000, QueryLimitedInformation = 0x1000, Signalled = 0;
    private const int ErrorInvalidParameter = 87;

    private readonly SafeProcessHandle _process;

    /// <summary>Opens the process that told its number and checks that it runs as this user. <see cref="IpcStatus.PeerClosed"/> when
    /// there is no such process any more, <see cref="IpcStatus.NoPermission"/> when it is another user's or may not be looked at.</summary>
    public PeerProcess(uint number, IpcAddress address)
    {
        // From here on the number stays this process's, so that asking by number asks about it.
        _process = OpenProcess(Synchronize | QueryLimitedInformation, 0, number);
        var error = Marshal.GetLastPInvokeError();
        if (_process.IsInvalid)
            throw error == ErrorInvalidParameter
                ? new IpcException(IpcStatus.PeerClosed, $"the peer at {address} (process {number}) has ended already")
                : new IpcException(IpcStatus.NoPermission, $"cannot watch the peer at {address} (process {number}): {Win32.ErrorText(error)}");
        if (Win32.UserOfProcess(number) == Win32.ThisUser)
            return;
        _process.Dispose();
        throw new IpcException(IpcStatus.NoPermission, $"the peer at {address} (process {number}) is another user's: run both as the same");
    }

    public bool Ended
    {
        get
        {
            try
            {
                return WaitForSingleObject(_process, 0) == Signalled;
            }
            catch (ObjectDisposedException)
            {
                return true; // the channel was closed here, between two system calls
            }
        }
    }

    /// <summary>Signalled once the process has ended. Valid until Dispose.</summary>
    public nint Handle => _process.DangerousGetHandle();

    public void Dispose() => _process.Dispose();

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial SafeProcessHandle OpenProcess(uint access, int inherit, uint process);

    [LibraryImport("kernel32")]
    private static partial uint WaitForSingleObject(SafeProcessHandle handle, uint milliseconds);
}
