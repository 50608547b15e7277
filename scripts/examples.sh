#!/usr/bin/env bash
# Builds the examples and runs one, or all of them and compares what they say with what they should say.
#   scripts/examples.sh NAME         runs one: prices, jobs, event-loop, publish, work-queue, python, grpc (--built after it: without building)
#   scripts/examples.sh              runs all and checks them; the last line is `N passed, N failed`
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_again_with_compiler "$@"
cd "$root"

build_native() {
    "$root/scripts/native.sh" release --target ipc ipc_static || return 1
    # As a program elsewhere would: against the installed library.
    cmake --install build/release --prefix "$root/build/examples/prefix" || return 1
    cmake -S examples -B build/examples/native -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$root/build/examples/prefix" || return 1
    cmake --build build/examples/native
}

build_managed() {
    local project
    for project in examples/*/*.csproj; do dotnet build "$project" -c Release -nologo -v quiet || return 1; done
}

examples=(prices jobs event-loop publish work-queue python grpc)
wanted=${1:-}
if [ -n "$wanted" ] && [[ " ${examples[*]} " != *" $wanted "* ]]; then
    echo "There is no example '$wanted': the examples are ${examples[*]}." >&2
    exit 2
fi
if [ "${2:-}" != --built ]; then
    step build-examples-native build_native
    step build-examples-managed build_managed
fi
native=$root/build/examples/native
managed() { "$root/artifacts/bin/$1/release/$1" "${@:2}"; }

# Names of this run, so that two may run at once.
name=example-$$
servers=()
# serve COMMAND...: a server that ends when its standard input does; returns once it serves.
serve() {
    coproc SERVER { "$@"; }
    servers+=("$SERVER_PID")
    read -r -t 20 -u "${SERVER[0]}" _
}
end_server() {
    eval "exec ${SERVER[1]}>&-"
    wait "$SERVER_PID"
}
trap 'for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done; rm -f "${log:-}"' EXIT

run_prices() {
    serve "$native/prices_server" "shm://$name"
    managed prices-client "shm://$name" "EURUSD bid" "USDJPY ask" "EURUSD low"
    end_server
}
said_prices='EURUSD bid: 1.0842
USDJPY ask: 151.23
EURUSD low: the server'\''s handler failed: no column low'

run_jobs() {
    serve managed jobs-service "unix://$name"
    "$native/jobs_client" "unix://$name"
    end_server
}
said_jobs='job 1 is done
job 2 is cancelled
the server'\''s handler failed: no job 99'

run_event_loop() {
    serve managed notices-service "unix://$name"
    "$native/window" "unix://$name"
    end_server
}
said_event_loop='build started
tests passed
packages made
the window was drawn meanwhile'

run_publish() {
    local subscribers=() i
    for i in $(seq 9); do
        managed subscriber "broadcast://$name" &
        subscribers+=($!)
    done
    managed subscriber "broadcast://$name?policy=drop" 5 &
    subscribers+=($!)
    "$native/publisher" "broadcast://$name?size=64k" 10 5000
    wait "${subscribers[@]}"
}
said_publish='published 5000 messages to 10 subscribers
received all 5000
received all 5000
received all 5000
received all 5000
received all 5000
received all 5000
received all 5000
received all 5000
received all 5000
received and missed 5000'

# One worker is killed while it works; another does the rest. Of 40 orders at most the one in the killed worker's hands is lost.
run_work_queue() {
    local worker done_by_both
    managed producer "queue://$name" 40
    log=$(mktemp)
    "$native/worker" "queue://$name" 20 >"$log" &
    worker=$!
    while [ "$(wc -l <"$log")" -lt 5 ]; do sleep 0.02; done
    kill -KILL $worker
    wait $worker 2>/dev/null || true
    "$native/worker" "queue://$name" >>"$log"
    done_by_both=$(sort -u "$log" | wc -l)
    if [ "$done_by_both" -ge 39 ] && [ "$done_by_both" -eq "$(wc -l <"$log")" ]; then
        echo "none done twice, none lost but what the killed worker held"
    else
        echo "$done_by_both orders of 40 done, $(wc -l <"$log") lines"
    fi
    rm -f "$log"
    managed producer "queue://$name" remove
}
said_work_queue='none done twice, none lost but what the killed worker held'

run_python() {
    serve "$native/prices_server" "unix://$name"
    python3 examples/python/client.py "$name" "USDJPY bid" "nothing"
    end_server
}
said_python='USDJPY bid: 151.21
nothing: no row nothing'

run_grpc() {
    serve managed grpc serve "shm://$name"
    managed grpc ask "shm://$name" EURUSD
    end_server
}
said_grpc='EURUSD 1.08
EURUSD now 1.08
EURUSD now 1.09
EURUSD now 1.10
no price of nothing'

# The order of what several processes print is not the example's.
check() {
    local said wanted
    said=$(timeout 60 "$0" "$1" --built 2>&1) || true
    wanted=said_${1//-/_}
    if [ "$(sort <<<"$said")" = "$(sort <<<"${!wanted}")" ]; then
        echo "$1: ok"
        return 0
    fi
    printf '%s: failed. It should have said\n%s\nand said\n%s\n' "$1" "${!wanted}" "$said"
    return 1
}

if [ -n "$wanted" ]; then
    "run_${wanted//-/_}"
    exit
fi
passed=0 failed=0
for example in "${examples[@]}"; do
    if check "$example"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
