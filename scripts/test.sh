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
source "$root/scripts/jobs.sh"
source "$root/scripts/windows-suites.sh"
source "$root/scripts/packages.sh"

# Messages, calls and closing over the transport with the most code of its own and the plainest, every pair of sides.
quick_conformance='system!=windows&(FullyQualifiedName~MessageTests|FullyQualifiedName~CallTests|FullyQualifiedName~ClosingTests)'
quick_conformance+='&(DisplayName~"shm"|DisplayName~"unix")'

# Without CMake, which has built what .NET loads.
build_solution=("$root/scripts/with-compiler.sh" dotnet build "$root/ipc.sln" -c Release -nologo -v minimal -p:CMakeTargets=)

quick() {
    local program
    bring_loopback_up
    # The solution compiles while the native programs are tried, which mostly wait: two of them at a time, as ctest would have it, of which
    # lifetime_tests takes as long as all the others. Ipc.Tests is alone, because it has time-outs of milliseconds.
    job build-native compiler '' step build-native "$root/scripts/native.sh" release
    job build-solution msbuild build-native build build-solution "${build_solution[@]}"
    job lifetime_tests first build-native run_program lifetime_tests
    for program in ring_tests core_tests calls_tests shm_tests queue_tests broadcast_tests server_tests ipc-codec-tests; do
        job "$program" second build-native run_program "$program"
    done
    job conformance-slice second build-solution run_xunit Ipc.Conformance.Tests conformance-slice "$quick_conformance"
    job Ipc.Codecs.Tests first build-solution run_xunit Ipc.Codecs.Tests Ipc.Codecs.Tests 'system!=windows'
    job Ipc.Tests 'first second' build-solution run_xunit Ipc.Tests Ipc.Tests 'system!=windows'
    run_jobs
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

# The report's page is tried in a browser; only tests need one. Fuzzers are clang's, and so is the linker of what is compiled ahead of time.
install_test_packages() { install_packages install-test-packages chromium clang clang-14 libclang-rt-14-dev zlib1g-dev; }

"$root/scripts/bootstrap.sh"
# What the first suites do not need is installed beside them, which saves minutes from nothing. Who is not root is told at once what to install.
if [ "$(id -u)" -ne 0 ]; then
    "$root/scripts/windows-bootstrap.sh"
    install_test_packages
fi
bring_loopback_up
job install-test-packages packages '' install_test_packages
job install-windows-packages packages '' at_idle "$root/scripts/windows-bootstrap.sh" --packages

# Each program once, its tests in random order, so that none needs another before it. The seed is in the log of a program that failed.
run_native() { GTEST_SHUFFLE=1 run_ctest "$@" "${whole_programs[@]}"; }

# Its one test, of the 32-bit library's layouts, is left out where the kernel starts no 32-bit programs, which a shell tells by 126.
native_32_bit() {
    local code=0
    suite_began=$SECONDS
    "$root/build/linux-x86/bin/layout-check" >/dev/null 2>&1 </dev/null || code=$?
    if [ "$code" -eq 126 ]; then
        echo "This system starts no 32-bit programs, so their tests are left out."
        account native-32-bit 0 0 1 0 /dev/null
    else
        run_ctest native-32-bit linux-x86
    fi
}

# What is built, in the order in which suites need it. The solution wants libipc beside its programs, and no more of CMake.
job build-native-library compiler '' build build-native-library "$root/scripts/native.sh" release --target ipc
job build-native-programs compiler build-native-library build build-native-programs "$root/scripts/native.sh" release \
    --target ipc-test-puppet ipc-test-handler ipc_hosting ipc-hosted ipc-hosted-server
job build-native-32-bit compiler build-native-programs build build-native-32-bit "$root/scripts/native.sh" linux-x86
job install-windows '' 'install-windows-packages build-native-programs' at_idle "$root/scripts/windows-bootstrap.sh"
job build-native compiler build-native-library build build-native "$root/scripts/native.sh" release
job build-solution msbuild build-native-library build build-solution "${build_solution[@]}"
job build-native-aot msbuild 'build-solution install-test-packages' build build-native-aot "$root/scripts/native-aot.sh"

# Suites run one after the other, because some of them test time-outs. Those that need the least begin first, and what the others need is built beside
# them. Those in which no time counts run beside the others, but not beside the lab's, which compares times.
job native suites 'build-native install-test-packages' run_native native release
mapfile -t projects < <(grep -l 'Microsoft.NET.Test.Sdk' "$root"/managed/tests/*/*.csproj)
for project in "${projects[@]}"; do
    project=$(basename "$project" .csproj)
    # Wine's 32-bit half brings another loader of 32-bit programs: after it.
    uses=suites needs='build-native-programs build-native-32-bit build-solution install-windows-packages' how=
    case $project in
        # The programs that are made of the pages call MSBuild.
        Ipc.Distribution.Tests) uses=msbuild needs+=' build-native Ipc.Lab.Tests' how=beside ;;
        # The lab plays every side that is built; and what waits for its suite is not to run beside Ipc.Tests, which has time-outs of milliseconds.
        Ipc.Lab.Tests) needs+=' build-native build-native-aot Ipc.Tests' ;;
    esac
    # What only Windows has is played below.
    job "$project" "$uses" "$needs" $how run_xunit "$project" "$project" 'system!=windows'
done
job native-32-bit suites 'build-native-32-bit install-windows-packages' native_32_bit

windows_jobs build-solution install-windows

job build-native-sanitized compiler install-test-packages build build-native-sanitized "$root/scripts/native.sh" debug
job build-native-threads compiler install-test-packages build build-native-threads "$root/scripts/native.sh" tsan \
    --target shm_tests ring_tests queue_tests broadcast_tests
job build-adding-transport 'compiler msbuild' build-solution build build-adding-transport "$root/scripts/try-adding-transport.sh" --build
job adding-transport suites build-adding-transport run_script adding-transport "$root/scripts/try-adding-transport.sh" --built
job native-sanitized suites build-native-sanitized run_native native-sanitized debug
# The models are of one thread.
job native-threads suites build-native-threads run_ctest native-threads tsan --tests-regex '^(shm|ring|queue|broadcast)_tests\.' --exclude-regex 'Model\.'
job build-fuzzers compiler install-test-packages build build-fuzzers "$root/scripts/fuzz.sh" --build
# Each for 10 s; as long as wanted by hand.
job fuzz suites build-fuzzers run_script fuzz "$root/scripts/fuzz.sh" 10

# Last what makes programs of what has been tried; the lab's suite starts those that it would build again.
job examples msbuild 'build-native build-solution Ipc.Lab.Tests' beside run_script examples "$root/scripts/examples.sh"
job pack msbuild 'build-native build-solution build-windows-native build-windows-native-32-bit Ipc.Lab.Tests' build pack "$root/scripts/pack.sh" nuget
job packages msbuild pack beside run_script packages "$root/scripts/test-packages.sh" --packed

run_jobs
finish
