using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Numerics;

namespace Ipc.Queues;

/// <summary>Which queue, and how. All participants name the same queue; the capacity is that of whoever makes it.</summary>
[SuppressMessage("Naming", "CA1711", Justification = "It is about one.")]
public sealed record QueueOptions
{
    private const long SmallestCapacity = 64 * 1024;
    private const long LargestCapacity = 1L << 30;

    /// <summary>Options of a queue.</summary>
    /// <param name="queueName">1 to 80 characters of A-Z a-z 0-9 . _ - without a dot first; one user's queues of one name are one queue.</param>
    /// <param name="capacity">Bytes of the queue, 64 kB to 1 GB, rounded up to a power of two. One message may take half of it.</param>
    /// <param name="transportOptions">More options of the address: <c>wait=spin&amp;max=4k</c> (registry.json lists them); "" for none.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is not positive, or over 1 GB.</exception>
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

    /// <summary>The queue's name.</summary>
    public string QueueName { get; }
    /// <summary>Bytes of the queue, if this participant makes it.</summary>
    public long Capacity { get; }
    /// <summary>More options of the address.</summary>
    public string TransportOptions { get; }

    /// <summary>The address these options amount to.</summary>
    public string Address => string.Create(CultureInfo.InvariantCulture,
        $"queue://{QueueName}?size={Capacity}{(TransportOptions.Length > 0 ? "&" : "")}{TransportOptions}");
}
