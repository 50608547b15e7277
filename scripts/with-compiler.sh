#!/usr/bin/env bash
# Runs a command that builds C# projects with one compiler for all of them, which ends with the command: a compiler for each, which the other scripts
# have asked for so that none outlives them, takes more than twice as long.
#   scripts/with-compiler.sh COMMAND...
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Of the SDK that builds here: global.json names it.
compiler() {
    local version
    version=$(cd "$root" && dotnet --version) || return 1
    dotnet --list-sdks | sed -n "s|^$version \[\(.*\)\]\$|\1/$version/Roslyn/bincore/VBCSCompiler|p"
}

# Inside another one of these there is one; before bootstrap.sh there may be no SDK yet.
if [ -n "${IPC_COMPILER:-}" ] || ! IPC_COMPILER=$(compiler 2>/dev/null) || [ ! -x "$IPC_COMPILER" ] || ! command -v setpriv >/dev/null; then
    export IPC_COMPILER=${IPC_COMPILER:-none}
    exec "$@"
fi

export IPC_COMPILER UseSharedCompilation=true SharedCompilationId=ipc-compiler-$$
# It ends also if this script is killed. Without diagnostics it leaves no pipes of the debugger's behind.
DOTNET_EnableDiagnostics=0 setpriv --pdeathsig TERM "$IPC_COMPILER" "-pipename:$SharedCompilationId" >/dev/null 2>&1 </dev/null &
process=$!
pipe=${TMPDIR:-/tmp}/$SharedCompilationId
end_compiler() {
    kill "$process" 2>/dev/null
    wait "$process" 2>/dev/null
    rm -f "$pipe"
}
trap end_compiler EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# Who finds none would start another.
for _ in {1..100}; do
    [ ! -e "$pipe" ] || break
    kill -0 "$process" 2>/dev/null || break
    sleep 0.1
done
"$@"
