#!/usr/bin/env bash
# Measures what the README's and docs/findings.md's figures are taken from, and puts it where they are kept: results/reference
# (results.json.gz, Markdown and charts), results/reference-wine where the Windows programs are built (scripts/windows-build.sh), measurements.xlsx and
# measurements.MACHINE.htm at the root, the README's tables and docs/findings.md. Run it on a quiet machine, after scripts/build.sh.
# It measures preset full, which takes two hours, some broadcasts for a minute, some claims for half an hour, and 2 minutes more under Wine.
#   scripts/reference.sh MACHINE             measures under the name MACHINE, which everybody will read
#   scripts/reference.sh MACHINE --resume    goes on with a run that was interrupted
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export IPC_MACHINE=${1:?name the machine for people, e.g. epyc-2cpu}
case ${2:-} in
    "") rm -rf "$root"/results/reference*.run ;;
    --resume) ;;
    *) echo "'$2' is not known; the only option is --resume" >&2; exit 2 ;;
esac

# measure KEPT COMMAND CELLS...: a run into results/KEPT.run, or on with the one that is there; its results, and nothing else, into results/KEPT.
measure() {
    local run=$root/results/$1.run kept=$root/results/$1 command=$2
    shift 2
    if [ -f "$run/results.json" ] || [ -f "$run/plan.json" ]; then
        "$command" run --resume "$run"
    else
        "$command" run "$@" --out "$run"
    fi
    mkdir -p "$kept"
    # Compressed: it is for programs, and no file here is over 5 MB. Without a time in it: the same results are the same bytes.
    gzip --best --no-name --stdout "$run/results.json" > "$kept/results.json.gz"
}

short=(--launches 6 --warmup 0.1 --seconds 0.15)
measure reference "$root/scripts/ipc" --preset full
# A slow client fills the ring first; the preset's launches are too short to show more of it than that.
# After the preset: of two runs a report takes the later one's figures.
measure reference-broadcast "$root/scripts/ipc" --transport 'broadcast,broadcast?policy=drop' --pair native:native,managed:managed --codec raw \
    --scenario broadcast-slow --workload oneway-32 --launches 6 --warmup 0.1 --seconds 0.3
# What six launches cannot decide: thirty of each, half an hour.
measure reference-claims "$root/scripts/ipc" \
    --claim managed-client,managed-server,pipes-beat-events,streaming,cloudtoid-time,cloudtoid-allocations
# And what they may not decide, where launches come in two placements.
measure reference-claims-more "$root/scripts/ipc" --claim lists-against-arrays,osipc-small,json-in-ping,socket-against-events
if [ -f "$root/artifacts/windows/Ipc.Lab/ipc-lab.exe" ]; then
    measure reference-wine "$root/scripts/ipc-windows" "${short[@]}" \
        --transport pipe,wm-copydata,msrpc-np,msrpc-alpc,msrpc-tcp --pair native:native --codec raw --scenario call --workload 0.1k-1k,1k-10k,50k-500k
else
    echo "The Windows programs are not built (scripts/windows-build.sh): results/reference-wine stays as it is."
fi

kept=$root/results/reference
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
rm -f "$kept"/measurements.* "$root"/measurements.*
mapfile -t runs < <(find "$root/results" -mindepth 2 -maxdepth 2 -path '*/reference*/results.json.gz' ! -path '*.run/*' -printf '%h\n' | sort)
"$root/scripts/ipc" report "${runs[@]}" --out "$made" --fill "$root/README.md" "$root/docs/findings.md"
# The workbook has every machine; pages and Markdown are kept of the one that the README speaks of.
mv "$made/measurements.xlsx" "$made/measurements.$IPC_MACHINE.htm" "$root/"
mv "$made/measurements.$IPC_MACHINE".{md,*.svg} "$kept/"
echo "The figures are in README.md, docs/findings.md, results/reference*, measurements.xlsx and measurements.$IPC_MACHINE.htm: look at them, then commit."
