using System.Net;

namespace Ipc.AspNetCore;

/// <summary>An ipc address as an endpoint of Kestrel.</summary>
public sealed class IpcEndPoint : EndPoint
{
    /// <summary>Creates an endpoint.</summary>
    /// <param name="address">The address, for example <c>shm://prices</c>.</param>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException">The address is invalid.</exception>
    public IpcEndPoint(string address)
    {
        IpcAddress.Parse(address);
        Address = address;
    }

    /// <summary>The address: the one given or, once Kestrel listens, completed by what the system chose.</summary>
    public string Address { get; }

    /// <summary>The address.</summary>
    /// <returns>The text of <see cref="Address"/>.</returns>
    public override string ToString() => Address;

    /// <summary>Whether another endpoint has the same address.</summary>
    /// <param name="obj">The other endpoint.</param>
    /// <returns><see langword="true"/> if it has.</returns>
    public override bool Equals(object? obj) => obj is IpcEndPoint other && other.Address == Address;

    /// <summary>The hash code of the address.</summary>
    /// <returns>The hash code.</returns>
    public override int GetHashCode() => Address.GetHashCode(StringComparison.Ordinal);
}
