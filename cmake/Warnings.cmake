# A warning is an error for those who change this project, with the compilers that it is tried with. Others know warnings that nobody here has seen,
# which must not keep anybody from building.
set(ipc_compiler_is_tried OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12(\\.|$)") OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^14(\\.|$)"))
  set(ipc_compiler_is_tried ${PROJECT_IS_TOP_LEVEL})
endif()
option(IPC_WARNINGS_AS_ERRORS "Let warnings fail the build; by default with g++ 12 and clang++ 14, unless another project includes this one"
  ${ipc_compiler_is_tried})

# One interface target carries the warnings every target of ours compiles with.
add_library(ipc_warnings INTERFACE)
if(MSVC)
  target_compile_options(ipc_warnings INTERFACE /W4 $<$<BOOL:${IPC_WARNINGS_AS_ERRORS}>:/WX> /permissive- /utf-8)
else()
  target_compile_options(ipc_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${IPC_WARNINGS_AS_ERRORS}>:-Werror>
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
  # g++ 12 sees an overlap in "text" + std::string where there is none (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(ipc_warnings INTERFACE -Wno-restrict)
  endif()
endif()

# Each compiler has words of its own for which sanitizer is on.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[^ ]*address")
  target_compile_definitions(ipc_warnings INTERFACE IPC_ADDRESS_SANITIZER)
endif()
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  target_compile_definitions(ipc_warnings INTERFACE IPC_THREAD_SANITIZER)
  # The fence before looking whether the peer sleeps orders a store and a load; the sanitizer need not know of it, because
  # everything it checks is published by a release store and read by an acquire load.
  target_compile_options(ipc_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
