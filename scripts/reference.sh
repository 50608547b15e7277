#!/usr/bin/env bash
# Measures what the README's figures are taken from, and puts it where they are kept: results/reference (results.json, Markdown and charts),
# measurements.xlsx and measurements.MACHINE.htm at the root, and the README's tables. Run it on a quiet machine, after scripts/build.sh.
#   scripts/reference.sh MACHINE             measures (a quarter of an hour) under the name MACHINE, which everybody will read
#   scripts/reference.sh MACHINE --resume    goes on with a run that was interrupted
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

machine=${1:?name the machine for people, e.g. epyc-2cpu}
run=$root/results/reference.run
kept=$root/results/reference
case ${2:-} in
    "") rm -rf "$run"; arguments=(--preset reference --out "$run") ;;
    --resume) arguments=(--resume "$run") ;;
    *) echo "'$2' is not known; the only option is --resume" >&2; exit 2 ;;
esac
IPC_MACHINE=$machine "$root/scripts/ipc" run "${arguments[@]}"

mkdir -p "$kept"
rm -f "$kept"/measurements.* "$root"/measurements.*
# Without white space: it is for programs, and no file here is over 5 MB.
python3 -m json.tool --compact --no-ensure-ascii "$run/results.json" "$kept/results.json"
"$root/scripts/ipc" report "$kept" --out "$kept" --fill "$root/README.md"
mv "$kept/measurements.xlsx" "$kept"/measurements.*.htm "$root/"
echo "The figures are in README.md, results/reference, measurements.xlsx and measurements.$machine.htm: look at them, then commit."
