"""Runs packaging/conan as `conan create` would, shared and static, with the stand-in for Conan beside this file.

    run_recipe.py REPOSITORY FOLDER CC CXX [CMAKE-OPTION...]    FOLDER: where sources, builds and packages go
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True


def recipe_of(file: Path, name: str):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


class Program:
    """What the test package's recipe runs in."""

    def __init__(self, build: Path, libraries: Path):
        self.cpp, self.libraries = SimpleNamespace(build=SimpleNamespace(bindir=str(build))), libraries

    def run(self, command: str, env: str) -> None:
        said = subprocess.run([command], env={**os.environ, "LD_LIBRARY_PATH": str(self.libraries)}, stdout=subprocess.PIPE, text=True, check=True).stdout
        assert said == "there and back\n", said


def write_config(package: Path, info) -> None:
    """What the generator CMakeDeps makes of package_info."""
    assert info.properties["cmake_file_name"] == "ipc" and info.properties["cmake_target_name"] == "ipc::ipc", info.properties
    found = [next((file for file in (package / "lib").glob(f"lib{name}.*")), None) for name in info.libs]
    assert found and all(found), f"package_info names {info.libs}; in lib there is {sorted(file.name for file in (package / 'lib').iterdir())}"
    (package / "ipcConfig.cmake").write_text(
        "add_library(ipc::ipc INTERFACE IMPORTED)\nset_target_properties(ipc::ipc PROPERTIES\n"
        f"  INTERFACE_INCLUDE_DIRECTORIES \"{package}/include\"\n  INTERFACE_LINK_DIRECTORIES \"{package}/lib\"\n"
        f"  INTERFACE_COMPILE_DEFINITIONS \"{';'.join(info.defines)}\"\n  INTERFACE_LINK_LIBRARIES \"{';'.join(info.libs + info.system_libs)}\")\n")


def main(repository: str, folder: str, cc: str, cxx: str, *options: str) -> None:
    place = Path(folder)
    shutil.rmtree(place, ignore_errors=True)
    compilers = [f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}"]
    recipes = Path(repository, "packaging/conan")
    Recipe = recipe_of(recipes / "conanfile.py", "IpcConan")
    Tested = recipe_of(recipes / "test_package/conanfile.py", "IpcTestConan")
    for shared in Recipe.options["shared"]:
        package = place / ("shared" if shared else "static")
        recipe = Recipe()
        recipe.recipe_folder, recipe.export_sources_folder = str(recipes), str(place / "sources")
        recipe.set_version()
        assert f'"version": "{recipe.version}"' in Path(repository, "packaging/vcpkg/ipc/vcpkg.json").read_text(), recipe.version
        if not (place / "sources").exists():
            recipe.export_sources()
        recipe.source_folder, recipe.build_folder, recipe.package_folder = str(place / "sources"), str(place), str(package)
        recipe.options, recipe.settings, recipe.of_the_test = SimpleNamespace(shared=shared), SimpleNamespace(os="Linux"), [*compilers, *options]
        recipe.layout()
        recipe.generate()
        recipe.build()
        recipe.package()
        recipe.package_info()
        assert (package / "licenses/LICENSE").exists() and not (package / "include/ipc/hosting.hpp").exists()
        write_config(package, recipe.cpp_info)

        tested = Tested()
        tested.source_folder, tested.build_folder, tested.package_folder = str(recipes / "test_package"), str(place / f"program-{package.name}"), ""
        tested.cache_variables, tested.of_the_test = {}, [*compilers, f"-DCMAKE_PREFIX_PATH={package}"]
        tested.layout()
        tested.build()
        Tested.test(Program(Path(tested.build_folder), package / "lib"))


if __name__ == "__main__":
    main(*sys.argv[1:])
