# Sourced by test.sh: runs one suite at a time, reads its counts from the XML it leaves, and keeps the totals.
# A suite that ends badly, leaves no counts or ran nothing counts as one failure, so that silence is never success.

passed=0 failed=0 skipped=0

# Longest time a suite may take, in seconds: a hanging test must not hang the build machine.
suite_limit=1800

# VSTest talks to its test host over the loopback interface, which a fresh container or chroot may have down.
bring_loopback_up() {
    local flags
    flags=$(cat /sys/class/net/lo/flags 2>/dev/null || echo 0x1)
    if (((flags & 1) == 0)); then
        if [ "$(id -u)" -ne 0 ] || ! ip link set lo up; then
            echo "The loopback interface is down and the tests need it. As root run: ip link set lo up" >&2
            exit 1
        fi
    fi
}

# When the suite that runs now began, for the line with its counts.
suite_began=$SECONDS
# Its process, so that it does not outlive this script when somebody stops it.
suite_process=
# What else has to go then: windows-suites.sh adds Wine's server.
end_more() { :; }
end_suite() {
    # A second signal would end this half-way.
    trap '' INT TERM
    [ -z "$suite_process" ] || kill "$suite_process" 2>/dev/null || true
    end_more
}
trap end_suite EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A command, with options, that the suite is to run within; none as a rule.
within=()

# run_limited LOG COMMAND...: timeout gives the suite a process group of its own and ends all of it.
run_limited() {
    local log=$1 code=0
    shift
    suite_began=$SECONDS
    timeout --kill-after=10 "$suite_limit" "${within[@]}" "$@" >"$log" 2>&1 </dev/null &
    suite_process=$!
    wait "$suite_process" || code=$?
    suite_process=
    return "$code"
}

# attribute FILE ELEMENT NAME: a number from the first such element, 0 if it is not there.
attribute() {
    local element value
    element=$(tr '\n' ' ' <"$1" | grep -o "<$2 [^>]*>" | head -n 1 || true)
    value=$(grep -o "[[:space:]]$3=\"[0-9]*\"" <<<"$element" | head -n 1 | tr -dc '0-9' || true)
    echo "${value:-0}"
}

