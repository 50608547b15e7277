#!/usr/bin/env bash
# Walks docs/adding-a-transport.md: puts the files of that page into a copy of the tree, builds both languages there, and runs the conformance
# suite's calls and messages over the new transport, every pair of sides. Takes some minutes. The last line is `N passed, N failed`.
#   scripts/try-adding-transport.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/count-tests.sh"
"$root/scripts/bootstrap.sh"

copy=$root/build/added-transport
rm -rf "$copy/tree"
mkdir -p "$copy/tree"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 -I{} sh -c 'test ! -e "{}" || printf "%s\0" "{}"' | tar --null -T - -cf -) | tar -C "$copy/tree" -xf -

# The page's blocks: one of JSON is the registry's row, one that begins with a path is that file.
python3 - "$copy/tree" <<'PROGRAM'
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

cd "$copy/tree"
step added-native scripts/native.sh release --target ipc ipc-test-puppet
step added-managed dotnet build managed/tests/Ipc.Conformance.Tests -c Release -nologo -v quiet
step added-follows dotnet run --project managed/Ipc.Distribution -c Release -v quiet
root=$copy/tree run_xunit Ipc.Conformance.Tests added-transport 'system!=windows&(FullyQualifiedName~MessageTests|FullyQualifiedName~CallTests|FullyQualifiedName~ClosingTests|FullyQualifiedName~DeathTests)&DisplayName~"example"'
grep -q 'example://' docs/addresses.md
test -x distribution/examplebytessrv.sh
finish
