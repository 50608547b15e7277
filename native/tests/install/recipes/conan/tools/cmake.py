import os
import subprocess


def cmake_layout(recipe):
    recipe.build_folder = os.path.join(recipe.build_folder, "build")


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.cache_variables = self.cache_variables


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        words = {True: "ON", False: "OFF"}
        variables = [f"-D{name}={words.get(value, value)}" for name, value in self.recipe.cache_variables.items()]
        _run("cmake", "-S", self.recipe.source_folder, "-B", self.recipe.build_folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             f"-DCMAKE_INSTALL_PREFIX={self.recipe.package_folder}", "-DCMAKE_INSTALL_LIBDIR=lib", *self.recipe.of_the_test, *variables)

    def build(self):
        _run("cmake", "--build", self.recipe.build_folder)

    def install(self):
        _run("cmake", "--install", self.recipe.build_folder)


def _run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
