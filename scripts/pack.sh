#!/usr/bin/env bash
# Makes what is given to users, in artifacts/packages: NuGet packages, with the native libraries of Linux x64 and Windows x64 and x86 inside
# Ipc.Native, and Debian packages of the C and C++ library.
# What is packed is what the scripts build, test and measure: presets release, windows-mingw and windows-mingw-x86.
#   scripts/pack.sh [nuget|debian]...        both unless told
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

wanted=("$@")
[ $# -gt 0 ] || wanted=(nuget debian)
for one in "${wanted[@]}"; do
    case $one in nuget | debian) ;; *)
        echo "'$one' is nothing to pack: say nuget, debian or nothing for both" >&2
        exit 2
        ;;
    esac
done
packages=$root/artifacts/packages
natives=$root/build/package/runtimes

# native_library PRESET FOLDER FILE STRIP: the library as it was tested and measured, without what only debuggers read.
native_library() {
    local preset=$1 folder=$natives/$2/native file=$3 strip=$4 built
    "$root/scripts/native.sh" "$preset" --target ipc || return 1
    built=$(find "$root/build/$preset/bin" "$root/build/$preset/lib" -name "$file" 2>/dev/null | head -n 1)
    mkdir -p "$folder"
    "$strip" --strip-unneeded -o "$folder/$file" "${built:?"preset $preset made no $file"}"
}

pack_nuget() {
    local project
    for project in managed/Ipc interop/pinvoke/Ipc.Native.csproj managed/Ipc.Codecs managed/Ipc.Queues managed/Ipc.Hosting managed/Ipc.Wcf; do
        dotnet pack "$root/$project" -c Release -nologo -v quiet -p:NativeLibraries="$natives" || return 1
    done
}

pack_debian() {
    # CPack's own folder first: what it leaves beside the packages is nobody's business.
    (cd "$root/build/release" && cpack -G DEB -B "$root/build/package/debian") && cp "$root"/build/package/debian/*.deb "$packages"
}

mkdir -p "$packages"
for one in "${wanted[@]}"; do
    case $one in
        nuget)
            "$root/scripts/windows-bootstrap.sh"
            step package-linux-x64 native_library release linux-x64 libipc.so strip
            step package-win-x64 native_library windows-mingw win-x64 libipc.dll x86_64-w64-mingw32-strip
            step package-win-x86 native_library windows-mingw-x86 win-x86 libipc.dll i686-w64-mingw32-strip
            rm -f "$packages"/*.nupkg "$packages"/*.snupkg
            step package-nuget pack_nuget
            ;;
        debian)
            step build-native "$root/scripts/native.sh" release
            rm -f "$packages"/*.deb
            step package-debian pack_debian
            ;;
    esac
done
ls -l "$packages" | awk 'NR > 1 { printf "%10d  %s\n", $5, $9 }'
echo "in $packages"
