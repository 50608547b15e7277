# Builds a whole tree sooner by compiling once, for each target, what nearly all of its files include. Off by default: the ordinary
# builds prove that every file includes what it uses. The presets for Windows turn it on; what only Windows compiles is proved without
# it by Visual C++, or by -DIPC_PRECOMPILED_HEADERS=OFF.
option(IPC_PRECOMPILED_HEADERS "Compile common headers once for each target" OFF)

# ipc_precompile(TARGET HEADER...): the standard library's common headers, the system's, and those given.
function(ipc_precompile target)
  if(NOT IPC_PRECOMPILED_HEADERS)
    return()
  endif()
  set(headers algorithm array atomic chrono cstring functional memory mutex span string thread vector)
  if(WIN32)
    list(PREPEND headers winsock2.h ws2tcpip.h windows.h) # in this order
  endif()
  list(APPEND headers ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
  # g++ forgets which of the precompiled lines are the system's, and what it suspects in them becomes an error of ours.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()
