namespace Ipc;

/// <summary>Starting the library's own threads, which the system may refuse: a container limits them.</summary>
internal static class LibraryThread
{
    /// <summary>Starts it.</summary>
    /// <param name="thread">A background thread.</param>
    /// <param name="purpose">What it is for, as the end of "cannot start a thread".</param>
    /// <param name="withContext">Whether it runs the user's code, which may ask for the starter's execution context.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.System"/>: the system has no thread to give.</exception>
    public static void Start(Thread thread, string purpose, bool withContext = false)
    {
        try
        {
#if NET
            if (!withContext)
            {
                thread.UnsafeStart();
                return;
            }
#endif
            thread.Start();
        }
        // What the runtime says, whatever a new thread lacks.
        catch (OutOfMemoryException e)
        {
            throw new IpcException(IpcStatus.System,
                $"cannot start a thread {purpose}: this process may have no more threads or descriptors, or no memory is left", e);
        }
    }
}
