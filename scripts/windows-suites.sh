# Sourced by test-windows.sh and test.sh after count-tests.sh: what is run under Wine once everything is built.

export WINEPREFIX=${WINEPREFIX:-$root/build/wine}

# What starts programs under Wine has fixed addresses itself, so that none of its programs has to ask for them (scripts/wine.sh).
fixed_addresses=()
! setarch -R true 2>/dev/null || fixed_addresses=(setarch -R)

# Calls over msrpc-tcp: under Wine one in some thousands stays unanswered (docs/windows.md, "Calls over MS-RPC's TCP"). So the native
# tests of it are a suite in which one that fails is tried twice more; of the conformance suite, which has thousands of such calls, they
# are left out (by hand: the filter 'DisplayName~msrpc-tcp').
native_over_msrpc_tcp='MsRpcWire|msrpc-tcp'
native_without_msrpc_tcp='-MsRpcWire.*:Sequences/MsRpc*/tcp' # the same tests, by the names that their programs know
without_msrpc_tcp='DisplayName!~msrpc-tcp'

# Whether a program of Wine's in our prefix is still there.
wine_leftovers() {
    local process
    for process in /proc/[0-9]*; do
        if { tr '\0' '\n' <"$process/environ" | grep -qxF "WINEPREFIX=$WINEPREFIX"; } 2>/dev/null &&
            { tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null | grep -qE "(ipc-peer|ipc-lab|ipc-test-puppet|Ipc\.Puppet|ipc-floors|_tests)[a-z-]*\.exe"; then
            echo "$(basename "$process"): $(tr '\0' ' ' <"$process/cmdline")"
        fi
    done
}

# cells_with FOLDER STATUS...: how many cells of a run have one of these statuses.
cells_with() {
    python3 -c 'import json, sys
cells = json.load(open(sys.argv[1] + "/results.json"))["cells"]
print(sum(cell["status"] in sys.argv[2:] for cell in cells))' "$@" 2>/dev/null || echo 0
}

# lab_suite SUITE OPTION...: a run of the lab under Wine that asks whether every cell works; every cell counts as a test.
lab_suite() {
    local suite=$1 code=0 ok bad
    # A cell takes one to two seconds; a busy machine twice that.
    local suite_limit=1200
    local out=$root/build/$suite log=$logs/test-$suite.log
    shift
    rm -rf "$out"
    run_limited "$log" "$root/scripts/ipc-windows" run --check --codec raw --out "$out" "$@" || code=$?
    ok=$(cells_with "$out" checked)
    bad=$(cells_with "$out" failed pending)
    account "$suite" "$ok" "$bad" 0 "$code" "$log"
}

begin_wine() {
    # Without a server that stays, every program would start one, and Wine's services with it. The first program with a window starts
    # explorer.exe, which stays until a second after the last program has ended. All of them keep the error output of whoever started them
    # open, and ctest waits for the end of a test's output until the test's time is over. So they are started here; and a cmd.exe that
    # waits for input as long as this script runs keeps explorer.exe.
    # A server that the build's last program has left does not take the order to stay; then the cmd.exe keeps it, too.
    /usr/lib/wine/wineserver -p >/dev/null 2>&1 || true
    tail -f /dev/null --pid=$$ 2>/dev/null | "$root/scripts/wine.sh" cmd >/dev/null 2>&1 &
    "$root/scripts/wine.sh" cmd /c exit >/dev/null 2>&1 </dev/null || true
    "$root/scripts/wine.sh" explorer /desktop >/dev/null 2>&1 </dev/null &
}

windows_native() {
    local within=("${fixed_addresses[@]}")
    GTEST_FILTER=$native_without_msrpc_tcp run_ctest windows-native windows-mingw "${whole_programs[@]}" --exclude-regex "$native_over_msrpc_tcp"
    run_ctest windows-native-msrpc-tcp windows-mingw --tests-regex "$native_over_msrpc_tcp" --repeat until-pass:3
}

windows_conformance() {
    local within=("${fixed_addresses[@]}")
    # One class more at a time than on Linux: a quarter of the time everybody waits for Wine's server to start or end a process.
    IPC_PUPPETS=wine run_xunit Ipc.Conformance.Tests windows-conformance "system!=linux&$without_msrpc_tcp" 3
}

windows_lab() {
    local within=("${fixed_addresses[@]}")
    local transports=pipe,tcp,shm,shm-event,mailslot,wm-copydata,com,msrpc-alpc,msrpc-np
    # Long payloads between every two sides are the conformance suite's; here each side plays them once.
    lab_suite windows-matrix --scenario call --workload 0.1k-1k --transport $transports \
        --pair native:native,native:managed,native:bound,managed:native,managed:managed,managed:bound,bound:native,bound:managed,bound:bound
    lab_suite windows-long --scenario call --workload 100k-1000k --transport $transports --pair native:native,managed:managed,bound:bound
    lab_suite windows-shuffled --scenario shuffled --workload 64 --transport $transports --pair native:native,managed:managed
    lab_suite windows-hosted --scenario call --workload 0.1k-1k --transport pipe,shm,com,msrpc-alpc --pair hosted:native,native:hosted,hosted:hosted
    lab_suite windows-ui --scenario ui-idle,ui-busy,ui-blocked --workload 0.1k-1k \
        --transport pipe,shm,wm-copydata --pair native:native,managed:managed,bound:bound
}

windows_leftovers() {
    local left
    suite_began=$SECONDS
    left=$(wine_leftovers)
    if [ -n "$left" ]; then
        echo "$left" >&2
        account windows-leftovers 0 1 0 1 /dev/null
    else
        account windows-leftovers 1 0 0 0 /dev/null
    fi
}

# windows_jobs CONFORMANCE-SUITE [BOOTSTRAP]: declares the jobs that build for Windows and run under Wine. CONFORMANCE-SUITE is the job that builds
# the conformance suite's program, BOOTSTRAP the one that runs windows-bootstrap.sh, if that has not been done.
windows_jobs() {
    local bootstrap=${2:-}
    end_more() { /usr/lib/wine/wineserver -k 2>/dev/null || true; }
    job build-windows-native compiler "$bootstrap" build build-windows-native "$root/scripts/native.sh" windows-mingw
    job build-windows-native-32-bit compiler "$bootstrap" build build-windows-native-32-bit "$root/scripts/native.sh" windows-mingw-x86
    job build-windows-managed msbuild "$1 $bootstrap" build build-windows-managed "$root/scripts/windows-build.sh" --managed
    job windows-begin wine build-windows-native begin_wine
    job windows-native 'suites wine' 'windows-begin build-windows-native' windows_native
    job windows-conformance 'suites wine' "windows-begin build-windows-native-32-bit build-windows-managed $1" windows_conformance
    # Beside the suites that follow: whether cells work does not depend on how fast, and most of the time one of its processes waits for Wine to start another.
    job windows-lab wine 'windows-native windows-conformance build-windows-managed' windows_lab
    # The last one that uses Wine.
    job windows-leftovers wine 'windows-native windows-conformance windows-lab' windows_leftovers
}
