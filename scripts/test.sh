#!/usr/bin/env bash
# Bootstraps, builds, and runs every test there is: the native ones optimised and under the sanitizers (those of shared memory also
# under ThreadSanitizer), the fuzzers for 10 s each, the managed ones, the conformance suite over every transport and pair, and
# under Wine what exists on Windows (test-windows.sh runs that alone). The last line is `N passed, N failed[, N skipped]`.
# --quick says within three minutes of an edit whether it holds on this system, in a tree that has been built before: it builds what
# changed, runs the native tests, each program in one process, those of the .NET library and the codecs, and of the conformance suite
# what one test of each kind can tell.
#   scripts/test.sh [--quick]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/count-tests.sh"
source "$root/scripts/windows-suites.sh"
source "$root/scripts/packages.sh"

# Messages, calls and closing over the transport with the most code of its own and the plainest, every pair of sides.
quick_conformance='system!=windows&(FullyQualifiedName~MessageTests|FullyQualifiedName~CallTests|FullyQualifiedName~ClosingTests)&(DisplayName~"shm"|DisplayName~"unix")'

quick() {
    local program
    bring_loopback_up
    "$root/scripts/build.sh" Release
    for program in core calls shm ring queue broadcast lifetime server; do
        run_program "${program}_tests"
    done
    run_program ipc-codec-tests
    run_xunit Ipc.Tests Ipc.Tests 'system!=windows'
    run_xunit Ipc.Codecs.Tests Ipc.Codecs.Tests 'system!=windows'
    run_xunit Ipc.Conformance.Tests conformance-slice "$quick_conformance"
    finish
}

case ${1:-} in
    '') ;;
    --quick)
        quick
        exit
        ;;
    *)
        echo "The only option is --quick, not '$1'." >&2
        exit 2
        ;;
esac

"$root/scripts/windows-bootstrap.sh"
# The report's page is tried in a browser; only tests need one.
install_packages install-browser chromium
bring_loopback_up
"$root/scripts/build.sh" Release
step build-native-32-bit "$root/scripts/native.sh" linux-x86
step build-native-sanitized "$root/scripts/native.sh" debug
step build-native-threads "$root/scripts/native.sh" tsan --target shm_tests ring_tests queue_tests broadcast_tests
"$root/scripts/windows-build.sh"

run_ctest native release
run_ctest native-32-bit linux-x86
run_ctest native-sanitized debug
# The models are of one thread.
run_ctest native-threads tsan --tests-regex '^(shm|ring|queue|broadcast)_tests\.' --exclude-regex 'Model\.'

mapfile -t projects < <(grep -l 'Microsoft.NET.Test.Sdk' "$root"/managed/tests/*/*.csproj)
for project in "${projects[@]}"; do
    project=$(basename "$project" .csproj)
    # What only Windows has is played below.
    run_xunit "$project" "$project" 'system!=windows'
done
run_windows_suites
# Each for 10 s; as long as wanted by hand.
run_script fuzz "$root/scripts/fuzz.sh" 10
run_script examples "$root/scripts/examples.sh"
step pack "$root/scripts/pack.sh" nuget
run_script packages "$root/scripts/test-packages.sh" --packed

finish
