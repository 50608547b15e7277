namespace Ipc.Lab.Running;

/// <summary>A built program: the file people know, and the words that start it.</summary>
internal sealed record ProgramFile(string Name, string Path, IReadOnlyList<string> Command, IReadOnlyList<string> HashedFiles);
