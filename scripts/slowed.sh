#!/usr/bin/env bash
# Whether `ipc run --against` finds a transport that is slower by a tenth, and blames no other: real peers, over one of whose transports every call is
# followed by a tenth of its own time. By hand, on a quiet machine (docs/measurement.md, "Comparing two runs"); takes two to three minutes. Ends with 1 where
# the slowed transport is not named or another one is.
# Large messages over shared memory, whose time hardly notices two more readings of the clock; where processes sleep, a tenth later may wake them much later.
#   scripts/slowed.sh [TRANSPORT] [further arguments of `ipc run`]      shm when omitted; PERCENT=10 says by how much, BESIDE=unix,pipe what else is measured
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
slowed=shm
if [ $# -gt 0 ] && [[ $1 != --* ]]; then
    slowed=$1
    shift
fi
[ -x "$root/build/release/bin/ipc-peer" ] || { echo "Build first: scripts/build.sh" >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Before the library: the process calls these, and they call it.
cat >"$folder/slow.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ipc/ipc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static ipc_status (*call_of_library)(ipc_channel*, const void*, size_t, void*, size_t, size_t*, int32_t);
static int slow;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

ipc_status IPC_CALL ipc_connect(const char* address, int32_t timeout_ms, ipc_channel** channel) {
    ipc_status (*connect_of_library)(const char*, int32_t, ipc_channel**) = (ipc_status(*)(const char*, int32_t, ipc_channel**))dlsym(RTLD_NEXT, "ipc_connect");
    call_of_library = (ipc_status(*)(ipc_channel*, const void*, size_t, void*, size_t, size_t*, int32_t))dlsym(RTLD_NEXT, "ipc_call");
    const size_t length = strcspn(address, ":");
    slow = length == strlen(getenv("SLOWED")) && memcmp(address, getenv("SLOWED"), length) == 0;
    return connect_of_library(address, timeout_ms, channel);
}

ipc_status IPC_CALL ipc_call(ipc_channel* channel, const void* request, size_t length, void* reply, size_t room, size_t* reply_length, int32_t timeout_ms) {
    if (!slow) return call_of_library(channel, request, length, reply, room, reply_length, timeout_ms);
    const long long begin = now();
    const ipc_status status = call_of_library(channel, request, length, reply, room, reply_length, timeout_ms);
    const long long end = now();
    const long long until = end + (end - begin) * PERCENT / 100;
    while (now() < until) {}
    return status;
}
C
cc -std=c11 -O2 -shared -fPIC -DPERCENT="${PERCENT:-10}" -I"$root/native/include" "$folder/slow.c" -o "$folder/slow.so" -ldl

# A tree of links to this one, whose native peer is slowed.
tree=$folder/tree
mkdir -p "$tree/build/release/bin"
for file in "$root"/*; do
    case ${file##*/} in build) ;; *) ln -s "$file" "$tree/${file##*/}" ;; esac
done
ln -s "$root/build/release/lib" "$tree/build/release/lib"
for file in "$root"/build/release/bin/*; do ln -s "$file" "$tree/build/release/bin/${file##*/}"; done
rm "$tree/build/release/bin/ipc-peer"
printf '#!/bin/sh\nSLOWED=%s LD_PRELOAD=%s exec %s "$@"\n' "$slowed" "$folder/slow.so" "$root/build/release/bin/ipc-peer" >"$tree/build/release/bin/ipc-peer"
chmod +x "$tree/build/release/bin/ipc-peer"

picked=("$@")
[ $# -gt 0 ] || picked=(--pair native:native --codec raw --scenario call --workload 10k-100k,100k-1000k --launches 16 --seconds 0.1 --warmup 0.1)
"$root/scripts/ipc" run --transport "$slowed,${BESIDE:-unix,pipe}" "${picked[@]}" --against "$tree" --out "$folder/results"
"$root/scripts/ipc" compare "$folder/results" --json >"$folder/verdicts.json" || true

# The slowed tree is the base, so that the new one is the faster.
wrong=$(python3 - "$folder/verdicts.json" "$slowed" <<'P'
import json, sys
verdicts = json.load(open(sys.argv[1]))["transports"]
for verdict in verdicts:
    wanted = "faster" if verdict["transport"] == sys.argv[2] else "no difference"
    if verdict["verdict"] != wanted:
        print(f"{verdict['transport']} should show '{wanted}' and shows '{verdict['verdict']}', ratio {verdict['ratio']:.3f}")
if sys.argv[2] not in [verdict["transport"] for verdict in verdicts]:
    print(f"{sys.argv[2]} was not compared")
P
)
if [ -n "$wrong" ]; then
    echo "$wrong" >&2
    exit 1
fi
echo "found: $slowed, and nothing else"
