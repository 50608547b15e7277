# `cmake --install`: the library for programs outside this tree, found by find_package(ipc) or pkg-config, and .deb packages by CPack.
# Three components: `runtime` (libipc.so.1, libipc-hosting.so.1), `modules` (transports that need a foreign library) and `development` (headers, the static
# library, what CMake and pkg-config read). What is installed knows no path of the machine that built it, so the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
# Package managers that know one kind of library for each program install that alone; find_package then gives it as ipc::ipc.
set(IPC_INSTALL both CACHE STRING "Which kinds of the library are installed: both, shared or static")
set_property(CACHE IPC_INSTALL PROPERTY STRINGS both shared static)
if(NOT IPC_INSTALL MATCHES "^(both|shared|static)$")
  message(FATAL_ERROR "IPC_INSTALL is '${IPC_INSTALL}'; it may be both, shared or static.")
endif()

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Fast inter-process communication between C++ and C#")
set(ipc_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ipc)

if(NOT IPC_INSTALL STREQUAL "static")
  install(TARGETS ipc EXPORT ipc
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
# Beside libipc; where the host pack of the .NET SDK is missing, it is not built.
if(TARGET ipc_hosting)
  install(TARGETS ipc_hosting EXPORT ipc
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
if(NOT IPC_INSTALL STREQUAL "shared")
  install(TARGETS ipc_static EXPORT ipc
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
# Beside libipc, which looks for them nowhere else.
foreach(module IN LISTS ipc_module_targets)
  install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT modules)
endforeach()
# The lab's own programs, which scripts/pack.sh puts into the lab's package with the libraries that not every system has. No part of an
# installation; bin and lib as in the build tree, where the lab looks for them.
if(NOT WIN32 AND TARGET ipc-peer AND TARGET ipc-floors)
  set_target_properties(ipc-peer PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS ipc-peer ipc-floors RUNTIME_DEPENDENCY_SET ipc_lab_libraries
    RUNTIME DESTINATION bin COMPONENT lab EXCLUDE_FROM_ALL)
  install(TARGETS ipc LIBRARY DESTINATION lib COMPONENT lab NAMELINK_SKIP EXCLUDE_FROM_ALL)
  install(RUNTIME_DEPENDENCY_SET ipc_lab_libraries
    PRE_EXCLUDE_REGEXES "^lib(ipc|c|m|z|stdc\\+\\+|gcc_s)\\.so" "^ld-linux"
    LIBRARY DESTINATION lib COMPONENT lab EXCLUDE_FROM_ALL)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/native/include/ipc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

install(EXPORT ipc NAMESPACE ipc:: FILE ipcTargets.cmake DESTINATION ${ipc_config_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ipcConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/ipcConfig.cmake
  INSTALL_DESTINATION ${ipc_config_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change what programs see.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ipcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ipcConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ipcConfigVersion.cmake
  DESTINATION ${ipc_config_dir} COMPONENT development)

# Paths are relative to where the file lies, as the rest of the tree. Windows links by CMake.
if(NOT WIN32)
  file(RELATIVE_PATH ipc_pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" ipc_pc_prefix ${ipc_pc_prefix})
  set(ipc_pc_flags)
  set(ipc_pc_libraries "\nLibs.private: -lstdc++ -lpthread -ldl")
  if(IPC_INSTALL STREQUAL "static")
    set(ipc_pc_flags " -DIPC_STATIC")
    set(ipc_pc_libraries " -lstdc++ -lpthread -ldl")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/ipc.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ipc.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ipc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

set(CPACK_PACKAGE_VENDOR "the ipc authors")
set(CPACK_PACKAGE_CONTACT "the ipc authors")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# What a package needs, read off its binaries.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libipc1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MODULES_PACKAGE_NAME libipc-modules)
set(CPACK_DEBIAN_MODULES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libipc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_COMPONENT_MODULES_DEPENDS runtime)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared library.")
set(CPACK_COMPONENT_MODULES_DESCRIPTION "Transports that need a foreign library, loaded when they are first asked for.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, the static library, and what CMake and pkg-config read.")
set(CPACK_COMPONENTS_ALL runtime development)
if(ipc_module_targets)
  list(APPEND CPACK_COMPONENTS_ALL modules)
endif()
include(CPack)
