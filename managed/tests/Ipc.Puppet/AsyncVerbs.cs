namespace Ipc.Puppet;

internal static partial class AsyncVerbs
{
    /// <summary>Where there are asynchronous members, the verbs that use them.</summary>
    public static void AddTo(Dictionary<string, Verb> verbs) => Add(verbs);

    static partial void Add(Dictionary<string, Verb> verbs);
}
