#!/usr/bin/env bash
# Makes the documentation as a static site in build/site: the pages of docs/, the API reference of C, C++ and C#, search. Checks every link.
# Needs Node 18 or later with npm, which nothing else here does, and doxygen; as root it installs them, otherwise it prints the one line to run.
#   scripts/docs.sh [--no-build]      --no-build: the .NET libraries are built already
# DOCS_BASE: the path the site will have on its host, /ipc/ say (default /). DOCS_REPOSITORY: where the pages' links to files of the
# repository lead, https://host/owner/name/blob/main say (default: such links become plain text).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_again_with_compiler "$@"
source "$root/scripts/packages.sh"
case ${1:-} in
    "" | --no-build) ;;
    *) echo "usage: scripts/docs.sh [--no-build]" >&2; exit 2 ;;
esac
needed=(doxygen python3)
# Node often comes from elsewhere than Debian's packages.
command -v npm >/dev/null || needed+=(nodejs npm)
install_packages install-docs "${needed[@]}"
node_version=$(node -p 'process.versions.node')
if [ "${node_version%%.*}" -lt 18 ]; then
    echo "The site needs Node 18 or later; 'node' is version $node_version. Get a newer one from https://nodejs.org." >&2
    exit 1
fi

work=$root/build/docs
rm -rf "$work/source" "$work/doxygen" "$work/csharp" "$root/build/site"
mkdir -p "$work"

build_libraries() {
    local project
    for project in managed/Ipc.{Hosting,AspNetCore,Queues,MemoryPack,Protobuf} interop/pinvoke/Ipc.Native.csproj; do
        dotnet build "$root/$project" -c Release -nologo -v quiet || return 1
    done
}
reference_native() {
    cd "$root" && { cat site/Doxyfile && echo "OUTPUT_DIRECTORY = $work/doxygen"; } >"$work/Doxyfile" && doxygen "$work/Doxyfile" &&
        python3 site/cpp_reference.py "$work/doxygen/xml" "$work/source/api"
}
reference_csharp() { cd "$root/site" && dotnet tool restore && dotnet docfx metadata docfx.json; }
pages() { python3 "$root/site/prepare.py" "$root" "$work/source" "$work/csharp"; }
# Beside the pages, which import what is installed here.
install_tools() { cd "$work" && rm -rf .vitepress && cp -r "$root/site/.vitepress" "$root"/site/package*.json . && npm ci --no-audit --no-fund; }
site() { cd "$work" && npx vitepress build; }
links() { python3 "$root/site/check_links.py" "$root/build/site" "${DOCS_BASE:-/}"; }

[ "${1:-}" = --no-build ] || step docs-libraries build_libraries
step docs-reference-native reference_native
step docs-reference-csharp reference_csharp
step docs-pages pages
step docs-tools install_tools
step docs-site site
step docs-links links
echo "the site is in $root/build/site; to look at it: cd build/docs && npx vitepress preview"
