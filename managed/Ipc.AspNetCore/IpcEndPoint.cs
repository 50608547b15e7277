using System.Net;

namespace Ipc.AspNetCore;

/// <summary>An address of ipc as Kestrel's endpoint.</summary>
public sealed class IpcEndPoint : EndPoint
{
    /// <summary>Of an address such as <c>shm://prices</c>.</summary>
    /// <param name="address">Checked here.</param>
    /// <exception cref="IpcException">The address is none.</exception>
    public IpcEndPoint(string address)
    {
        IpcAddress.Parse(address);
        Address = address;
    }

    /// <summary>As it was given; of a listener, with what the system chose put in.</summary>
    public string Address { get; }

    /// <summary>The address.</summary>
    public override string ToString() => Address;

    /// <summary>Whether the other has the same address.</summary>
    public override bool Equals(object? obj) => obj is IpcEndPoint other && other.Address == Address;

    /// <summary>The address's.</summary>
    public override int GetHashCode() => Address.GetHashCode(StringComparison.Ordinal);
}
