#!/usr/bin/env bash
# Writes down what the packages offer: every public member that PublicAPI.Shipped.txt does not have goes into PublicAPI.Unshipped.txt of its project,
# from which the compiler checks it. Read the difference before you commit it: it is what users will see.
#   scripts/public-api.sh [PROJECT...]      folders of projects; all that are packed unless told
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_again_with_compiler "$@"

# declared_anew PROJECT FRAMEWORK: rewrites one list from what the compiler misses in it.
declared_anew() {
    local list=$1/PublicAPI/$2/PublicAPI.Unshipped.txt said
    echo '#nullable enable' >"$list"
    # The list just emptied is what makes the compiler run again: a rebuild would clean the native library, too.
    said=$(dotnet build "$1" -c Release -f "$2" -nologo -p:CMakeTargets= -p:WarningsNotAsErrors=RS0016%3BRS0017) || { echo "$said" && return 1; }
    grep -F "[$(echo "$1"/*.csproj)" <<<"$said" | sed -n "s/.*warning RS0016: Symbol '\(.*\)' is not part of the declared public API.*/\1/p" |
        LC_ALL=C sort -u >>"$list"
}

projects=("$@")
[ $# -gt 0 ] || mapfile -t projects < <(find "$root/managed" "$root/interop" -path '*/PublicAPI/*' -name PublicAPI.Shipped.txt -printf '%h\n' |
    sed 's,/PublicAPI/.*,,' | sort -u)
for project in "${projects[@]}"; do
    # As the compiler's output names it.
    project=$(realpath -e "$project")
    for list in "$project"/PublicAPI/*/; do
        framework=$(basename "$list")
        step "api-$(basename "$project")-$framework" declared_anew "$project" "$framework"
    done
done
