# An overlay port: builds the checkout that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(VCPKG_LIBRARY_LINKAGE STREQUAL "dynamic")
  set(IPC_INSTALL shared)
else()
  set(IPC_INSTALL static)
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DIPC_INSTALL=${IPC_INSTALL}
    -DIPC_TESTS=OFF
    -DIPC_LAB=OFF
    -DIPC_MODULES=OFF
    -DIPC_HOSTING=OFF # needs the .NET SDK
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/ipc)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
# It is nothing without the library of the same name.
file(REMOVE "${CURRENT_PACKAGES_DIR}/include/ipc/hosting.h" "${CURRENT_PACKAGES_DIR}/include/ipc/hosting.hpp")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
