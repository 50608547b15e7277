using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using static Ipc.Win32Messages;

namespace Ipc;

/// <summary>What stands before each fragment of a payload, docs/wire-formats.md "Window messages". Kinds 1 to 4 are those of frames.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct MessageHead
{
    public const uint OurMagic = 0x57435049; // IPCW
    public const uint OurVersion = 1;
    public const uint Hello = 16, Taken = 17, Ended = 18;
    public const int Size = 48;
    /// <summary>A longer payload goes in several messages, in order: not every system takes longer ones (Wine ends at two).</summary>
    public const int MostInFragment = 1024 * 1024;

    public uint Magic;
    public uint Version;
    public uint Kind;
    public uint Id;
    /// <summary>Of the whole payload.</summary>
    public uint Length;
    /// <summary>Of the exchange: 1, 2, 3 ...; its answer repeats it.</summary>
    public uint Number;
    /// <summary>Of this fragment in the payload.</summary>
    public uint Offset;
    public uint Zero;
    /// <summary>The connection's.</summary>
    public Guid Token;

    /// <summary>How many bytes of the payload go with this head.</summary>
    [SupportedOSPlatform("windows")]
    public readonly int FragmentLength => Math.Min((int)(Length - Offset), Win32.MostAtOnce(MostInFragment));

    public static MessageHead Make(uint kind, uint id, uint number, Guid token, int length) => new()
    {
        Magic = OurMagic,
        Version = OurVersion,
        Kind = kind,
        Id = id,
        Length = (uint)length,
        Number = number,
        Token = token,
    };

    /// <summary>The token's first two words, which tell who sends what carries no head.</summary>
    public static (uint First, uint Second) Words(Guid token)
    {
        var words = MemoryMarshal.Cast<Guid, uint>(MemoryMarshal.CreateReadOnlySpan(ref token, 1));
        return (words[0], words[1]);
    }
}

/// <summary>What a WM_COPYDATA brought: its head, and the fragment of the payload behind it.</summary>
[SupportedOSPlatform("windows")]
internal readonly unsafe ref struct MessageFragment(MessageHead head, ReadOnlySpan<byte> bytes)
{
    public MessageHead Head { get; } = head;
    public ReadOnlySpan<byte> Bytes { get; } = bytes;

    /// <summary>False if it is none of ours: wrong magic, version or lengths. The fragment lies within its payload.</summary>
    public static bool TryRead(nint copied, out MessageFragment fragment)
    {
        fragment = default;
        if (copied == 0)
            return false;
        // In one process this is the sender's own memory: copied before it is looked at.
        var given = *(CopyData*)copied;
        if (given.Bytes == null || given.Data != MessageHead.OurMagic || given.Length is < MessageHead.Size or > MessageHead.Size + MessageHead.MostInFragment)
            return false;
        var head = *(MessageHead*)given.Bytes;
        var length = given.Length - MessageHead.Size;
        if (head.Magic != MessageHead.OurMagic || head.Version != MessageHead.OurVersion || head.Offset > head.Length ||
            length > head.Length - head.Offset || (length == 0 && head.Length != 0))
            return false;
        fragment = new MessageFragment(head, new ReadOnlySpan<byte>(given.Bytes + MessageHead.Size, (int)length));
        return true;
    }
}

