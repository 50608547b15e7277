#!/usr/bin/env bash
# The mixed-pair matrix of a built tree: every server side with every client side over the transports asked for, as one table of pairs per transport.
#   scripts/matrix.sh [TRANSPORTS] [further arguments of `ipc run`]
#   scripts/matrix.sh shm,unix --workload 1k-10k --codec custom
# SIDES=native,managed,bound,hosted says which sides meet.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

transports=shm,pipe,unix,tcp
case ${1:-} in '' | -*) ;; *) transports=$1; shift ;; esac

IFS=, read -r -a sides <<<"${SIDES:-native,managed,bound,hosted}"
pairs=
for server in "${sides[@]}"; do
    for client in "${sides[@]}"; do pairs+=${pairs:+,}$server:$client; done
done

out=results/matrix-$(date +%Y%m%d-%H%M%S)
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        --out=*) out=${1#--out=}; shift ;;
        *) arguments+=("$1"); shift ;;
    esac
done
case " ${arguments[*]:-} " in *" --workload"*) ;; *) arguments+=(--workload 1k-10k) ;; esac

code=0
"$root/scripts/ipc" run --transport "$transports" --pair "$pairs" --out "$out" "${arguments[@]}" >/dev/null || code=$?
if [ -f "$out/results.json" ]; then "$root/scripts/ipc" matrix "$out"; fi
exit "$code"
