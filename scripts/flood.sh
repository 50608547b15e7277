#!/usr/bin/env bash
# Floods servers with bad clients, who leave, send garbage or say nothing, and prints what good clients among them see (connect and first call, p50
# and p99 before, during and after) and the server's descriptors and memory. Builds nothing. The last line is `N passed, N failed`.
#   scripts/flood.sh [CLIENTS] [SIDE...]      scripts/flood.sh 10000 native managed bound
# IPC_FLOOD_TRANSPORTS="unix shm" restricts the transports.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

clients=300
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    clients=$1
    shift
fi
sides=("$@")
[ "${#sides[@]}" -gt 0 ] || sides=(native managed bound)
read -ra transports <<<"${IPC_FLOOD_TRANSPORTS:-unix pipe tcp fifo shm shm-event}"
for side in "${sides[@]}"; do
    case $side in native | managed | bound) ;; *)
        echo "There is no side '$side': the sides are native, managed, bound." >&2
        exit 2
        ;;
    esac
done
tests=$root/build/release/bin/server_flood_tests
puppet=$root/artifacts/bin/Ipc.Puppet/release/Ipc.Puppet.dll
for needed in "$tests" "$puppet"; do
    if [ ! -e "$needed" ]; then
        echo "$needed is missing: run scripts/build.sh first." >&2
        exit 2
    fi
done
# Bad clients are held open by the process that makes them, and by the server.
ulimit -n "$(ulimit -Hn)"
# What was allocated once is collected after every 4 MB, so that a server's memory is what it keeps and not what nobody has collected yet.
export DOTNET_GCgen0size=400000
export IPC_LIBRARY=$root/build/release/lib/libipc.so IPC_FLOOD_CLIENTS=$clients

passed=0 failed=0
# flood SIDE TRANSPORT BADNESS, against a server of its own.
flood() {
    local side=$1 transport=$2 badness=$3 log=$logs/flood-$1-$2-$3.log code=0 server=
    local filter="Clients/FloodOf.IsNotNoticedByGoodOnes/${transport//-/_}_that_$badness"
    if [ "$side" != native ]; then
        local address="$transport://flood-$$-$badness"
        [ "$transport" != tcp ] || address=tcp://0
        coproc server_of_side { exec dotnet "$puppet" --side "$side" --echo "$address" 2>"$log.server"; }
        server=$server_of_side_PID
        read -r IPC_FLOOD_ADDRESS <&"${server_of_side[0]}"
        export IPC_FLOOD_ADDRESS IPC_FLOOD_PROCESS=$server
    fi
    "$tests" --gtest_filter="$filter" >"$log" 2>&1 </dev/null || code=$?
    if [ -n "$server" ]; then
        exec {server_of_side[1]}>&-
        wait "$server" || code=$?
        unset IPC_FLOOD_ADDRESS IPC_FLOOD_PROCESS
    fi
    echo "$side $transport, clients that ${badness//_/ }:"
    grep -E '^(before|during|after): |bad; |Failure|of the bad|descriptors' "$log" | sed 's/^/    /' || true
    if [ "$code" -eq 0 ] && grep -q '\[  PASSED  \] 1 test' "$log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "    failed; its whole log is $log"
    fi
}
for side in "${sides[@]}"; do
    for transport in "${transports[@]}"; do
        for badness in leave send_garbage say_nothing; do flood "$side" "$transport" "$badness"; done
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
