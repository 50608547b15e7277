# Runs packaging/vcpkg/ipc/portfile.cmake with stand-ins for vcpkg's functions, which do what vcpkg documents of them for the release half; then
# builds and runs a program against what it installs. -DFOLDER -DREPOSITORY -DCC -DCXX, as script.
cmake_minimum_required(VERSION 3.25)
set(PORT ipc)
set(port ${REPOSITORY}/packaging/vcpkg/ipc)
include(${CMAKE_CURRENT_LIST_DIR}/quick_build.cmake)

include(${CMAKE_CURRENT_LIST_DIR}/../run.cmake)

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vcpkg_cmake_configure: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${FOLDER}/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} ${quick_build} ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${FOLDER}/build --target install)
endfunction()

# Moves the package's files to share/ipc, which is one folder less deep.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(GLOB files ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*.cmake)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REPLACE "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)\n" "" text "${text}")
    string(REPLACE "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX"
      "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)\nget_filename_component(_IMPORT_PREFIX" text "${text}")
    string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
    get_filename_component(name ${file} NAME)
    file(WRITE ${CURRENT_PACKAGES_DIR}/share/${PORT}/${name} "${text}")
  endforeach()
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/lib/cmake)
endfunction()

function(vcpkg_fixup_pkgconfig)
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/ipc.pc)
    message(FATAL_ERROR "there is no lib/pkgconfig/ipc.pc to mend")
  endif()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(READ ${arg_FILE_LIST} text)
  file(WRITE ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright "${text}")
endfunction()

file(READ ${REPOSITORY}/CMakeLists.txt project)
file(READ ${port}/vcpkg.json manifest)
string(JSON version GET "${manifest}" version)
if(NOT project MATCHES "project\\(ipc VERSION ${version} ")
  message(FATAL_ERROR "packaging/vcpkg/ipc/vcpkg.json has version ${version}, and CMakeLists.txt another one")
endif()

foreach(VCPKG_LIBRARY_LINKAGE dynamic static)
  set(CURRENT_PACKAGES_DIR ${FOLDER}/${VCPKG_LIBRARY_LINKAGE})
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR})
  # A port's own folder is the list's, as where vcpkg includes it.
  include(${port}/portfile.cmake)
  foreach(file copyright usage ipcConfig.cmake)
    if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/share/ipc/${file})
      message(FATAL_ERROR "${VCPKG_LIBRARY_LINKAGE}: the port installs no share/ipc/${file}")
    endif()
  endforeach()
  # vcpkg refuses a port that mixes the two.
  file(GLOB shared ${CURRENT_PACKAGES_DIR}/lib/*.so*)
  file(GLOB static ${CURRENT_PACKAGES_DIR}/lib/*.a)
  if((VCPKG_LIBRARY_LINKAGE STREQUAL dynamic) STREQUAL static OR (static AND shared) OR NOT (static OR shared))
    message(FATAL_ERROR "${VCPKG_LIBRARY_LINKAGE}: the port installs '${shared}' and '${static}'")
  endif()
  run(${CMAKE_COMMAND} -S ${REPOSITORY}/packaging/conan/test_package -B ${FOLDER}/program-${VCPKG_LIBRARY_LINKAGE} --fresh
    -DCMAKE_PREFIX_PATH=${CURRENT_PACKAGES_DIR} -DCMAKE_CXX_COMPILER=${CXX})
  run(${CMAKE_COMMAND} --build ${FOLDER}/program-${VCPKG_LIBRARY_LINKAGE})
  run(${FOLDER}/program-${VCPKG_LIBRARY_LINKAGE}/both_ends)
endforeach()
