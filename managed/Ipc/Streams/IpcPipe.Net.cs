using System.IO.Pipelines;

namespace Ipc;

/// <summary>A channel as a pair of pipes, for code over System.IO.Pipelines. For .NET 10.</summary>
public static class IpcPipe
{
    /// <summary>Reads and writes the bytes of the channel's messages, whose boundaries mean nothing, as <see cref="IpcStream"/>.</summary>
    /// <param name="channel">Nothing else may use it meanwhile. It stays its owner's: completing both ends of the pair does not close it.</param>
    /// <returns>The pair; each end may be used by one thread at a time.</returns>
    public static IDuplexPipe AsDuplexPipe(this IpcChannel channel)
    {
        var stream = new IpcStream(channel, leaveOpen: true);
        return new Pair(PipeReader.Create(stream, new StreamPipeReaderOptions(leaveOpen: true)), PipeWriter.Create(stream, new StreamPipeWriterOptions(leaveOpen: true)));
    }

    private sealed record Pair(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
