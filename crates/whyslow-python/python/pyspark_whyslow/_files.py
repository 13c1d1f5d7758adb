"""Which files there are, and which of them are of one capture point."""

import re
from collections import defaultdict
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from tempfile import TemporaryDirectory


def is_remote(path):
    """Whether it is a URL of other storage than this machine's files."""
    return re.match(r"(?!file:)[a-z][a-z0-9+.-]*://", path) is not None


def listed(paths):
    """The files that paths, patterns and folders mean, in order, each once."""
    files = {}
    for path in paths:
        found = _remote(path) if is_remote(path) else _local(re.sub(r"^file:(//)?", "", path))
        if not found:
            raise FileNotFoundError(f"whyslow: {path}: there is no such file")
        files.update(dict.fromkeys(found))
    return list(files)


def _local(path):
    if Path(path).is_dir():
        path = glob_escape(path) + "/**"
    elif not has_magic(path):
        return [path] if Path(path).exists() else []
    return sorted(file for file in glob(path, recursive=True) if _is_capture(file))


def glob_escape(path):
    """The path, as a pattern that means itself."""
    return re.sub(r"([*?[])", r"[\1]", path.rstrip("/"))


def _is_capture(file):
    # As Spark has it: what begins so is somebody's note.
    return Path(file).is_file() and not Path(file).name.startswith((".", "_"))


def _remote(path):
    storage, place = _storage(path)
    prefix = path[: path.index("://") + 3]
    names = storage.find(place) if not has_magic(place) else storage.glob(place)
    return [prefix + name.removeprefix(prefix).lstrip("/") for name in sorted(names)]


def _storage(path):
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ValueError(
            f"whyslow: {path}: `pip install fsspec` and its package for this storage, or mount it"
        ) from None
    return url_to_fs(path)


@contextmanager
def opened(paths):
    """What `whyslow.explain` takes for each of them."""
    files = []
    try:
        for path in paths:
            if is_remote(path):
                storage, place = _storage(path)
                files.append(storage.open(place, "rb"))
            else:
                files.append(path)
        yield files
    finally:
        for file in files:
            if not isinstance(file, str):
                file.close()


@contextmanager
def local(path):
    """A path on this machine, where a copy stands in for what is remote."""
    if not is_remote(path):
        yield path
        return
    storage, place = _storage(path)
    with TemporaryDirectory(prefix="whyslow-") as folder:
        local = str(Path(folder) / Path(place).name)
        storage.get_file(place, local)
        yield local


def capture_points(files, rotation):
    """The files of each capture point, in the order of their names."""
    points = defaultdict(list)
    for file in files:
        points[_point(file, rotation)].append(file)
    return list(points.values())


def _point(file, rotation):
    if rotation == "file":
        return file
    if rotation == "name":
        folder, _, name = file.rpartition("/")
        return folder, re.sub(r"\d+", "#", name)
    found = re.search(rotation, file)
    return found[1] if found else file
