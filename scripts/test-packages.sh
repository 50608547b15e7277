#!/usr/bin/env bash
# Packs, then uses the packages as a stranger does: an empty folder, a folder feed, the programs that the packages' own README files and
# the project's show, a C compiler and pkg-config, the lab as a .NET tool. Compiled and run, and published ahead of time (NativeAOT) without
# a warning. The last line is `N passed, N failed`.
#   scripts/test-packages.sh [--packed]      --packed: artifacts/packages is there already
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_again_with_compiler "$@"
source "$root/scripts/packages.sh"
case ${1:-} in
    "") "$root/scripts/pack.sh" nuget ;;
    --packed) ;;
    *) echo "usage: scripts/test-packages.sh [--packed]" >&2; exit 2 ;;
esac
install_packages install-aot-linker clang zlib1g-dev

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Its own store: the one of this account may hold an older package of the same version.
export NUGET_PACKAGES=$work/store
version=$(sed -n 's/.*<Version>\(.*\)<\/Version>.*/\1/p' "$root/Directory.Build.props")
passed=0 failed=0

# block FILE LANGUAGE N: the Nth block of that language in a page.
block() {
    awk -v fence="^\`\`\`$2\$" -v wanted="$3" '$0 ~ fence { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$1"
}

# readme_program FILE N: the Nth C# block of a package's README.
readme_program() { block "$root/managed/packaging/$1" csharp "$2"; }

# make_program NAME PACKAGE: an empty folder, `dotnet new console`, `dotnet add package` from the folder feed.
make_program() {
    mkdir "$work/$1" && cd "$work/$1" || return 1
    dotnet new console -o . --no-restore || return 1
    dotnet new nugetconfig || return 1
    dotnet nuget add source "$root/artifacts/packages" -n folder --configfile nuget.config || return 1
    dotnet add package "$2" --version "$version" || return 1
}

