using System.Globalization;
using System.Runtime.Versioning;
using System.Security.Cryptography;

namespace Ipc;

/// <summary>Where many sleep on the words of a file that any process of this user may open: semaphores with names that follow from 16
/// random bytes in the file, which nobody else can read.</summary>
/// <param name="name">The 16 bytes in the file.</param>
[SupportedOSPlatform("windows")]
internal sealed unsafe class NamedPlaces(uint* name) : IDisposable
{
    public const int NameBytes = 16;

    private readonly List<(nint Word, Win32Handle Semaphore)> _places = [];
    // Global: the file is the same in all of the user's sessions.
    private readonly string _prefix = string.Create(CultureInfo.InvariantCulture, $@"Global\ipc-{name[0]:x8}{name[1]:x8}{name[2]:x8}{name[3]:x8}-");

    /// <summary>For the maker of the file.</summary>
    public static void MakeName(uint* name) => RandomNumberGenerator.Fill(new Span<byte>(name, NameBytes));

    /// <param name="index">Which word it is, the same in every process.</param>
    /// <param name="word">The word.</param>
    /// <param name="wakesOfAll">Null if all are never woken at once.</param>
    public void Add(int index, uint* word, uint* wakesOfAll)
    {
        var semaphore = Win32.OpenSemaphore(_prefix + index.ToString(CultureInfo.InvariantCulture), SleepingPlaces.MostWakeUps);
        _places.Add(((nint)word, semaphore));
        if (Win32.OwnerOf(semaphore) != Win32.ThisUser)
            throw new IpcException(IpcStatus.NoPermission, "the semaphore to sleep on belongs to another user");
        SleepingPlaces.Add(word, new SleepingPlace { WakeUps = semaphore, Many = true, WakesOfAll = wakesOfAll });
    }

    /// <summary>Before the mapping goes, when nobody is inside.</summary>
    public void Dispose()
    {
        foreach (var (word, semaphore) in _places)
        {
            SleepingPlaces.Remove((uint*)word);
            semaphore.Dispose();
        }
        _places.Clear();
    }
}
