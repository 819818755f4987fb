"""Errors of experts and templates: which one failed and, if it is a plug-in, where in its code."""

import sys
import traceback
from pathlib import Path

from experts.expert import Expert, original
from spatial_engine.annotation.executor import one_line
from templates.registry import TEMPLATES
from templates.template import Template

_METHODS = ("propose", "measure", "answer", "offer", "phrase", "wording")
"""Of a template, in the order in which they are called."""


def expert_error(expert: Expert, error: BaseException) -> str:
    """One line: kind and message of the error; of an expert that is not ours also its module and the line that raised,
    as "plug-in my_depth (my_package/depth.py:41): ValueError: ..."."""
    module = type(original(expert)).__module__
    return _of_plugin(expert.name, module, error) if module.partition(".")[0] != "experts" else one_line(error)


def template_error(template: Template, error: BaseException) -> str:
    """One line, for the data card: "the template roll_side of the package my-spatial failed in phrase
    (my_spatial/roll_side.py:41): KeyError: 'frame'"; of one of ours without package, method and line."""
    module = type(template).__module__
    top = module.partition(".")[0]
    if top == "templates":
        return f"the template {template.name} failed: {one_line(error)}"
    distribution = TEMPLATES.distribution_of(type(template))
    package = top if distribution is None else distribution.name
    names = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    method = next((f" in {name}" for name in _METHODS if name in names), "")
    where = _raised_at(top, module, error)
    return f"the template {template.name} of the package {package} failed{method} ({where}): {one_line(error)}"


def is_template_error(reason: str) -> bool:
    """Whether a reason for missing questions is a `template_error`."""
    return reason.startswith("the template ") and " failed" in reason


def _of_plugin(name: str, module: str, error: BaseException) -> str:
    return f"plug-in {name} ({_raised_at(module.partition('.')[0], module, error)}): {one_line(error)}"


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
