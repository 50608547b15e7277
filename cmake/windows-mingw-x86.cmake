# As windows-mingw.cmake for 32-bit processes; preset windows-mingw-x86. The library, the lab's peer without codecs and the puppet
# are built so: of the libraries in lib/ they need headers alone, which are of any word size.
set(ipc_processor i686)
set(ipc_libraries windows-x86)
include(${CMAKE_CURRENT_LIST_DIR}/windows-mingw.cmake)
list(APPEND CMAKE_FIND_ROOT_PATH ${ipc_root}/lib/windows-x64)
# Windows aligns 32-bit stacks to 4 bytes, SSE2 wants 16.
string(APPEND CMAKE_CXX_FLAGS_INIT " -msse2 -mfpmath=sse -mstackrealign")
string(APPEND CMAKE_C_FLAGS_INIT " -msse2 -mfpmath=sse -mstackrealign")