/// <summary>Brings a payload together from its fragments. They come in order; one may come again.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class ArrivingMessage : IDisposable
{
    public enum Outcome { More, Complete, Repeated, Refused }

    private int _capacity;
    private int _length;
    private int _arrived;

    /// <summary>The payload, not managed memory; as long as nothing else begins.</summary>
    public byte* Bytes { get; private set; }

    /// <summary>The first fragment of a payload; one over the limit is complete at once, and not kept.</summary>
    public Outcome Begin(MessageFragment fragment, int limit)
    {
        _length = _arrived = 0;
        if (fragment.Head.Offset != 0)
            return Outcome.Refused;
        if (fragment.Head.Length > (uint)limit)
            return Outcome.Complete;
        _length = (int)fragment.Head.Length;
        return Append(fragment.Bytes);
    }

    /// <summary>A further fragment, or one that has come before.</summary>
    public Outcome GoOn(MessageFragment fragment)
    {
        if (fragment.Head.Offset < (uint)_arrived || _arrived == _length)
            return Outcome.Repeated;
        return fragment.Head.Offset == (uint)_arrived && fragment.Head.Length == (uint)_length ? Append(fragment.Bytes) : Outcome.Refused;
    }

    // The room grows with what has come, never by what is announced: at most twice what a peer has really sent.
    private Outcome Append(ReadOnlySpan<byte> bytes)
    {
        var needed = _arrived + bytes.Length;
        if (_capacity < needed)
        {
            _capacity = (int)Math.Max(needed, Math.Min(_length, 2L * needed));
            Bytes = (byte*)NativeMemory.Realloc(Bytes, (nuint)_capacity);
        }
        bytes.CopyTo(new Span<byte>(Bytes + _arrived, _capacity - _arrived));
        _arrived += bytes.Length;
        return _arrived == _length ? Outcome.Complete : Outcome.More;
    }

    public void Dispose()
    {
        NativeMemory.Free(Bytes);
        Bytes = null;
        (_capacity, _length, _arrived) = (0, 0, 0);
    }
}

/// <summary>A message made ready to be sent, perhaps several times. A window of this same process is given this memory, not a copy, and
/// may look at it after the sender has given up: such memory is never freed.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class OutgoingMessage : IDisposable
{
    public enum Sent { Taken, Refused, TimedOut, WindowGone }

    private CopyData* _copied; // the head and the fragment lie behind it
    private int _capacity;

    /// <summary>One fragment: the head, and as many bytes of the payload from its offset on as go with it.</summary>
    public void Make(MessageHead head, ReadOnlySpan<byte> payload)
    {
        var fragment = payload.Slice((int)head.Offset, head.FragmentLength);
        var total = MessageHead.Size + fragment.Length;
        if (_capacity < total)
        {
            _capacity = Math.Min(MessageHead.Size + MessageHead.MostInFragment, Math.Max(total, 2 * _capacity));
            NativeMemory.Free(_copied);
            _copied = (CopyData*)NativeMemory.Alloc((nuint)(sizeof(CopyData) + _capacity));
        }
        var bytes = (byte*)(_copied + 1);
        *_copied = new CopyData { Data = MessageHead.OurMagic, Length = (uint)total, Bytes = bytes };
        *(MessageHead*)bytes = head;
        fragment.CopyTo(new Span<byte>(bytes + MessageHead.Size, fragment.Length));
    }

    /// <summary>Sends it and waits at most so long for the window's thread to take it; meanwhile messages sent to this thread's own
    /// windows are carried out. <paramref name="result"/> is what the window's procedure returned.</summary>
    public Sent Send(nint from, nint to, uint patience, out nuint result)
    {
        nuint returned = 0;
        var sent = SendMessageTimeoutW(to, WM_COPYDATA, from, (nint)_copied, 0, patience, &returned);
        var error = Marshal.GetLastPInvokeError();
        result = returned;
        if (sent != 0)
            return returned != 0 ? Sent.Taken : Sent.Refused;
        var owner = MessageWindow.ProcessOf(to);
        if (owner == 0 || error is not (ERROR_TIMEOUT or 0))
            return Sent.WindowGone;
        if (owner == (uint)Environment.ProcessId)
        {
            // Another try is made of a copy.
            var size = (nuint)(sizeof(CopyData) + _capacity);
            var again = (CopyData*)NativeMemory.Alloc(size);
            NativeMemory.Copy(_copied, again, (nuint)sizeof(CopyData) + _copied->Length);
            again->Bytes = (byte*)(again + 1);
            _copied = again;
        }
        return Sent.TimedOut;
    }

    public void Dispose()
    {
        NativeMemory.Free(_copied);
        _copied = null;
        _capacity = 0;
    }
}
