namespace Ipc.Peer;

internal static partial class Serialize
{
    static partial void FindLibrary(Cell cell, ref Serialization? found) => found = cell.Codec switch
    {
        "memorypack" => Untranslated<MemoryPackCodec, LibraryAccess, LibraryRequest, LibraryReply>(cell),
        "messagepack" => Untranslated<MessagePackCodec, LibraryAccess, LibraryRequest, LibraryReply>(cell),
        _ => null,
    };
}
