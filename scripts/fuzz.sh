#!/usr/bin/env bash
# Builds the fuzzers and runs each for so many seconds (10 unless said), or those named, one on each processor. What they have found worth
# keeping stays in build/fuzz/corpus; a finding is told with the command that plays it again. The last line is `N passed, N failed`.
#   scripts/fuzz.sh [SECONDS] [NAME...]      scripts/fuzz.sh 600 call-order stopped-peer; --build builds only
# IPC_FUZZ_TRANSPORT=shm restricts what has a transport to one; IPC_FUZZ_WITHOUT=free,poll leaves steps out while a fault is known.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/packages.sh"

seconds=10
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
fi
install_packages install-fuzz-packages clang-14 libclang-rt-14-dev

if [ "${1:-}" = --build ]; then exec "$root/scripts/native.sh" fuzz --target fuzzers; fi
step build-fuzzers "$root/scripts/native.sh" fuzz --target fuzzers
folder=$root/build/fuzz
all=()
for program in "$folder"/bin/fuzz-*; do all+=("$(basename "${program#"$folder/bin/fuzz-"}")"); done
names=("$@")
[ "${#names[@]}" -gt 0 ] || names=("${all[@]}")
for name in "${names[@]}"; do
    if [ ! -x "$folder/bin/fuzz-$name" ]; then
        echo "There is no fuzzer '$name': the fuzzers are ${all[*]}." >&2
        exit 2
    fi
done

passed=0 failed=0
# What runs now must not outlive this script; and its children, which it may have stopped, go with it.
declare -A name_of started
end_fuzzers() {
    local process
    for process in "${!name_of[@]}"; do kill -- "-$process" 2>/dev/null || true; done
}
trap end_fuzzers EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

begin() {
    local name=$1 seed
    local corpus=$folder/corpus/$name findings=$folder/findings
    mkdir -p "$corpus" "$findings"
    local seeds=()
    for seed in "$root/native/fuzz/corpus/$name" "$root/native/tests/golden"; do
        case $seed:$name in
            */golden:custom-* | */golden:flat-buffers-* | */golden:json-* | */golden:protobuf-*) seeds+=("$seed") ;;
            */golden:*) ;;
            *) [ ! -d "$seed" ] || seeds+=("$seed") ;;
        esac
    done
    # The fuzzers of steps decode four bytes for each: longer inputs only take longer.
    local options=(-max_total_time="$seconds" -timeout=60 -artifact_prefix="$findings/$name-" -print_final_stats=1)
    case $name in
        custom-* | flat-buffers-* | json-* | protobuf-* | frames) ;;
        *) options+=(-len_control=0 -max_len=250) ;;
    esac
    set -m
    "$folder/bin/fuzz-$name" "${options[@]}" "$corpus" "${seeds[@]}" >"$logs/fuzz-$name.log" 2>&1 </dev/null &
    set +m
    name_of[$!]=$name started[$name]=$SECONDS
}

# Waits for one of them to end, and tells what it found.
end() {
    local code=0 process name log runs input
    wait -n -p process || code=$?
    name=${name_of[$process]}
    unset "name_of[$process]"
    log=$logs/fuzz-$name.log
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        echo "fuzz-$name: nothing found in $((SECONDS - started[$name])) s, ${runs:-0} inputs"
        return
    fi
    failed=$((failed + 1))
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    {
        echo "fuzz-$name: a finding after $((SECONDS - started[$name])) s; its whole log is $log"
        grep -E -- '---- FINDING|ERROR: (AddressSanitizer|LeakSanitizer)|runtime error:|SUMMARY:' "$log" | head -n 5 || true
        [ -z "$input" ] || echo "Play it again: IPC_FUZZ_TRACE=1 build/fuzz/bin/fuzz-$name ${input#"$root/"}"
    } >&2
}

for name in "${names[@]}"; do
    begin "$name"
    [ "${#name_of[@]}" -lt "$(nproc)" ] || end
done
while [ "${#name_of[@]}" -gt 0 ]; do end; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
