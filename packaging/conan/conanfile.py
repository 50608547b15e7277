"""Conan 2 recipe: builds the checkout that it lies in. `conan create packaging/conan` from the checkout's root."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir

required_conan_version = ">=2.0"


class IpcConan(ConanFile):
    name = "ipc"
    description = "Fast inter-process communication between C++ and C#: shared memory, pipes and sockets behind the same functions"
    license = "MIT"
    topics = ("ipc", "shared-memory", "named-pipes", "unix-sockets")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        text = load(self, os.path.join(self._checkout, "CMakeLists.txt"))
        self.version = re.search(r"^project\(ipc VERSION ([\d.]+)", text, re.MULTILINE).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "registry.json", "cmake/*", "idl/*", "native/CMakeLists.txt", "native/include/*", "native/src/*"):
            copy(self, pattern, src=self._checkout, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["IPC_INSTALL"] = "shared" if self.options.shared else "static"
        # IPC_HOSTING needs the .NET SDK.
        for part in ("TESTS", "LAB", "MODULES", "HOSTING"):
            toolchain.cache_variables[f"IPC_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        # Conan writes both for those who ask; hosting.h is nothing without the library of the same name.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rm(self, "hosting.*", os.path.join(self.package_folder, "include", "ipc"))

    def package_info(self):
        windows = self.settings.os == "Windows"
        self.cpp_info.set_property("cmake_file_name", "ipc")
        self.cpp_info.set_property("cmake_target_name", "ipc::ipc")
        self.cpp_info.set_property("pkg_config_name", "ipc")
        if self.options.shared:
            self.cpp_info.libs = ["libipc" if windows else "ipc"]
        else:
            self.cpp_info.libs = ["ipc_static" if windows else "ipc"]
            self.cpp_info.defines = ["IPC_STATIC"]
        if windows and not self.options.shared:
            self.cpp_info.system_libs = ["advapi32", "bcrypt", "iphlpapi", "ole32", "oleaut32", "rpcrt4", "user32", "uuid", "ws2_32"]
        elif not windows:
            self.cpp_info.system_libs = ["pthread", "dl"]
