namespace Ipc;

/// <summary>Kinds of frame, docs/wire-formats.md.</summary>
internal enum FrameKind : uint
{
    Message = 1,
    Request = 2,
    Reply = 3,
    Fault = 4,
}

/// <summary>The frame that is next; its length in bytes is already checked against the limit.</summary>
internal readonly struct FrameInfo(FrameKind kind, uint id, int length)
{
    public FrameKind Kind { get; } = kind;
    public uint Id { get; } = id;
    public int Length { get; } = length;
}
