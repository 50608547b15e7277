# Sourced by test.sh and test-windows.sh after count-tests.sh: runs builds and suites side by side. Suites wait most of their time, for
# a killed peer to be noticed or a time-out to expire; meanwhile the processors compile what later suites need.

job_names=()
declare -A job_uses job_needs job_command job_state job_name_of
jobs_folder=$logs/jobs

# job NAME 'RESOURCE...' 'NEEDED-JOB...' COMMAND...: declares a job. It starts once the jobs it needs have succeeded and no running job uses
# one of its resources. If several are ready, the one declared first starts. COMMAND is a function or a script.
job() {
    job_names+=("$1")
    job_uses[$1]=$2
    job_needs[$1]=$3
    job_state[$1]=waiting
    job_command[$1]=$(printf '%q ' "${@:4}")
}

# at_idle COMMAND...: at idle priority, so that it takes no processor time from the suite that runs beside it.
at_idle() {
    if chrt --idle 0 true 2>/dev/null; then chrt --idle 0 "$@"; else nice -n 19 "$@"; fi
}

# beside FUNCTION...: a suite in which no time counts, beside the one that runs. Before builds, or its programs would run into their time limits; and
# Mono starts no thread at idle priority.
beside() {
    renice -n 10 "$BASHPID" >/dev/null
    "$@"
}

# build NAME COMMAND...: a step at idle priority.
build() {
    local name=$1
    shift
    step "$name" at_idle "$@"
}

# Whether a job can start: yes, no, or lost if a job that it needs has failed.
_job_is_ready() {
    local name=$1 other resource
    for other in ${job_needs[$name]}; do
        case ${job_state[$other]} in
            done) ;;
            failed) echo lost && return ;;
            *) echo no && return ;;
        esac
    done
    for other in "${job_names[@]}"; do
        [ "${job_state[$other]}" = running ] || continue
        for resource in ${job_uses[$name]}; do
            [[ " ${job_uses[$other]} " != *" $resource "* ]] || { echo no && return; }
        done
    done
    echo yes
}

_start_job() {
    local name=$1
    job_state[$name]=running
    # A process group of its own, so that everything it has started can be ended at once.
    set -m
    (
        set +m
        passed=0 failed=0 skipped=0
        # Wine's server, and what belongs to other jobs, must outlive this one.
        end_more() { :; }
        trap end_suite EXIT
        trap 'exit 143' TERM
        began=$SECONDS
        eval "${job_command[$name]}"
        # For whoever wants the whole to be faster: from which second to which it ran, and what it took of the processors; the last line
        # is that of its programs.
        { echo "$began $SECONDS" && times; } >"$jobs_folder/$name.times"
        echo "$passed $failed $skipped" >"$jobs_folder/$name.counts"
    ) >"$jobs_folder/$name.out" 2>&1 </dev/null &
    job_name_of[$!]=$name
    set +m
}

_end_job() {
    local name=$1 code=$2 counts=(0 0 0)
    cat "$jobs_folder/$name.out"
    if [ -f "$jobs_folder/$name.counts" ]; then
        read -r -a counts <"$jobs_folder/$name.counts"
    elif [ "$code" -ne 0 ]; then
        counts=(0 1 0)
    fi
    passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
    # A suite with failed tests counts as done; only a job that did not finish keeps others from starting.
    if [ "$code" -eq 0 ]; then job_state[$name]=done; else job_state[$name]=failed; fi
}

# Runs all declared jobs and returns when they have ended. Their counts are added to passed, failed and skipped.
run_jobs() {
    local name code process going
    rm -rf "$jobs_folder"
    mkdir -p "$jobs_folder"
    while :; do
        going=
        for name in "${job_names[@]}"; do
            if [ "${job_state[$name]}" = waiting ]; then
                case $(_job_is_ready "$name") in
                    yes) _start_job "$name" ;;
                    lost)
                        echo "$name was not run: it needs what failed above" >&2
                        job_state[$name]=failed failed=$((failed + 1))
                        going=again
                        ;;
                esac
            fi
            [ "${job_state[$name]}" != running ] || going=${going:-yes}
        done
        [ -n "$going" ] || return 0
        [ "$going" != again ] || continue
        code=0
        wait -n -p process || code=$?
        name=${job_name_of[$process]}
        unset "job_name_of[$process]"
        _end_job "$name" "$code"
    done
}

# Whenever this script ends, also by Ctrl-C, it ends everything it started. A job's suite is a process group of its own, which `timeout` ends.
end_jobs() {
    local process
    trap '' INT TERM # as in end_suite
    for process in "${!job_name_of[@]}"; do kill -TERM -- "-$process" 2>/dev/null || true; done
    for process in "${!job_name_of[@]}"; do wait "$process" 2>/dev/null || true; done
    end_suite
}
trap end_jobs EXIT
