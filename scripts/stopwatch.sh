#!/usr/bin/env bash
# An external stopwatch held against the lab: README's C++ and C# programs, with millions of calls in place of one, timed from outside by
# the shell, beside the mean that `ipc run` gives for messages of their size. The machine's speed changes from one minute to the next, so the two
# take turns: a launch of the lab, the stopwatch, a launch of the lab, ... Each stopwatch is held against the mean of the launches right before and
# right after it, and the median of these ratios is judged. By hand, on a quiet machine: it is a check of speed
# (docs/measurement.md, "An external stopwatch"). Ends with 1 where the two differ by more than a tenth.
#   scripts/stopwatch.sh [TRANSPORT...]      shm and unix when omitted
# SECONDS_OF_CALLS=1.5 says how long one takes, ROUNDS=9 how often, SIDES="native managed" of what.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
seconds=${SECONDS_OF_CALLS:-1.5}
rounds=${ROUNDS:-9}
read -r -a sides <<<"${SIDES:-native managed}"
# A runtime that may use one processor waits in another way than on a machine with several; the lab's peers start first and are pinned then.
export DOTNET_PROCESSOR_COUNT=$(nproc)
[ $# -gt 0 ] || set -- shm unix
[ -x "$root/build/release/bin/ipc-peer" ] || { echo "Build first: scripts/build.sh" >&2; exit 2; }

# A mean has in it whatever interrupted the calls: on a busy machine the two need not agree.
read -r load _ </proc/loadavg
if awk "BEGIN { exit !($load > 1) }"; then echo "Other programs are running (load average $load): end them, or the means will differ by what they take" >&2; fi

folder=$(mktemp -d)
end() {
    # The stopwatch runs in a subshell, which leaves the number of its server here.
    [ ! -f "$folder/server.pid" ] || kill "$(cat "$folder/server.pid")" 2>/dev/null || true
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
    local serve call few=1000 many less more server
    if [ "$1" = native ]; then
        serve=(./server.native) call=(./client.native)
    else
        serve=(dotnet server.managed/server.dll) call=(dotnet client.managed/client.dll)
    fi
    taskset -c 0 "${serve[@]}" "$2" <&"$held" >listening &
    server=$!
    echo $server >server.pid
    until grep -q listening listening 2>/dev/null; do sleep 0.1; done
    # So many calls as take seconds: what a runtime spends compiling at first is then nothing beside them.
    less=$(timed taskset -c 1 "${call[@]}" "$2" 1)
    more=$less
    while awk "BEGIN { exit !($more - $less < 0.5) }"; do
        few=$((10 * few))
        more=$(timed taskset -c 1 "${call[@]}" "$2" "$few")
    done
    many=$(awk "BEGIN { printf \"%d\", $seconds * $few / ($more - $less) }")
    more=$(timed taskset -c 1 "${call[@]}" "$2" "$many")
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null || true
    rm -f listening server.pid
    awk "BEGIN { printf \"%.1f\", ($more - $less) / ($many - 1) * 1e9 }"
}

# lab TRANSPORT SIDE: the mean of one launch, the clock's reading and a cache line's round trip, in nanoseconds; of the smallest calls, which the
# prices are, too. Nothing where the launch has no figures (the host moved the processors, or it had not settled).
lab() {
    rm -rf lab
    "$root/scripts/ipc" run --transport "$1" --pair "$2:$2" --workload ping --codec raw --launches 1 --seconds 1 --pin 0,1 --out lab >lab.log 2>&1 || {
        cat lab.log >&2
        return 1
    }
    figure() { { grep -m 1 "\"$1\": [0-9]" lab/results.json || true; } | tr -dc '0-9.'; }
    local mean
    mean=$(figure mean_ns)
    [ -z "$mean" ] || echo "$mean $(figure clock_ns) $(figure line_ns)"
}

# take_rounds TRANSPORT SIDE: a line for each round that counts: its ratio, the lab's mean and the stopwatch's time. Rounds between two launches of the
# lab that are more than a quarter apart, or whose processors lay otherwise, are made again, as often as there are rounds at most: there is nothing to hold
# their stopwatch against.
take_rounds() {
    local before after theirs made=0 counted=0
    before=$(lab "$1" "$2")
    while [ $counted -lt "$rounds" ] && [ $made -lt $((2 * rounds)) ]; do
        theirs=$(measure "$2" "$1://stopwatch")
        after=$(lab "$1" "$2")
        made=$((made + 1))
        if awk -v before="$before" -v after="$after" -v theirs="$theirs" 'BEGIN {
            if (split(before, a, " ") < 2 || split(after, b, " ") < 2) exit 1
            if (a[1] > 1.25 * b[1] || b[1] > 1.25 * a[1]) exit 1
            # What takes this little is mostly cache lines: the host moved the processors meanwhile.
            if (a[1] < 5000 && (a[3] > 1.25 * b[3] || b[3] > 1.25 * a[3])) exit 1
            ours = (a[1] + b[1]) / 2
            printf "%.4f %.1f %.1f %.1f %.0f %.0f\n", (theirs + a[2]) / ours, ours, theirs, a[2], a[3], b[3] }'; then
            counted=$((counted + 1))
        fi
        before=$after
    done
}

code=0
for transport in "$@"; do
    for side in "${sides[@]}"; do
        take_rounds "$transport" "$side" >rounds
        sort -n rounds | awk -v what="$transport $side:$side" -v wanted="$rounds" '
            { ratio[NR] = $1; ours[NR] = $2; theirs[NR] = $3; clock = $4; lines = lines sprintf(" %s-%s", $5, $6) }
            function middle(of, i, j, t, n, v) {
                n = NR
                for (i = 1; i <= n; i++) v[i] = of[i]
                for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
                return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
            }
            END {
                if (NR < 3) {
                    printf "%-24s only %d of %d rounds stood between two like launches of the lab: the machine is too restless\n", what, NR, wanted
                    exit 1
                }
                m = middle(ratio); good = m > 0.9 && m < 1.1
                printf "%-24s lab %9.1f ns   stopwatch %9.1f ns and a clock read %5.1f ns   ratio %.3f (%.3f to %.3f in %d rounds)%s\n",
                    what, middle(ours), middle(theirs), clock, m, ratio[1], ratio[NR], NR, good ? "" : "   NOT within a tenth"
                printf "%-24s a cache line there and back before and after each, in ns:%s\n", "", lines
                exit !good
            }' || code=1
    done
done
exit $code
