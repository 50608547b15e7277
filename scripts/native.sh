#!/usr/bin/env bash
# Configures (once) and builds the native part into build/<preset>. Several builds may ask for it at the same time, MSBuild
# among them: a lock lets one work, and the others then find nothing left to do.
#   scripts/native.sh [PRESET] [further arguments of cmake --build]
set -euo pipefail
preset=${1:-release}
shift || true
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null; then
    echo "error: CMake or Ninja is missing: run scripts/bootstrap.sh" >&2
    exit 1
fi

mkdir -p build
exec 9>"build/.$preset.lock"
flock 9
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" 9>&-
# The lock must end with this script, not with a child that outlives it.
cmake --build --preset "$preset" "$@" 9>&-
