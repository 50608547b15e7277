#!/usr/bin/env bash
# Cross-builds the library and its tests for 64-bit ARM Linux and runs by qemu-user what fits there: the models of the lock-free
# algorithms, whose orders of memory ARM does not give away, and the suites that play within one process. qemu translates code for this
# machine's processor and so shows behaviour, not every order that an ARM processor may choose, and no speed.
# Installs what it needs as root, otherwise prints the one line to run. The last line is `N passed, N failed`.
#   scripts/arm64.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/packages.sh"
source "$root/scripts/count-tests.sh"

install_packages install-arm64-packages cmake ninja-build clang binutils-aarch64-linux-gnu libstdc++-12-dev-arm64-cross libc6-dev-arm64-cross \
    qemu-user googletest

make_libraries() {
    local build=$root/build/arm64-libraries
    rm -rf "$build" "$root/lib/linux-arm64.new"
    cmake -S /usr/src/googletest -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/linux-arm64.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$root/lib/linux-arm64.new" -DBUILD_GMOCK=OFF &&
        cmake --build "$build" && cmake --install "$build" &&
        rm -rf "$build" && mv "$root/lib/linux-arm64.new" "$root/lib/linux-arm64"
}

[ -d "$root/lib/linux-arm64" ] || step build-arm64-libraries make_libraries
step build-arm64 "$root/scripts/native.sh" linux-arm64
# Suites of several processes are left out: translated, their threads and forks take minutes.
run_ctest arm64 linux-arm64 --tests-regex 'Model|^(shm|calls)_tests\.|^core_tests\..*(Address|Registry|Frame)|^abi_c11\.'
finish
