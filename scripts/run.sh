#!/usr/bin/env bash
# From a clean clone to measured results: bootstrap, build, then `ipc run` with the quick preset into results/<time>.
# Arguments are those of `ipc run`; --preset and --out given here replace the defaults.
#   scripts/run.sh [--transport shm,pipe] [--pair native:managed] ...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/bootstrap.sh"
"$root/scripts/build.sh" Release

out=$root/results/$(date +%Y%m%d-%H%M%S)
preset=(--preset quick)
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        --out=*) out=${1#--out=}; shift ;;
        --preset | --preset=*) preset=(); arguments+=("$1"); shift ;;
        *) arguments+=("$1"); shift ;;
    esac
done

code=0
"$root/scripts/ipc" run "${preset[@]}" --out "$out" "${arguments[@]}" || code=$?
if [ -d "$out" ]; then echo "Results are in $out"; fi
exit "$code"
