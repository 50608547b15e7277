#!/usr/bin/env bash
# An external stopwatch held against the lab: README's C++ and C# programs, with a million calls in place of one, timed from outside by
# the shell, beside the mean that `ipc run` gives for messages of their size. By hand, on a quiet machine: it is a check of speed
# (docs/measurement.md, "An external stopwatch"). Ends with 1 where the two differ by more than a tenth.
#   scripts/stopwatch.sh [TRANSPORT...]      shm and unix when omitted; CALLS=1000000 says how many calls
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
calls=${CALLS:-1000000}
[ $# -gt 0 ] || set -- shm unix
[ -x "$root/build/release/bin/ipc-peer" ] || { echo "Build first: scripts/build.sh" >&2; exit 2; }

folder=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
cd "$folder"
export XDG_DATA_HOME=$folder # where dotnet keeps what it builds of single files
mkdir -m 700 names
export XDG_RUNTIME_DIR=$folder/names

# program FILE: README's block of that name.
program() {
    awk -v name="$1" '/^```/ { taking = 0 } taking { print } $0 == "// " name { taking = 1 }' "$root/README.md" |
        sed -e "s|\.\./ipc/|$root/|" -e 's|"shm://prices"|STOPWATCH_ADDRESS|'
}
program prices_server.cpp | sed 's|STOPWATCH_ADDRESS|argv[1]|; s|int main()|int main(int, char** argv)|' >server.cpp
program prices_client.cpp | sed 's|STOPWATCH_ADDRESS|argv[1]|; s|int main()|int main(int, char** argv)|
    s|^\( *\)std::cout << "EURUSD|\1for (long left = std::stol(argv[2]); left > 1; --left) prices.call("EURUSD", 1000);\n&|' >client.cpp
program prices_server.cs | sed 's|STOPWATCH_ADDRESS|args[0]|' >server.cs
program prices_client.cs | sed 's|STOPWATCH_ADDRESS|args[0]|
    s|^var length = \(.*\)$|for (var left = long.Parse(args[1]); left > 1; left--)\n    \1\n&|' >client.cs
grep -q 'left > 1' client.cpp && grep -q 'left > 1' client.cs || { echo "README's programs are not what this script expects" >&2; exit 2; }

native=$root/build/release
for role in server client; do
    c++ -std=c++20 -O2 -I"$root/native/include" $role.cpp -o $role.native -L"$native/lib" -lipc -Wl,-rpath,"$native/lib" -pthread
    step "build-stopwatch-$role" dotnet build -c Release $role.cs -o "$folder/$role.managed" -p:ArtifactsPath="$folder/artifacts"
done

# The C++ server ends when its standard input does: this end of a FIFO never does.
mkfifo held
exec {held}<>held

# timed COMMAND...: seconds, by the shell.
timed() {
    local TIMEFORMAT=%R
    { time "$@" >/dev/null; } 2>&1
}

# measure SIDE ADDRESS: nanoseconds of a call, from outside. Starting and connecting is what a process takes that makes one call.
measure() {
    local serve call few many less more
    if [ "$1" = native ]; then serve=(./server.native) call=(./client.native); else serve=(dotnet server.managed/server.dll) call=(dotnet client.managed/client.dll); fi
    taskset -c 0 "${serve[@]}" "$2" <&"$held" >listening &
    server=$!
    until grep -q listening listening 2>/dev/null; do sleep 0.1; done
    few=1 many=$calls
    less=$(timed taskset -c 1 "${call[@]}" "$2" "$few")
    more=$(timed taskset -c 1 "${call[@]}" "$2" "$many")
    # So few seconds are half a runtime's compiling: then the millions after the first.
    if awk "BEGIN { exit !($more - $less < 5) }"; then
        few=$calls many=$((4 * calls)) less=$more
        more=$(timed taskset -c 1 "${call[@]}" "$2" "$many")
    fi
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null || true
    server=
    rm -f listening
    awk "BEGIN { printf \"%.1f\", ($more - $less) / ($many - $few) * 1e9 }"
}

# lab TRANSPORT SIDE: the mean of the lab's headline, in nanoseconds; of the smallest calls, which the prices are, too.
lab() {
    "$root/scripts/ipc" run --transport "$1" --pair "$2:$2" --workload ping --codec raw --seconds 1 --pin 0,1 \
        --out "lab-$1-$2" >lab.log 2>&1 || {
        cat lab.log >&2
        return 1
    }
    figure() { grep -m 1 "\"$1\"" "$2" | tr -dc '0-9.'; }
    echo "$(figure mean_ns "lab-$1-$2/results.json") $(figure clock_ns "lab-$1-$2/results.json")"
}

code=0
for transport in "$@"; do
    for side in native managed; do
        read -r ours clock <<<"$(lab "$transport" "$side")"
        theirs=$(measure "$side" "$transport://stopwatch")
        # Every sample of the lab has one reading of the clock in it; the stopwatch has none.
        awk -v what="$transport $side:$side" -v ours="$ours" -v theirs="$theirs" -v clock="$clock" 'BEGIN {
            ratio = (theirs + clock) / ours; good = ratio > 0.9 && ratio < 1.1
            printf "%-24s lab %9.1f ns   stopwatch %9.1f ns and a clock read %5.1f ns   ratio %.3f%s\n", what, ours, theirs, clock, ratio, good ? "" : "   NOT within a tenth"
            exit !good }' || code=1
    done
done
exit $code
