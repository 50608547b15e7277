# As windows-mingw.cmake for 32-bit processes; preset windows-mingw-x86. Only the library and the puppet are built so: they need
# none of the libraries in lib/.
set(ipc_processor i686)
set(ipc_libraries windows-x86)
include(${CMAKE_CURRENT_LIST_DIR}/windows-mingw.cmake)
# Windows aligns 32-bit stacks to 4 bytes, SSE2 wants 16.
string(APPEND CMAKE_CXX_FLAGS_INIT " -msse2 -mfpmath=sse -mstackrealign")
string(APPEND CMAKE_C_FLAGS_INIT " -msse2 -mfpmath=sse -mstackrealign")
