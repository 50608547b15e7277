# Builds for Windows x64 on Debian with mingw-w64 (POSIX threads); what it makes runs under Wine here and on Windows as it is.
# Preset windows-mingw uses it. Needs scripts/windows-bootstrap.sh first: the compilers, Wine, and lib/windows-x64.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_VERSION 10.0)
if(NOT ipc_processor) # windows-mingw-x86.cmake sets it
  set(ipc_processor x86_64)
  set(ipc_libraries windows-x64)
endif()
set(CMAKE_SYSTEM_PROCESSOR ${ipc_processor})

set(triple ${ipc_processor}-w64-mingw32)
set(CMAKE_C_COMPILER ${triple}-gcc-posix)
set(CMAKE_CXX_COMPILER ${triple}-g++-posix)
set(CMAKE_RC_COMPILER ${triple}-windres)

# Libraries come from the sysroot and from lib/; the headers of a few header-only packages are the host's (ipc_host_headers).
get_filename_component(ipc_root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH /usr/${triple} ${ipc_root}/lib/${ipc_libraries})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Windows 10 is the oldest that is supported. Programs carry the compiler's libraries themselves: nothing but the project's own
# files has to be copied.
set(CMAKE_CXX_FLAGS_INIT "-D_WIN32_WINNT=0x0A00 -DWIN32_LEAN_AND_MEAN -DNOMINMAX -DUNICODE -D_UNICODE")
set(CMAKE_C_FLAGS_INIT "${CMAKE_CXX_FLAGS_INIT}")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-static -static-libgcc -static-libstdc++")
endforeach()

# ctest starts tests through Wine.
set(CMAKE_CROSSCOMPILING_EMULATOR ${ipc_root}/scripts/wine.sh)
