using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Numerics;

namespace Ipc.Queues;

/// <summary>The name and the size of a queue. All processes that use a queue name it alike; its size is that of whoever creates it.</summary>
[SuppressMessage("Naming", "CA1711", Justification = "It is about one.")]
public sealed record QueueOptions
{
    private const long SmallestCapacity = 64 * 1024;
    private const long LargestCapacity = 1L << 30;

    /// <summary>Creates options.</summary>
    /// <param name="queueName">1 to 80 of the characters A-Z a-z 0-9 . _ - with no dot first. Queues of the same name and user are the same queue.</param>
    /// <param name="capacity">The size of the queue in bytes, 64 kB to 1 GB; it is rounded up to a power of two. One message may take up half of it.</param>
    /// <param name="transportOptions">More options of the address, for example <c>wait=spin&amp;max=4k</c> (docs/addresses.md); none by default.</param>
    /// <exception cref="ArgumentNullException">The name or the options are null.</exception>
    /// <exception cref="ArgumentException">The name is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is not positive, or more than 1 GB.</exception>
    public QueueOptions(string queueName, long capacity, string transportOptions = "")
    {
        ArgumentException.ThrowIfNullOrEmpty(queueName);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(capacity);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(capacity, LargestCapacity);
        ArgumentNullException.ThrowIfNull(transportOptions);
        QueueName = queueName;
        Capacity = (long)BitOperations.RoundUpToPowerOf2((ulong)Math.Max(capacity, SmallestCapacity));
        TransportOptions = transportOptions;
    }

    /// <summary>The name of the queue.</summary>
    public string QueueName { get; }
    /// <summary>The size of the queue in bytes, if this process creates it.</summary>
    public long Capacity { get; }
    /// <summary>More options of the address.</summary>
    public string TransportOptions { get; }

    /// <summary>The address made of these options.</summary>
    public string Address => string.Create(CultureInfo.InvariantCulture,
        $"queue://{QueueName}?size={Capacity}{(TransportOptions.Length > 0 ? "&" : "")}{TransportOptions}");
}
