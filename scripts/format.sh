#!/usr/bin/env bash
# Formats every C, C++ and C# file the way .clang-format and .editorconfig say; --check only tells what would change, and which lines are
# longer than 160 columns.
#   scripts/format.sh [--check]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check=0
case ${1:-} in
    '') ;;
    --check) check=1 ;;
    *)
        echo "The only option is --check, not '$1'." >&2
        exit 2
        ;;
esac

if ! command -v clang-format >/dev/null; then
    echo "clang-format is missing: apt-get install -y --no-install-recommends clang-format" >&2
    exit 1
fi

# The frozen headers are what was released, to the byte.
mapfile -t sources < <(find "$root/native" "$root/examples" "$root/interop/hosting" "$root/packaging" -path '*/abi/frozen' -prune -o \
    -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print)

# Neither formatter breaks a long line.
too_long() {
    ! git -C "$root" grep -nE '.{161,}' -- '*.cs' '*.cpp' '*.hpp' '*.h' '*.sh' ':!*/abi/frozen/*' ':!*/fake-*.sh'
}

code=0
if [ $check = 1 ]; then
    step format-lines too_long || code=1
    step format-native clang-format --dry-run --Werror "${sources[@]}" || code=1
    step format-managed dotnet format "$root/ipc.sln" --verify-no-changes || code=1
    [ $code = 0 ] || echo "Run scripts/format.sh to mend the files named above." >&2
else
    step format-native clang-format -i "${sources[@]}" || code=1
    step format-managed dotnet format "$root/ipc.sln" || code=1
fi
exit $code
