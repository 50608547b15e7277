"""Stands in for Conan 2 where it is not installed: what packaging/conan uses of it, as Conan documents it. run_recipe.py drives it."""


class _CppInfo:
    def __init__(self):
        self.properties, self.libs, self.defines, self.system_libs = {}, [], [], []

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    def __init__(self):
        self.cpp_info = _CppInfo()
