#!/usr/bin/env bash
# Builds everything for Windows on Linux: native by mingw-w64 into build/windows-mingw, the managed programs with their own
# runtime into artifacts/windows/<project>. Run scripts/windows-bootstrap.sh before.
#   scripts/windows-build.sh [--managed]      --managed: only those, into artifacts/windows
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_again_with_compiler "$@"

publish() {
    local project
    # One after the other: they share references, whose intermediate files two builds would write at once.
    for project in managed/Ipc.Lab managed/Ipc.Peer managed/tests/Ipc.Puppet; do
        # The analyzers look at the same files in build.sh.
        dotnet publish "$root/$project" -c Release -f net10.0 -r win-x64 --self-contained -p:RunAnalyzers=false \
            -o "$root/artifacts/windows/$(basename "$project")" -nologo -v quiet || return 1
    done
}

case ${1:-} in
    '') ;;
    --managed)
        publish
        exit
        ;;
    *)
        echo "The only option is --managed, not '$1'." >&2
        exit 2
        ;;
esac
step build-windows-native "$root/scripts/native.sh" windows-mingw
step build-windows-native-32-bit "$root/scripts/native.sh" windows-mingw-x86 # run where Wine can: README, "Where it has run"
step build-windows-managed publish
