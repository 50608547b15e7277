# Builds sooner by compiling once what nearly all files include, and, with g++ and clang++, several files of a target together (CMake's
# unity builds: what is in an anonymous namespace then needs a name of its own within the target). IPC_PRECOMPILED_HEADERS is
#   TESTS  (the default) the tests' programs and the lab's peer: preset release, which so proves that every file of the library includes what it uses
#   ON     everything: the presets for sanitizers, fuzzers, 32 bits and Windows; what only Windows compiles is proved by Visual C++
#   OFF    nothing
set(IPC_PRECOMPILED_HEADERS TESTS CACHE STRING "Compile common headers once: TESTS (tests and the lab's peer only), ON or OFF")
set_property(CACHE IPC_PRECOMPILED_HEADERS PROPERTY STRINGS TESTS ON OFF)

# The standard library's common headers, the system's, and those given.
function(_ipc_precompile target)
  set(headers algorithm array atomic chrono cstring functional memory mutex span string thread vector)
  if(WIN32)
    list(PREPEND headers winsock2.h ws2tcpip.h windows.h) # in this order
  endif()
  list(APPEND headers ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# g++ forgets which of the precompiled lines are the system's, and what it suspects in them becomes an error of ours.
function(_ipc_trust_precompiled target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

function(_ipc_compile_together target files)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# ipc_precompile(TARGET HEADER...): for a part of the library.
function(ipc_precompile target)
  if(NOT IPC_PRECOMPILED_HEADERS STREQUAL "TESTS")
    ipc_precompile_program(${target} ${ARGN})
  endif()
endfunction()

# ipc_precompile_program(TARGET HEADER...): for what is linked with the library, and has nothing that test programs share.
function(ipc_precompile_program target)
  if(NOT IPC_PRECOMPILED_HEADERS)
    return()
  endif()
  _ipc_precompile(${target} ${ARGN})
  _ipc_trust_precompiled(${target})
  _ipc_compile_together(${target} 8)
endfunction()

# ipc_precompile_tests(NAME HEADER...): makes the headers that all test programs share; ipc_use_precompiled_tests(PROGRAM NAME) uses
# them.
function(ipc_precompile_tests name)
  if(NOT IPC_PRECOMPILED_HEADERS)
    return()
  endif()
  # Compiled as a program's sources are, not as a library's.
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "int main() {}\n")
  add_executable(${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ipc_warnings GTest::gtest)
  _ipc_precompile(${name} ${ARGN})
  _ipc_trust_precompiled(${name})
endfunction()

function(ipc_use_precompiled_tests program name)
  if(NOT IPC_PRECOMPILED_HEADERS)
    return()
  endif()
  target_precompile_headers(${program} REUSE_FROM ${name})
  _ipc_trust_precompiled(${program})
  # Small enough that both processors of a small machine find work to the end.
  _ipc_compile_together(${program} 5)
endfunction()
