using System.IO.Pipelines;

namespace Ipc;

/// <summary>A channel as a pair of pipes, for code over System.IO.Pipelines. For .NET 10.</summary>
public static class IpcPipe
{
    /// <summary>Reads and writes bytes, as <see cref="IpcStream"/> does: they travel as messages whose boundaries mean nothing.</summary>
    /// <param name="channel">The channel. Nothing else may use it meanwhile. It stays its owner's: completing both pipes does not close it.</param>
    /// <returns>The pair. One thread at a time may use each of its ends.</returns>
    /// <exception cref="ArgumentNullException">The channel is null.</exception>
    public static IDuplexPipe AsDuplexPipe(this IpcChannel channel)
    {
        var stream = new IpcStream(channel, leaveOpen: true);
        return new Pair(PipeReader.Create(stream, new StreamPipeReaderOptions(leaveOpen: true)),
            PipeWriter.Create(stream, new StreamPipeWriterOptions(leaveOpen: true)));
    }

    private sealed record Pair(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
