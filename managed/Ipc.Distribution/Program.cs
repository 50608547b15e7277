using Ipc.Distribution;

var check = args is ["--check"];
if (args.Length > 0 && !check)
{
    Console.Error.WriteLine($"The only option is --check, not '{string.Join(' ', args)}'.");
    return 2;
}

var scripts = StartScripts.All();
var folder = new ScriptFolder(RepositoryRoot.Find("distribution"), scripts);
var page = RepositoryRoot.Find(AddressReference.Page);
var pageIsCurrent = File.Exists(page) && File.ReadAllText(page).ReplaceLineEndings("\n") == AddressReference.Text();
if (!check)
{
    var done = folder.Mend();
    foreach (var line in done)
        Console.WriteLine(line);
    Console.WriteLine($"distribution/ holds {scripts.Count} start scripts, {done.Count} of them changed now");
    if (!pageIsCurrent)
        File.WriteAllText(page, AddressReference.Text());
    Console.WriteLine($"{AddressReference.Page} {(pageIsCurrent ? "is current" : "changed now")}");
    return 0;
}

var differences = folder.Differences().ToList();
if (!pageIsCurrent)
    differences.Add($"{AddressReference.Page}: differs from what the registry says");
foreach (var line in differences)
    Console.Error.WriteLine(line);
if (differences.Count > 0)
{
    Console.Error.WriteLine("What follows from registry.json is out of date: run scripts/distribution.sh and commit what it changes.");
    return 1;
}
Console.WriteLine($"distribution/ is current: {scripts.Count} start scripts; {AddressReference.Page} is current");
return 0;
