"""What is to be read: paths, bytes and file objects."""

import os
import tempfile

from ._whyslow import CaptureError


def inputs_of(source):
    """What is to be read, and the temporary files of what was no file."""
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    if not sources:
        raise ValueError("there is nothing to explain: name at least one capture")
    spooled = []
    return [_file(one, place, spooled) for place, one in enumerate(sources, 1)], spooled


def _file(source, place, spooled):
    """A path or URL to read, and the name of what is none."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source), None
    # It lives as long as the analysis.
    file = tempfile.NamedTemporaryFile(prefix="whyslow-", suffix=".capture")
    spooled.append(file)
    if isinstance(source, (bytes, bytearray, memoryview)):
        file.write(source)
        name = f"<bytes {place}>"
    elif hasattr(source, "read"):
        while block := source.read(1 << 20):
            if isinstance(block, str):
                raise TypeError("a capture is bytes: open the file with mode 'rb'")
            file.write(block)
        own = getattr(source, "name", None)
        name = own if isinstance(own, str) else f"<file {place}>"
    else:
        raise TypeError(
            f"a capture is a path, bytes or a file object, and no {type(source).__name__}"
        )
    file.flush()
    return file.name, name


def named(error, inputs):
    """The error, with the name that the caller knows."""
    for path, name in inputs:
        if name is not None and getattr(error, "file", None) == path:
            named = CaptureError(str(error).replace(path, name))
            named.file, named.offset = name, error.offset
            return named
    return error
