"""Errors of experts that come from elsewhere: which plug-in, and where in its code."""

import sys
import traceback
from pathlib import Path

from experts.expert import Expert, original
from spatial_engine.annotation.executor import one_line


def expert_error(expert: Expert, error: BaseException) -> str:
    """One line: kind and message of the error; of an expert that is not ours also its module and the line that raised,
    as "plug-in my_depth (my_package/depth.py:41): ValueError: ..."."""
    module = type(original(expert)).__module__
    package = module.partition(".")[0]
    if package == "experts":
        return one_line(error)
    return f"plug-in {expert.name} ({_raised_at(package, module, error)}): {one_line(error)}"


def _raised_at(package: str, module: str, error: BaseException) -> str:
    """The innermost line of the plug-in's package, relative to where the package lies: names no place on this disk."""
    file = getattr(sys.modules.get(package), "__file__", None) or getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module
    folder = Path(file).resolve().parent
    inside = folder if Path(file).name == "__init__.py" else Path(file).resolve()
    frames = [
        (Path(frame.filename).resolve(), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve().is_relative_to(inside)
    ]
    if not frames:
        return module
    path, line = frames[-1]
    return f"{path.relative_to(inside.parent).as_posix()}:{line}"
