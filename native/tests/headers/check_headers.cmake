cmake_minimum_required(VERSION 3.25)
# Compiles public headers, each in a program that includes nothing else, under warnings that programs elsewhere may have on.
#   cmake -DINCLUDE=folder -DCOMPILER=... -DLANGUAGE=c|c++ -DSTANDARD=... [-DFLAGS=...] [-DTOGETHER=YES] -P check_headers.cmake
# TOGETHER: all of them in one program, which is cheaper, and once more without exceptions and run-time types, except those that need them
# and say so.
set(warnings -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -pedantic -Werror)
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(need_exceptions client.hpp server.hpp)

function(compile result said)
  execute_process(COMMAND ${COMPILER} ${flags} -std=${STANDARD} ${warnings} -I${INCLUDE} -fsyntax-only -x ${LANGUAGE} ${ARGN} /dev/null
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${result} ${code} PARENT_SCOPE)
  set(${said} "${output}" PARENT_SCOPE)
endfunction()

function(check what)
  compile(code said ${ARGN})
  if(NOT code EQUAL 0)
    # As it is: the message of an error would be wrapped, at columns that depend on how long the folder's name is.
    message(NOTICE "${said}")
    message(SEND_ERROR "${what}, ${COMPILER} -std=${STANDARD}: the errors are above.")
  endif()
endfunction()

if(LANGUAGE STREQUAL c)
  file(GLOB headers RELATIVE ${INCLUDE}/ipc ${INCLUDE}/ipc/*.h)
else()
  file(GLOB headers RELATIVE ${INCLUDE}/ipc ${INCLUDE}/ipc/*.h ${INCLUDE}/ipc/*.hpp)
endif()
if(NOT headers)
  message(FATAL_ERROR "There are no headers in ${INCLUDE}/ipc.")
endif()

set(all)
set(all_without_exceptions)
foreach(header IN LISTS headers)
  list(APPEND all -include ipc/${header})
  if(NOT header IN_LIST need_exceptions)
    list(APPEND all_without_exceptions -include ipc/${header})
  endif()
endforeach()

if(TOGETHER)
  check("all headers" ${all})
  check("all headers without exceptions" -fno-exceptions -fno-rtti ${all_without_exceptions})
  return()
endif()
foreach(header IN LISTS headers)
  check(${header} -include ipc/${header})
  if(header IN_LIST need_exceptions)
    compile(code said -fno-exceptions -Wfatal-errors -include ipc/${header})
    if(code EQUAL 0 OR NOT said MATCHES "needs exceptions")
      message(SEND_ERROR "${header} without exceptions does not say that it needs them:\n${said}")
    endif()
  endif()
endforeach()
