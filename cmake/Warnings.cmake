# One interface target carries the warnings every target of ours compiles with; a warning is an error.
add_library(ipc_warnings INTERFACE)
if(MSVC)
  target_compile_options(ipc_warnings INTERFACE /W4 /WX /permissive- /utf-8)
else()
  target_compile_options(ipc_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
  # g++ 12 sees an overlap in "text" + std::string where there is none (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(ipc_warnings INTERFACE -Wno-restrict)
  endif()
endif()
