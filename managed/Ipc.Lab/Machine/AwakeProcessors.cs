namespace Ipc.Lab.Machine;

/// <summary>Keeps idle processors polling, instead of halting or sleeping deeper, for as long as it lives: what <c>cyclictest</c> does, too.</summary>
/// <remarks>By the kernel's PM QoS interface (Documentation/power/pm_qos_interface.rst): the demand, a latency in microseconds of four bytes, holds while the
/// file is open, and so ends with the process, however that ends. It is the machine's: other programs' processors stay awake, too.</remarks>
internal sealed class AwakeProcessors : IDisposable
{
    private const string Device = "/dev/cpu_dma_latency";
    private const int NoDemandUs = 2_000_000_000; // the kernel's PM_QOS_CPU_LATENCY_DEFAULT_VALUE

    private readonly FileStream _demand;

    private AwakeProcessors(FileStream demand) => _demand = demand;

    /// <summary>What other programs demand at present, in microseconds; null if none does, or this user may not know.</summary>
    public static int? DemandedUs(SystemFiles files) => files.ReadWord(Device) is { } microseconds and < NoDemandUs ? microseconds : null;

    /// <summary>Demands it; a user's mistake where the system does not take the demand.</summary>
    /// <param name="device">Another file, for tests.</param>
    public static AwakeProcessors Hold(string device = Device)
    {
        FileStream? demand = null;
        try
        {
            demand = new FileStream(device, FileMode.Open, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
            demand.Write([0, 0, 0, 0]);
            return new AwakeProcessors(demand);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            demand?.Dispose();
            throw new UserMistakeException($"--awake needs '{device}', which only Linux has and as a rule only root may write: {e.Message}; "
                + "run as root on the machine itself (a container may lack the device), or omit --awake");
        }
    }

    public void Dispose() => _demand.Dispose();
}
