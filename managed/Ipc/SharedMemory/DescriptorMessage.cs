using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Messages with descriptors (SCM_RIGHTS) on the Unix socket over which two processes come to share memory.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe class DescriptorMessage
{
    private const int MostDescriptors = 8; // a hostile peer may send more; the system closes what finds no room

    /// <summary>A control message with descriptors, as the system lays it out on 64-bit machines.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct Rights
    {
        public const int HeaderBytes = 16;
        public nuint Length;
        public int Level;
        public int Type;
        public fixed int Descriptors[MostDescriptors];
    }

    /// <summary>Sends all bytes with the descriptors, which the caller keeps. Never blocks. 0, or the error number: a peer that is gone
    /// is EPIPE or ECONNRESET.</summary>
    public static int Send(Descriptor socket, void* bytes, int length, ReadOnlySpan<Descriptor> descriptors)
    {
        var vector = new Libc.IoVector { Base = bytes, Length = (nuint)length };
        var dataBytes = descriptors.Length * sizeof(int);
        var rights = new Rights { Length = (nuint)(Rights.HeaderBytes + dataBytes), Level = Libc.SOL_SOCKET, Type = Libc.SCM_RIGHTS };
        for (var i = 0; i < descriptors.Length; i++)
            rights.Descriptors[i] = (int)descriptors[i].DangerousGetHandle(); // the caller keeps them open
        var message = new Libc.MessageHeader { Vectors = &vector, VectorCount = 1 };
        if (descriptors.Length > 0)
        {
            message.Control = &rights;
            message.ControlLength = (nuint)(Rights.HeaderBytes + ((dataBytes + 7) & ~7));
        }
        var sent = Libc.SendMessage(socket, &message, Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT);
        if (sent == length)
            return 0;
        return sent < 0 ? Libc.LastError : Libc.EPIPE;
    }

    /// <summary>One message: how many bytes came (0: the peer's end; negative: minus the error number, which is EMFILE when this process may not
    /// have the descriptors that came), and the descriptors, which are the caller's from now on.</summary>
    public static int Receive(Descriptor socket, void* bytes, int length, out Descriptor[] descriptors)
    {
        Rights rights = default;
        var vector = new Libc.IoVector { Base = bytes, Length = (nuint)length };
        var message = new Libc.MessageHeader { Vectors = &vector, VectorCount = 1, Control = &rights, ControlLength = (nuint)sizeof(Rights) };
        var got = (int)Libc.ReceiveMessage(socket, &message, Libc.MSG_CMSG_CLOEXEC | Libc.MSG_DONTWAIT);
        descriptors = [];
        if (got < 0)
            return -Libc.LastError;
        var wasCut = (message.Flags & Libc.MSG_CTRUNC) != 0;
        if (message.ControlLength < Rights.HeaderBytes + sizeof(int) || rights is not { Level: Libc.SOL_SOCKET, Type: Libc.SCM_RIGHTS })
            return wasCut ? -Libc.EMFILE : got;
        descriptors = new Descriptor[Math.Min((int)(rights.Length - Rights.HeaderBytes) / sizeof(int), MostDescriptors)];
        for (var i = 0; i < descriptors.Length; i++)
            descriptors[i] = new Descriptor(rights.Descriptors[i]);
        // Cut off although there was room: for what is missing there was no descriptor.
        if (!wasCut || descriptors.Length == MostDescriptors)
            return got;
        foreach (var descriptor in descriptors)
            descriptor.Dispose();
        descriptors = [];
        return -Libc.EMFILE;
    }
}
