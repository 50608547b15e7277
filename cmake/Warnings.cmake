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

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # The fence before looking whether the peer sleeps orders a store and a load; the sanitizer need not know of it, because
  # everything it checks is published by a release store and read by an acquire load.
  target_compile_options(ipc_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