# What failed and what it said, as ctest and xunit print it, with the last lines of both puppets of a case of the conformance suite; the
# end of the log when it holds neither. Of a native test program that failed as a whole, what its passed tests printed is left out; a test that
# has neither passed nor failed was the program's last.
tell_failures() {
    local told
    told=$(awk '
        function tell(text) { left -= gsub(/\n/, "\n", text) + 1; print text }
        function tell_held() { if (held != "") tell(held); held = "" }
        /\*\*\*(Failed|Timeout|Exception|Not Run)/ && !/\(Disabled\)/ || /^  Failed / { tell_held(); left = 120 }
        /^ *[0-9]+\/[0-9]+ Test / && (!/\*\*\*/ || /\(Disabled\)/) || /^  Passed / || /^ +Start +[0-9]+:/ { tell_held(); left = 0 }
        left <= 0 { held = ""; next }
        /^\[ RUN / { held = $0; next }
        /^\[ +(OK|SKIPPED) / { held = ""; next }
        held != "" { held = held "\n" $0 }
        /^\[  FAILED/ { if (held != "") { tell_held(); next } }
        held == "" { tell($0) }
        END { tell_held() }' "$1" 2>/dev/null | head -n 400 || true)
    if [ -n "$told" ]; then
        echo "$told"
    else
        tail -n 30 "$1" || true
    fi
}

# account SUITE PASSED FAILED SKIPPED EXIT-CODE LOG
account() {
    local suite=$1 ok=$2 bad=$3 left_out=$4 code=$5 log=$6
    if [ "$bad" -eq 0 ] && [ "$code" -ne 0 ]; then
        bad=1
        [ "$code" -eq 124 ] && echo "$suite did not end within $suite_limit s." >&2
    elif [ $((ok + bad + left_out)) -eq 0 ]; then
        bad=1
        echo "$suite ran no tests." >&2
    fi
    if [ "$bad" -gt 0 ]; then
        tell_failures "$log" >&2
        echo "$suite failed (exit code $code); its whole log is $log" >&2
    fi
    echo "$suite: $ok passed, $bad failed, $left_out skipped ($((SECONDS - suite_began)) s)"
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + left_out))
}

# gtest_counts XML: sets the caller's total, bad and left_out to what a native test program counted.
gtest_counts() {
    total=$(attribute "$1" testsuites tests)
    bad=$(attribute "$1" testsuites failures)
    left_out=$(grep -cE '<testcase [^>]*(result="skipped"|status="notrun")' "$1" || true)
}

# run_ctest SUITE PRESET [CTEST-OPTION...]: with "${whole_programs[@]}" each native test program is run once (native/tests/CMakeLists.txt); its
# tests are counted all the same.
whole_programs=(--build-config Programs --label-exclude '^single$')
run_ctest() {
    local suite=$1 preset=$2 log=$logs/test-$1.log xml=$logs/test-$1.xml results=$root/build/$2/test-results code=0
    local total bad left_out repeated
    shift 2
    rm -rf "$xml" "$results"
    run_limited "$log" env --chdir="$root" ctest --preset "$preset" --output-junit "$xml" "$@" || code=$?
    [ -f "$xml" ] || : >"$xml"
    total=$(attribute "$xml" testsuite tests)
    bad=$(attribute "$xml" testsuite failures)
    left_out=$(($(attribute "$xml" testsuite skipped) + $(attribute "$xml" testsuite disabled)))
    # More than there are only with --repeat.
    repeated=$(($(grep -cE '^ +Start +[0-9]+:' "$log" || true) - total))
    count_programs "$xml" "$results"
    account "$suite" $((total - bad - left_out)) "$bad" "$left_out" "$code" "$log"
    [ "$repeated" -le 0 ] || echo "$suite: $repeated of these were run once more; the first tries are in $log"
}

# count_programs XML RESULTS: adds what whole programs counted to the caller's total, bad and left_out, in which each program is one test. One that
# failed stays one failure if it left no counts, or if each of its tests passed: a leak found at its end, say. None passes without counts.
count_programs() {
    local all=$total failed_ones=$bad omitted=$left_out case program
    while read -r case; do
        program=$(sed 's/<testcase name="whole\.\([^"]*\)".*/\1/' <<<"$case")
        if [ ! -f "$2/$program.xml" ]; then
            [[ $case != *'status="run"'* ]] || { echo "$program left no counts in $2." >&2 && failed_ones=$((failed_ones + 1)); }
            continue
        fi
        gtest_counts "$2/$program.xml"
        all=$((all + total - 1)) omitted=$((omitted + left_out))
        [ "$bad" -eq 0 ] || failed_ones=$((failed_ones + bad - 1))
    done < <(grep -o '<testcase name="whole\.[^>]*>' "$1" || true)
    total=$all bad=$failed_ones left_out=$omitted
}

# run_xunit PROJECT [SUITE [FILTER [THREADS]]]; without THREADS as many classes at a time as the project says
run_xunit() {
    local project=$1 suite=${2:-$1} filter=${3:-} threads=${4:-}
    local log=$logs/test-$suite.log trx=$logs/test-$suite.trx code=0
    local total executed ok
    rm -f "$trx"
    run_limited "$log" dotnet test "$root/artifacts/bin/$project/release/$project.dll" ${filter:+--filter "$filter"} \
        --logger "trx;LogFileName=$trx" --logger "console;verbosity=normal" ${threads:+-- "xUnit.MaxParallelThreads=$threads"} || code=$?
    [ -f "$trx" ] || : >"$trx"
    total=$(attribute "$trx" Counters total)
    executed=$(attribute "$trx" Counters executed)
    ok=$(attribute "$trx" Counters passed)
    account "$suite" "$ok" $((executed - ok)) $((total - executed)) "$code" "$log"
}

# run_program PROGRAM: a native test program, all its tests in one process.
run_program() {
    local suite=$1 log=$logs/test-$1.log xml=$logs/test-$1.xml code=0
    local total bad left_out
    rm -f "$xml"
    run_limited "$log" "$root/build/release/bin/$suite" --gtest_output="xml:$xml" || code=$?
    [ -f "$xml" ] || : >"$xml"
    gtest_counts "$xml"
    account "$suite" $((total - bad - left_out)) "$bad" "$left_out" "$code" "$log"
}

# run_script SUITE COMMAND...: a script of ours that counts by itself, in its last line.
run_script() {
    local suite=$1 log=$logs/test-$1.log code=0 counts
    shift
    run_limited "$log" "$@" || code=$?
    read -r -a counts <<<"$(tail -n 1 "$log" | grep -oE '^[0-9]+ passed, [0-9]+ failed' | tr -dc '0-9 ' || true)"
    account "$suite" "${counts[0]:-0}" "${counts[1]:-0}" 0 "$code" "$log"
}

# The summary, alone on the last line; the exit code says whether everything passed.
finish() {
    local line="$passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || line+=", $skipped skipped"
    echo "$line"
    [ "$failed" -eq 0 ]
}
