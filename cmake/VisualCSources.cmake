# What libipc.vcxproj asks before it compiles: the library's sources on Windows, and the table made from registry.json.
#   cmake -DOUT=folder -P cmake/VisualCSources.cmake      writes registry_data.cpp and library_sources.txt there
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/Registry.cmake)

set(CMAKE_CURRENT_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/../native/src)
ipc_read_registry(${CMAKE_CURRENT_LIST_DIR}/../registry.json windows sources ${OUT}/registry_data.cpp)
foreach(room core calls win32 shared_memory)
  ipc_room_sources(${room} windows room_sources)
  list(APPEND sources ${room_sources})
endforeach()
# Relative to native/, so that objects can be laid out as the sources are.
get_filename_component(native ${CMAKE_CURRENT_SOURCE_DIR}/.. ABSOLUTE)
set(relative "")
foreach(source IN LISTS sources)
  get_filename_component(source ${source} ABSOLUTE)
  file(RELATIVE_PATH source ${native} ${source})
  list(APPEND relative ${source})
endforeach()
list(JOIN relative "\n" lines)
file(CONFIGURE OUTPUT ${OUT}/library_sources.txt CONTENT "${lines}\n")
