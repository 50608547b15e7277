# Sourced by the other scripts: where things are, and how a step is run and reported.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
mkdir -p "$logs"

export DEBIAN_FRONTEND=noninteractive
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
# Without this the SDK itself needs ICU, whose package has another name on every release of every distribution.
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
# Build processes end with the build: idle ones would disturb a measurement and outlive a test.
export MSBUILDDISABLENODEREUSE=1 UseSharedCompilation=${UseSharedCompilation:-false}

# begin_again_with_compiler "$@": a script that builds several C# projects begins again with one compiler for all of them.
begin_again_with_compiler() { [ -n "${IPC_COMPILER:-}" ] || exec "$root/scripts/with-compiler.sh" "$0" "$@"; }

# step NAME COMMAND...
# Runs a command quietly into build/logs/NAME.log. A failure shows the end of the log, names the file, and returns the exit code.
# bash ignores `set -e` in it: a function joins its commands by `&&`, or returns where one fails.
step() {
    local name=$1 log=$logs/$1.log started=$SECONDS code=0
    shift
    printf '%-28s' "$name ..."
    "$@" >"$log" 2>&1 </dev/null || code=$?
    if [ "$code" -eq 0 ]; then
        echo "ok ($((SECONDS - started)) s)"
        return 0
    fi
    echo "failed after $((SECONDS - started)) s"
    tail -n 40 "$log" >&2
    echo "Step '$name' ended with exit code $code; its whole log is $log" >&2
    return "$code"
}
