#!/usr/bin/env bash
# Fails (exit code 1) if this tree slows a headline cell down. The commit to compare with is built in build/gate, and both trees are measured
# in turns, launch by launch, which is the only comparison that a machine with other users bears (docs/measurement.md).
#   scripts/bench-gate.sh [COMMIT] [ipc run options]      COMMIT: the last common one with main unless said; cells: preset quick unless said
#   scripts/bench-gate.sh HEAD~1 --transport shm --workload 64 --launches 10
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

commit=
if [ $# -gt 0 ] && [[ $1 != --* ]]; then
    commit=$1
    shift
fi
commit=${commit:-$(git -C "$root" merge-base HEAD main 2>/dev/null || true)}
if ! hash=$(git -C "$root" rev-parse --verify --quiet "${commit:-none}^{commit}"); then
    echo "There is no commit '${commit:-main}' to compare with: name one, e.g. scripts/bench-gate.sh HEAD~1" >&2
    exit 2
fi

base=$root/build/gate/$hash
if [ ! -f "$base/built" ]; then
    # An earlier one is not needed any more, and one half built is made anew.
    rm -rf "$root/build/gate"
    git -C "$root" worktree prune
    mkdir -p "$root/build/gate"
    step gate-checkout git -C "$root" worktree add --detach --force "$base" "$hash"
    step gate-build "$base/scripts/build.sh" Release
    touch "$base/built"
fi
step build-native "$root/scripts/native.sh" release
step build-solution "$root/scripts/with-compiler.sh" dotnet build "$root/ipc.sln" -c Release -nologo -v minimal

picked=("$@")
[ $# -gt 0 ] || picked=(--preset quick)
exec "$root/scripts/ipc" run "${picked[@]}" --against "$base" --out "$root/results/gate-$(date +%Y%m%d-%H%M%S)"
