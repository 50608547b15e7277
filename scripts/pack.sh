#!/usr/bin/env bash
# Makes what is given to users, in artifacts/packages: NuGet packages, with the native libraries of Linux x64 and Windows x64 and x86 inside
# Ipc.Native and the lab's programs for Linux x64 inside Ipc.Lab, and Debian packages of the C and C++ library.
# What is packed is what the scripts build, test and measure: presets release, windows-mingw and windows-mingw-x86.
#   scripts/pack.sh [nuget|nuget-linux|debian]...        nuget and debian unless told; nuget-linux without Windows' native libraries, to try
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin_again_with_compiler "$@"

wanted=("$@")
[ $# -gt 0 ] || wanted=(nuget debian)
for one in "${wanted[@]}"; do
    case $one in nuget | nuget-linux | debian) ;; *)
        echo "'$one' is nothing to pack: say nuget, nuget-linux, debian or nothing for nuget and debian" >&2
        exit 2
        ;;
    esac
done
packages=$root/artifacts/packages
natives=$root/build/package/runtimes
programs=$root/build/package/programs

# native_library PRESET FOLDER FILE STRIP: the library as it was tested and measured, without what only debuggers read.
native_library() {
    local preset=$1 folder=$natives/$2/native file=$3 strip=$4 built
    "$root/scripts/native.sh" "$preset" --target ipc || return 1
    built=$(find "$root/build/$preset/bin" "$root/build/$preset/lib" -name "$file" 2>/dev/null | head -n 1)
    mkdir -p "$folder"
    "$strip" --strip-unneeded -o "$folder/$file" "${built:?"preset $preset made no $file"}"
}

# lab_programs: what `ipc run` starts, under the paths of a built tree, so that the lab's package needs none; with the licences of the
# libraries that go along.
lab_programs() {
    local managed=$programs/artifacts/bin/Ipc.Peer/release library
    rm -rf "$programs"
    "$root/scripts/native.sh" release --target ipc ipc-peer ipc-floors || return 1
    cmake --install "$root/build/release" --component lab --prefix "$programs/build/release" --strip || return 1
    mkdir -p "$programs/licences" "$managed"
    # A package has no links: each library lies under the one name it is loaded by, ours under the name the lab hashes it by as well.
    for library in $(find "$programs/build/release/lib" -type l); do
        mv -T "$(readlink -f "$library")" "$library" || return 1
        case $library in */libipc.so.1) cp "$library" "${library%.1}" ;; *) copy_licence "$(basename "$library")" ;; esac || return 1
    done
    dotnet build "$root/managed/Ipc.Peer" -c Release -nologo -v quiet || return 1
    # Started by `dotnet exec`: a package's files are not executable.
    cp "$root"/artifacts/bin/Ipc.Peer/release/*.dll "$root"/artifacts/bin/Ipc.Peer/release/*.json "$managed" || return 1
    cp "$programs/build/release/lib/libipc.so" "$managed"
}

# copy_licence FILE: what Debian's package says of the library.
copy_licence() {
    local package
    package=$(dpkg -S "*/$1" | sed 's/:.*//; q')
    cp "/usr/share/doc/${package:?"no package has $1"}/copyright" "$programs/licences/$package.txt"
}

pack_nuget() {
    local project
    for project in managed/Ipc interop/pinvoke/Ipc.Native.csproj managed/Ipc.{Codecs,Queues,Hosting,AspNetCore,MemoryPack,Protobuf,Wcf,Lab}; do
        dotnet pack "$root/$project" -c Release -nologo -v quiet -p:NativeLibraries="$natives" -p:LabPrograms="$programs" || return 1
    done
}

pack_debian() {
    # CPack's own folder first: what it leaves beside the packages is nobody's business.
    (cd "$root/build/release" && cpack -G DEB -B "$root/build/package/debian") && cp "$root"/build/package/debian/*.deb "$packages"
}

mkdir -p "$packages"
for one in "${wanted[@]}"; do
    case $one in
        nuget | nuget-linux)
            rm -rf "$natives"
            step package-linux-x64 native_library release linux-x64 libipc.so strip
            if [ "$one" = nuget ]; then
                "$root/scripts/windows-bootstrap.sh"
                step package-win-x64 native_library windows-mingw win-x64 libipc.dll x86_64-w64-mingw32-strip
                step package-win-x86 native_library windows-mingw-x86 win-x86 libipc.dll i686-w64-mingw32-strip
            fi
            step package-lab-programs lab_programs
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