# judge WHAT COMMAND...
judge() {
    local what=$1
    shift
    if step "$what" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# ask SERVER CLIENT...: starts the server, asks until it is there, and compares the answer.
ask() {
    local server=$1 answer code=1
    shift
    "$server" &
    local process=$!
    for _ in $(seq 50); do
        if answer=$("$@" 2>/dev/null); then code=0; break; fi
        sleep 0.1
    done
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
    [ "$code" -eq 0 ] && [ "$answer" = "${wanted:-EURUSD}" ] || { echo "the answer was '${answer:-}', code $code"; return 1; }
}

build_pair() {
    local name=shm-$$
    make_program server Ipc || return 1
    readme_program Ipc.md 1 | sed "s/prices/$name/" >Program.cs
    dotnet build -c Release -o out -warnaserror -nologo || return 1
    make_program client Ipc.Native || return 1
    { readme_program Ipc.Native.md 1 | sed "s/prices/$name/"; echo 'Console.Write(System.Text.Encoding.ASCII.GetString(answer, 0, length));'; } >Program.cs
    dotnet build -c Release -o out -warnaserror -nologo || return 1
}

build_ahead() {
    cd "$work/server" || return 1
    dotnet publish -c Release -o ahead -p:PublishAot=true -p:TreatWarningsAsErrors=true -nologo || return 1
    ls -l "ahead/server"
}

# build_older: a program for .NET 8, which takes the assemblies for netstandard2.0, run by the .NET that is here. Each implementation serves both.
build_older() {
    local settings said
    make_program older Ipc.Native || return 1
    settings='<TargetFramework>net8.0</TargetFramework><RollForward>Major</RollForward><UseAppHost>false</UseAppHost>'
    sed -i "s|<TargetFramework>.*</TargetFramework>|$settings|" older.csproj
    sed "s/NAME/older-$$/" >Program.cs <<'PROGRAM'
using System.Runtime.Versioning;
using Ipc;
using Ipc.Native;

Console.Write(((TargetFrameworkAttribute)Attribute.GetCustomAttribute(typeof(NativeIpc).Assembly, typeof(TargetFrameworkAttribute))!).FrameworkName);
IIpc[] implementations = [ManagedIpc.Instance, NativeIpc.Instance];
foreach (var transport in new[] { "unix", "shm" })
{
    foreach (var serving in implementations)
    {
        using var server = new IpcServer($"{transport}://NAME", (request, reply) => request.CopyTo(reply.Reserve(request.Length)),
            new IpcServerOptions { Implementation = serving });
        foreach (var calling in implementations)
        {
            using var client = calling.Connect(server.Address, 1000);
            Console.Write($" {client.Call("EURUSD"u8, new byte[10], 1000)}");
        }
    }
}
PROGRAM
    dotnet build -c Release -o out -warnaserror -nologo || return 1
    said=$(timeout 60 dotnet out/older.dll) || true
    [ "$said" = ".NETStandard,Version=v2.0 6 6 6 6 6 6 6 6" ] || { echo "it said: $said"; return 1; }
}

build_queue() {
    make_program queue Ipc.Queues || return 1
    readme_program Ipc.Queues.md 1 | sed "s/orders/orders-$$/" >Program.cs
    cat >>Program.cs <<'PROGRAM'
using var subscriber = factory.CreateSubscriber(new QueueOptions("NAME", capacity: 1 << 20));
Console.Write(System.Text.Encoding.ASCII.GetString(subscriber.Dequeue(CancellationToken.None).ToArray()));
Ipc.ManagedIpc.RemoveQueue("queue://NAME");
PROGRAM
    sed -i "s/NAME/orders-$$/" Program.cs
    dotnet build -c Release -o out -warnaserror -nologo && [ "$(out/queue)" = "EURUSD" ]
}

build_host() {
    local hosting
    hosting=$(sed -n 's/.*"Microsoft.Extensions.Hosting" Version="\([^"]*\)".*/\1/p' "$root/Directory.Packages.props")
    make_program host Ipc.Hosting || return 1
    # The host itself, which an application chooses.
    dotnet add package Microsoft.Extensions.Hosting --version "$hosting" || return 1
    # Every mention of the name: a client with another address than its server's waits for one to come.
    {
        readme_program Ipc.Hosting.md 1 | sed "s/prices/host-$$/g"
        echo 'Console.Error.Write(System.Text.Encoding.ASCII.GetString(answer, 0, length));'
    } >Program.cs
    dotnet build -c Release -o out -warnaserror -nologo && [ "$(timeout 60 out/host 2>&1 >/dev/null)" = "EURUSD" ]
}

# build_web: Kestrel over shared memory, and a client that needs no ASP.NET Core.
build_web() {
    make_program web Ipc.AspNetCore || return 1
    readme_program Ipc.AspNetCore.md 1 | sed "s/prices/web-$$/" >Program.cs
    dotnet build -c Release -o out -warnaserror -nologo || return 1
    make_program browser Ipc || return 1
    readme_program Ipc.AspNetCore.md 2 | sed "s/prices/web-$$/" >Program.cs
    dotnet build -c Release -o out -warnaserror -nologo
}

# build_typed NAME PACKAGE: the program of a serializer's package, a server and a client in one.
build_typed() {
    make_program "$1" "$2" || return 1
    readme_program "$2.md" 1 | sed "s/prices\"/$1-$$\"/" >Program.cs
    dotnet build -c Release -o out -warnaserror -nologo && [ "$(timeout 60 "out/$1")" = "EURUSD 1.08" ]
}

# build_ahead_all: the packages above Ipc in one program, published ahead of time. Every member of theirs is compiled, whether the program uses it or
# not.
build_ahead_all() {
    local package said
    make_program everything Ipc.AspNetCore || return 1
    for package in Ipc.Hosting Ipc.Queues Ipc.MemoryPack Ipc.Protobuf; do dotnet add package "$package" --version "$version" --no-restore || return 1; done
    cat >Directory.Build.targets <<'PROJECT'
<Project>
  <PropertyGroup>
    <EnableConfigurationBindingGenerator>true</EnableConfigurationBindingGenerator>
    <EnableRequestDelegateGenerator>true</EnableRequestDelegateGenerator>
    <!-- Of Implementation and Serializer, which the program sets: docs/dotnet.md. -->
    <NoWarn>$(NoWarn);SYSLIB1100;SYSLIB1101</NoWarn>
  </PropertyGroup>
  <ItemGroup>
    <TrimmerRootAssembly Include="Ipc;Ipc.AspNetCore;Ipc.Hosting;Ipc.Queues;Ipc.MemoryPack;Ipc.Protobuf" />
  </ItemGroup>
</Project>
PROJECT
    sed "s/NAME/everything-$$/" >Program.cs <<'PROGRAM'
using Google.Protobuf.WellKnownTypes;
using Ipc;
using Ipc.AspNetCore;
using Ipc.Hosting;
using Ipc.Queues;
using MemoryPack;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

const string Name = "NAME";
var objects = new MemoryPackIpcSerializer().Register<Question>().Register<Answer>();
var messages = new ProtobufIpcSerializer(WrappersReflection.Descriptor);
var builder = WebApplication.CreateSlimBuilder(args);
builder.Configuration["Objects:Address"] = $"unix://{Name}-objects";
builder.Configuration["Messages:Address"] = $"shm://{Name}-messages";
builder.Services.AddInterprocessQueue();
builder.Services.AddIpcServer("objects", _ => objects.Handler<Question, Answer>((question, _) => new(new Answer(question.Name, 1.08))))
    .Bind(builder.Configuration.GetSection("Objects"));
builder.Services.AddIpcServer("messages", _ => messages.Handler<StringValue, DoubleValue>((_, _) => new(new DoubleValue { Value = 1.08 })))
    .Bind(builder.Configuration.GetSection("Messages"));
builder.Services.AddIpcClient("objects").Bind(builder.Configuration.GetSection("Objects")).Configure(options => options.Serializer = objects);
builder.Services.AddIpcClient("messages").Bind(builder.Configuration.GetSection("Messages")).Configure(options => options.Serializer = messages);
builder.WebHost.UseIpc();
builder.WebHost.ConfigureKestrel(kestrel => kestrel.ListenIpc($"shm://{Name}-web"));
await using var app = builder.Build();
app.MapGet("/{name}", (string name) => name == "EURUSD" ? "1.08" : "?");
await app.StartAsync();
var answer = await app.Services.GetRequiredKeyedService<IpcClient>("objects").CallAsync<Question, Answer>(new Question("EURUSD"));
var message = await app.Services.GetRequiredKeyedService<IpcClient>("messages").CallAsync<StringValue, DoubleValue>(new StringValue { Value = "EURUSD" });
using var web = new HttpClient(IpcHttp.CreateHandler($"shm://{Name}-web"));
Console.Error.Write($"{answer.Name} {answer.Price} {message.Value} {await web.GetStringAsync("http://localhost/EURUSD")}");
await app.StopAsync();

[MemoryPackable]
public partial record Question(string Name);

[MemoryPackable]
public partial record Answer(string Name, double Price);
PROGRAM
    dotnet publish -c Release -o ahead -p:PublishAot=true -nologo >published || { cat published && return 1; }
    # These two assemblies warn about themselves, in one line each; ours may not.
    if grep -E 'warning|error' published | grep -vE "Assembly '(MemoryPack.Core|Google.Protobuf)' produced"; then return 1; fi
    ls -l ahead/everything
    said=$(timeout 60 ahead/everything 2>&1 >/dev/null) || true
    [ "$said" = "EURUSD 1.08 1.08 1.08" ] || { echo "it said: $said"; return 1; }
}

# empty_folder: from nothing to the first answer. README's C server, compiled against an installed tree as pkg-config says, and README's C#
# client in a new console program. The seconds from `dotnet new` on go into from-nothing.
empty_folder() {
    local prefix=$work/prefix name=nothing-$$ answer= code=1 started server
    "$root/scripts/native.sh" release --target ipc ipc_static || return 1
    for component in runtime development; do cmake --install "$root/build/release" --prefix "$prefix" --component "$component" || return 1; done
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    # The server is ended by a signal, so the folder of its name goes with the test.
    export XDG_RUNTIME_DIR=$work/names
    mkdir -m 700 "$XDG_RUNTIME_DIR" || return 1
    started=$(date +%s%N)
    make_program nothing Ipc || return 1
    block "$root/README.md" c 1 | sed "s/prices\"/$name\"/" >prices_server.c
    # A package in place of the checkout.
    block "$root/README.md" csharp 2 | sed "/^#:project/d; s/prices\"/$name\"/" >Program.cs
    # shellcheck disable=SC2046
    cc prices_server.c -o prices_server $(pkg-config --cflags --libs ipc) || return 1
    dotnet build -c Release -o out -warnaserror -nologo || return 1
    ./prices_server >listening &
    server=$!
    until grep -q listening listening; do kill -0 "$server" || return 1; sleep 0.05; done
    answer=$(out/nothing) && code=0
    echo "$((($(date +%s%N) - started) / 100000000))" | sed 's/.$/.&/' >"$work/from-nothing"
    kill "$server"
    wait "$server" 2>/dev/null || true
    [ "$code" -eq 0 ] && [ "$answer" = "EURUSD 1.08" ] || { echo "the answer was '$answer', code $code"; return 1; }
}

# lab_tool: the lab from the folder feed, away from the source tree, measures a few cells with the programs it carries: both peers, the
# library that C# loads, the floors.
lab_tool() {
    mkdir "$work/lab" && cd "$work/lab" || return 1
    dotnet tool install Ipc.Lab --tool-path "$work/tool" --add-source "$root/artifacts/packages" --version "$version" || return 1
    env -u IPC_LIBRARY -u IPC_NATIVE_PEER -u IPC_MANAGED_PEER -u IPC_FLOORS "$work/tool/ipc" run --preset quick --transport shm --scenario call --codec custom \
        --workload table,1k-10k --launches 1 --seconds 0.1 --out results || return 1
    env -u IPC_LIBRARY "$work/tool/ipc" serve --side bound --scenario call --codec custom --workload 1k-10k --address "unix://lab-$$" --once >served &
    local server=$!
    until grep -qs "server at" served; do kill -0 "$server" || return 1; sleep 0.1; done
    "$work/tool/ipc" drive --side native --scenario call --codec custom --workload 1k-10k --address "unix://lab-$$" --seconds 0.1 && wait "$server" || return 1
    python3 - results/results.json "$work/tool" <<'PROGRAM'
import glob, hashlib, json, sys
results = json.load(open(sys.argv[1]))
statuses = [cell["status"] for cell in results["cells"]]
used = {binary["file"]: binary["sha256"] for binary in results["machine"]["binaries"]}
print(statuses, used)
assert len(statuses) >= 2 and not {"failed", "skipped"} & set(statuses)
for file in "ipc-peer", "ipc-floors", "Ipc.dll", "libipc.so":
    carried = glob.glob(f"{sys.argv[2]}/.store/**/programs/**/{file}", recursive=True)
    assert used[file] in [hashlib.sha256(open(path, "rb").read()).hexdigest() for path in carried], file
PROGRAM
}

# needs: what the packed programs and libraries for Linux need of a system is what docs/installing.md says.
needs() {
    local packages=$root/artifacts/packages family most
    mkdir "$work/unpacked" && cd "$work/unpacked" || return 1
    python3 -m zipfile -e "$packages/Ipc.Native.$version.nupkg" native && python3 -m zipfile -e "$packages/Ipc.Lab.$version.nupkg" lab || return 1
    for family in GLIBC GLIBCXX; do
        most=$(find . -type f \( -name '*.so*' -o -name ipc-peer -o -name ipc-floors \) -exec objdump -T {} + |
            grep 'UND' | grep -oE "\(${family}_[0-9.]+\)" | tr -d '()' | sort -uV | tail -n 1)
        echo "needed: $most"
        grep -qF "\`$most\`" "$root/docs/installing.md" || { echo "docs/installing.md, \"Older systems\", says something else" && return 1; }
    done
}

judge packages-need-what-is-said needs
judge packages-restore-and-build build_pair
judge packages-managed-and-native ask "$work/server/out/server" "$work/client/out/client"
judge packages-ahead-of-time build_ahead
judge packages-ahead-answers ask "$work/server/ahead/server" "$work/client/out/client"
judge packages-for-older-dotnet build_older
judge packages-queue build_queue
judge packages-host build_host
judge packages-web build_web
wanted=1.08 judge packages-web-answers ask "$work/web/out/web" "$work/browser/out/browser"
judge packages-memorypack build_typed objects Ipc.MemoryPack
judge packages-protobuf build_typed messages Ipc.Protobuf
judge packages-ahead-everything build_ahead_all
judge packages-empty-folder empty_folder
[ ! -f "$work/from-nothing" ] || echo "from an empty folder to the first answer: $(cat "$work/from-nothing") s"
judge packages-lab-tool lab_tool
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
