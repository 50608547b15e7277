namespace Ipc.Lab;

/// <summary>What the user asked for cannot be done. The message is the one error message shown; nothing has been started.</summary>
internal sealed class UserMistakeException(string errorMessage) : Exception(errorMessage);
