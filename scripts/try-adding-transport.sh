#!/usr/bin/env bash
# Walks docs/adding-a-transport.md: puts the files of that page into a copy of the tree, builds both languages there, and runs the conformance
# suite's messages, calls, closing and deaths over the new transport, every pair of sides. Takes some minutes. The last line is
# `N passed, N failed`.
#   scripts/try-adding-transport.sh [--build | --built]     --build: only builds, --built: only runs what was built so
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/count-tests.sh"
case ${1:-} in
    "" | --build | --built) ;;
    *) echo "usage: scripts/try-adding-transport.sh [--build | --built]" >&2; exit 2 ;;
esac
tree=$root/build/added-transport/tree

# What is in the folder, committed or not. A tree that was downloaded has no git.
copy_tree() {
    rm -rf "$tree" && mkdir -p "$tree"
    if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
        git -C "$root" ls-files -z --cached --others --exclude-standard | (cd "$root" && while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar --null -T - -cf -) | tar -C "$tree" -xf -
    else
        (cd "$root" && tar --exclude=./build --exclude=./artifacts --exclude=./nuget --exclude=node_modules --exclude=bin --exclude=obj -cf - .) |
            tar -C "$tree" -xf -
    fi
}

# The page's blocks: one of JSON is the registry's row, one that begins with a path is that file.
put_files() {
    python3 - "$tree" <<'PROGRAM'
import re, sys
from pathlib import Path
tree = Path(sys.argv[1])
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", (tree / "docs/adding-a-transport.md").read_text(), re.MULTILINE | re.DOTALL)
files = 0
for language, text in blocks:
    if language == "json":
        registry = tree / "registry.json"
        begin = '"transports": [\n'
        assert registry.read_text().count(begin) == 1
        registry.write_text(registry.read_text().replace(begin, begin + text.rstrip() + ",\n"))
    elif language in ("cpp", "csharp"):
        name, body = text.split("\n", 1)
        file = tree / name.removeprefix("// ")
        file.parent.mkdir(parents=True)
        file.write_text(body)
        files += 1
assert files == 2, files
PROGRAM
}

# The analyzers look at the new transport; build.sh has them look at the rest. The library is not optimised: what it does is looked at, not how fast.
build() {
    copy_tree && put_files || return 1
    cd "$tree"
    cmake --preset release -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -DIPC_PRECOMPILED_HEADERS=ON -DIPC_LAB=OFF \
        -DIPC_MODULES=OFF -DIPC_HOSTING=OFF &&
        scripts/native.sh release --target ipc ipc-test-puppet &&
        dotnet build managed/Ipc -c Release -nologo -v quiet &&
        dotnet build managed/tests/Ipc.Conformance.Tests -c Release -nologo -v quiet -p:RunAnalyzers=false &&
        dotnet run --project managed/Ipc.Distribution -c Release -v quiet
}

if [ "${1:-}" != --built ]; then
    begin_again_with_compiler "$@"
    "$root/scripts/bootstrap.sh"
    step added-transport-build build
fi
[ "${1:-}" != --build ] || exit 0

# What the page says follows from the registry's row alone.
grep -q 'example://' "$tree/docs/addresses.md"
test -x "$tree/distribution/examplebytessrv.sh"
classes='FullyQualifiedName~MessageTests|FullyQualifiedName~CallTests|FullyQualifiedName~ClosingTests|FullyQualifiedName~DeathTests'
root=$tree run_xunit Ipc.Conformance.Tests added-transport "system!=windows&DisplayName~\"example\"&($classes)"
[ "$failed" -gt 0 ] || rm -rf "$tree"
finish
