namespace Ipc;

/// <summary>What tells an operation that waits for one half of a channel when it is worth trying again. The order is: BeginAttempt, try, Arm, try once
/// more if Arm says so, wait; then what comes after Arm calls <see cref="ChannelOperation.Wake"/>, perhaps for nothing.</summary>
internal abstract class Readiness
{
    /// <summary>The operation is about to try.</summary>
    public virtual void BeginAttempt() { }

    /// <summary>From here on the operation is woken. True: something may have come before; try once more.</summary>
    public abstract bool Arm(ChannelOperation operation);

    /// <summary>The operation does not wait any more. May come without Arm.</summary>
    public abstract void Disarm(ChannelOperation operation);
}
