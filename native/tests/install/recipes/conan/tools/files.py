import fnmatch
import os
import shutil
from pathlib import Path


def load(recipe, path):
    return Path(path).read_text()


def copy(recipe, pattern, src, dst):
    """Every file below src whose path from there matches; '*' matches slashes, too."""
    copied = []
    for folder, _, files in os.walk(src):
        for file in files:
            path = os.path.relpath(os.path.join(folder, file), src)
            if not path.startswith("build") and fnmatch.fnmatch(path, pattern):
                target = os.path.join(dst, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(os.path.join(src, path), target)
                copied.append(target)
    if not copied:
        raise SystemExit(f"copy: nothing in {src} matches {pattern}")
    return copied


def rm(recipe, pattern, folder):
    for path in Path(folder).glob(pattern):
        path.unlink()


def rmdir(recipe, path):
    shutil.rmtree(path, ignore_errors=True)
