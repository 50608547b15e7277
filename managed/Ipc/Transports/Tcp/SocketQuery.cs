using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>What the system says of one socket.</summary>
internal enum TcpAnswer
{
    Found,
    Absent,
    /// <summary>The system does not answer such questions: look through its table.</summary>
    Unknown,
}

/// <summary>Asks Linux for a single socket over netlink, sock_diag(7), in some microseconds. Any number of threads may ask. Keeps a descriptor,
/// so that it is not at a loss when there are no more.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class SocketQuery
{
    // struct nlmsghdr (16 bytes), then struct inet_diag_req_v2 (56) or inet_diag_msg (72), or a struct nlmsgerr.
    private const int HeaderBytes = 16, QuestionBytes = 56, AnswerBytes = 72, EndsAt = 8;
    private const ushort SockDiagByFamily = 20, NetlinkError = 2, NetlinkRequest = 1;
    private const int StateAt = 1, TimerAt = 2, UserAt = 64, InodeAt = 68;

    private readonly Descriptor? _netlink = Libc.NetlinkSocket(Libc.NETLINK_SOCK_DIAG);
    private readonly object _gate = new(); // one question at a time
    private uint _number;
    private volatile bool _hasFound;

    public SocketQuery()
    {
        // The system answers within the call that asks; should it ever not, its table is looked through.
        if (_netlink is not null)
            LocalSocket.SetTimeout(_netlink, Libc.SO_RCVTIMEO, 100);
    }

    /// <summary>The socket with these ends.</summary>
    public TcpAnswer Ask(IPEndPoint local, IPEndPoint remote, out TcpRow row) => Ask(local, remote, listening: false, out row);

    /// <summary>The socket that listens there.</summary>
    public TcpAnswer AskListener(IPEndPoint at, out TcpRow row) => Ask(at, new IPEndPoint(at.Address, 0), listening: true, out row);

    private TcpAnswer Ask(IPEndPoint local, IPEndPoint remote, bool listening, out TcpRow row)
    {
        row = default;
        Span<byte> answer = stackalloc byte[AnswerBytes];
        switch (Exchange(local, remote, answer))
        {
            case 0:
                break;
            // What it also says if it has no part for TCP. Who asks first asks about a connection whose other end is there to be found.
            case Libc.ENOENT when _hasFound || listening || Exchange(remote, local, answer) == 0:
                return TcpAnswer.Absent;
            default:
                return TcpAnswer.Unknown;
        }
        _hasFound = true;
        if (listening && answer[StateAt] != TcpRow.Listening)
            return TcpAnswer.Absent;
        var isOwned = MemoryMarshal.Read<uint>(answer[InodeAt..]) != 0;
        row = new TcpRow(answer[StateAt], answer[TimerAt] != 0, isOwned ? MemoryMarshal.Read<uint>(answer[UserAt..]) : null);
        return TcpAnswer.Found;
    }

    // 0 and the answer, or the error number.
    private int Exchange(IPEndPoint local, IPEndPoint remote, Span<byte> answer)
    {
        if (_netlink is null)
            return Libc.EPROTO;
        lock (_gate)
        {
            Span<byte> request = stackalloc byte[HeaderBytes + QuestionBytes];
            Write(request, local, remote, ++_number);
            fixed (byte* p = request)
            {
                var vector = new Libc.IoVector { Base = p, Length = (nuint)request.Length };
                var message = new Libc.MessageHeader { Vectors = &vector, VectorCount = 1 };
                if (Libc.SendMessage(_netlink, &message, 0) != request.Length)
                    return Libc.LastError;
            }
            return ReadAnswer(answer);
        }
    }

    private int ReadAnswer(Span<byte> answer)
    {
        Span<byte> reply = stackalloc byte[1024];
        while (true)
        {
            int count;
            fixed (byte* p = reply)
                count = (int)Libc.Receive(_netlink!, p, (nuint)reply.Length, 0);
            if (count < 0 && Libc.LastError == Libc.EINTR)
                continue;
            if (count < HeaderBytes + sizeof(int))
                return count < 0 ? Libc.LastError : Libc.EPROTO;
            if (MemoryMarshal.Read<uint>(reply[8..]) != _number)
                continue; // the late answer to a question that was given up
            var body = reply[HeaderBytes..count];
            switch (MemoryMarshal.Read<ushort>(reply[4..]))
            {
                case NetlinkError:
                    return -MemoryMarshal.Read<int>(body) is var error and > 0 ? error : Libc.EPROTO;
                case SockDiagByFamily when body.Length >= AnswerBytes:
                    body[..AnswerBytes].CopyTo(answer);
                    return 0;
                default:
                    return Libc.EPROTO;
            }
        }
    }

    private static void Write(Span<byte> request, IPEndPoint local, IPEndPoint remote, uint number)
    {
        request.Clear();
        Put(request, (uint)request.Length);
        Put(request[4..], SockDiagByFamily | ((uint)NetlinkRequest << 16));
        Put(request[8..], number);
        var question = request[HeaderBytes..];
        var v4 = local.Address.AddressFamily == AddressFamily.InterNetwork || local.Address.IsIPv4MappedToIPv6;
        question[0] = (byte)(v4 ? Libc.AF_INET : Libc.AF_INET6);
        question[1] = Libc.IPPROTO_TCP;
        Put(question[4..], uint.MaxValue); // in any state
        var ends = question[EndsAt..];
        BinaryPrimitives.WriteUInt16BigEndian(ends, (ushort)local.Port);
        BinaryPrimitives.WriteUInt16BigEndian(ends[2..], (ushort)remote.Port);
        Address(local, v4).CopyTo(ends[4..]);
        Address(remote, v4).CopyTo(ends[20..]);
        // After the interface, the cookie: none.
        Put(ends[40..], uint.MaxValue);
        Put(ends[44..], uint.MaxValue);
    }

    private static byte[] Address(IPEndPoint end, bool v4) =>
        (v4 ? end.Address.MapToIPv4() : end.Address.MapToIPv6()).GetAddressBytes();

    // The machine's own order, as in all of netlink but addresses and ports.
    private static void Put(Span<byte> to, uint value) => MemoryMarshal.Cast<byte, uint>(to)[0] = value;
}
