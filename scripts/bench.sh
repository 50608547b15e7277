#!/usr/bin/env bash
# The micro-benchmarks: every step of a message by itself, native (Google Benchmark) and managed (BenchmarkDotNet). Transports
# are compared by `scripts/ipc run`; this is for finding out where their time goes (docs/experiments.md).
#   scripts/bench.sh [native|managed] [that program's own arguments]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
which=${1:-all}
shift || true
case $which in all | native | managed) ;; *)
    echo "The micro-benchmarks are native or managed, not '$which'." >&2
    exit 2
    ;;
esac

"$root/scripts/bootstrap.sh"
"$root/scripts/build.sh" Release
if [ "$which" != managed ]; then "$root/build/release/bin/ipc-benchmarks" "$@"; fi
if [ "$which" != native ]; then dotnet "$root/artifacts/bin/Ipc.Benchmarks/release/Ipc.Benchmarks.dll" "$@"; fi
