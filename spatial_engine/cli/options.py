"""Feeds typer with the library's own options: a parameter that is a dataclass becomes one option per field.

The name of an option is the name of the field, its help the field's `Doc`, its default the field's default.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options import words

Videos = Annotated[
    str, typer.Argument(metavar="VIDEOS", help="A video, a folder of images, or a folder of such; or its URL.")
]
Data = Annotated[Path, typer.Argument(metavar="DATASET", help="A dataset that generate wrote.")]
Out = Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Folder to write.")]
StoreOut = Annotated[
    Path, typer.Option("-o", "--out", metavar="STORE", help="Store to write; a second run does only what is missing.")
]
MergedStore = Annotated[Path, typer.Option("-o", "--out", metavar="STORE", help="Store to write, or to add to.")]
PlanOnly = Annotated[
    bool, typer.Option("--plan", help="Print clips, experts, time, disk and what is missing; run nothing.")
]
QuestionPlanOnly = Annotated[
    bool, typer.Option("--plan", help="Ask, and print what would be drawn and what limits it; write no dataset.")
]

Shard = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER/COUNT", help="Do the share of one of several machines, such as 2/8 (docs/cluster.md)."
    ),
]

PosePath = Annotated[Path | None, typer.Argument(metavar="PATH", help="A file of camera poses, or its folder.")]
Format = Annotated[str, typer.Option("--format", help="auto, tum, kitti, euroc, colmap (images.txt), nerfstudio.")]
Direction = Annotated[Literal["c2w", "w2c"] | None, typer.Option(help="Camera to world, or world to camera.")]
Axes = Annotated[Literal["opencv", "opengl"] | None, typer.Option(help="Axes of the camera; by default the format's.")]
Scale = Annotated[
    Literal["metric", "relative"] | None,
    typer.Option(help="By default metric for tum, kitti, euroc, relative for colmap, nerfstudio."),
]
Up = Annotated[str | None, typer.Option(metavar="X,Y,Z", help="The sky's direction in the world; levels the reading.")]
PoseRate = Annotated[float | None, typer.Option("--fps", help="Poses a second, where the file has no times.")]
Times = Annotated[Path | None, typer.Option(help="File with one time a line, in seconds, where the poses have none.")]
Mount = Annotated[
    Path | None,
    typer.Option("--cam-from-body", help="Poses are a body's; its camera: 4x4 text, or a sensor.yaml with T_BS."),
]
DropDuplicates = Annotated[
    bool, typer.Option("--drop-duplicates", help="Keep the first of several poses with the same time.")
]
MinDuration = Annotated[
    float | None, typer.Option(min=0.0, metavar="S", help="Ignore shorter motions and pauses; by default 0.5 seconds.")
]
MaxSteps = Annotated[int, typer.Option(min=2, max=1_000_000, help="Most steps of one action.")]
UnitSeed = Annotated[int, typer.Option("--seed", min=0, help="Draws the size of a step.")]
Hints = Annotated[
    str, typer.Option("--hints", metavar="NAME,...", help="Hints in the prompt: correspondence, depth, size.")
]
HintPictures = Annotated[
    str, typer.Option("--hint-pictures", metavar="NAME,...", help="Hints as pictures, if `generate --hints` made them.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plot = Annotated[Path | None, typer.Option(metavar="OUT.png|OUT.svg|OUT.html", help="Draw the path and its actions.")]
Replay = Annotated[
    Path | None,
    typer.Option(
        metavar="PLAN.json", help="Follow a plan that --json printed, from PATH's first pose or the identity."
    ),
]

_DEFAULTS = {"workers": 1}
"""Where the command line differs from Python: a process of its own survives a crash of native code, and needs no
`if __name__ == "__main__":` here."""
_LAST = ("workers", "status", "profile", "retry_failed")
"""What stands last in the help."""
_SHOWN = {
    "abilities": "NAME,...",
    "annotator": "NAME",
    "api_key_env": "VARIABLE",
    "base_url": "URL",
    "benchmark": "NAME",
    "columns": "FIELD=COLUMN,...",
    "hint_pictures": "NAME,...",
    "hints": "NAME,...",
    "language": "NAME,...",
    "profile": "FILE",
    "reader": "NAME",
    "budget": "PRICE",
    "judge_api_key_env": "VARIABLE",
    "judge_base_url": "URL",
    "judge_model": "NAME",
    "model": "NAME",
    "price_in": "PRICE",
    "price_out": "PRICE",
    "temperature": "NUMBER|default",
    "timeout": "SECONDS",
    "clips": "FILE",
    "crop": "LEFT,TOP,WIDTH,HEIGHT",
    "device": "DEVICE",
    "end": "SECONDS",
    "experts": "NAME,...",
    "fps": "RATE",
    "images": "PATTERN",
    "intrinsics": "FX,FY,CX,CY",
    "leaf": "L1/...",
    "licence": "TEXT",
    "max_duration": "SECONDS",
    "max_side": "PIXELS",
    "media": "FOLDER",
    "reasoning_effort": "WORD",
    "system_prompt_file": "FILE",
    "sigma_calibration": "FILE",
    "start": "SECONDS",
    "status": "FOLDER",
    "weights_dir": "FOLDER",
}
"""What stands for the value in the help, where the type says too little."""


def fed(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass expanded into one option per field."""
    taken = inspect.signature(command).parameters
    groups: dict[str, Any] = {name: p.annotation for name, p in taken.items() if is_dataclass(p.annotation)}
    expanded: list[inspect.Parameter] = []
    for name, parameter in taken.items():
        if name in groups:
            expanded += [_parameter(field) for field in ordered(groups[name])]
        else:
            expanded.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def unpacked(**given: Any) -> None:
        for name, group in groups.items():
            values = {field.name: _value(field, given.pop(field.name)) for field in fields(group)}
            given[name] = group(**values)
        command(**given)

    unpacked.__name__, unpacked.__doc__ = command.__name__, command.__doc__
    unpacked.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]
    unpacked.__annotations__ = {}
    return unpacked


def ordered(group: Any) -> Iterator[Field[Any]]:
    """Fields of a dataclass in the order of the help: those of one class beside each other."""
    by_name = {field.name: field for field in fields(group)}
    last = [by_name.pop(name) for name in _LAST if name in by_name]
    for cls in group.__mro__:
        yield from (by_name.pop(name) for name in inspect.get_annotations(cls) if name in by_name)
    yield from last


def flag(name: str) -> str:
    """The option of a field."""
    return "--" + name.replace("_", "-")


def _parameter(field: Field[Any]) -> inspect.Parameter:
    hint, *notes = get_args(field.type)
    docs = [note.documentation for note in notes if isinstance(note, Doc)]
    option = typer.Option(flag(field.name), help="".join(docs), metavar=_SHOWN.get(field.name))
    annotation = Annotated[_typed(hint), option] if docs else field.type
    default = _DEFAULTS.get(field.name, field.default)
    if default is MISSING:
        default = inspect.Parameter.empty
    elif isinstance(default, tuple):
        default = ",".join(map(str, default)) or None
    elif default is not None and _is_number_or_word(hint):
        default = f"{default:g}"
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _is_number_or_word(hint: Any) -> bool:
    """Whether it is a number or one of a few words: float | Literal["default"]."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else ()
    return float in members and any(get_origin(member) is Literal for member in members)


def _number_or_word(name: str, hint: Any, given: str) -> Any:
    known = [word for member in get_args(hint) if get_origin(member) is Literal for word in get_args(member)]
    try:
        return given if given in known else float(given)
    except ValueError as error:
        raise UsageError(f"{flag(name)} {given}", f"give a number, or {', '.join(known)}") from error


def _typed(hint: Any) -> Any:
    """The type as typer reads it from one word of the command line: paths as paths, lists and tuples as text."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    optional = type(None) in members or isinstance(hint, str) or get_origin(hint) is tuple
    if _is_number_or_word(hint):
        return str
    simple = [m for m in members if get_origin(m) is Literal or m in (bool, int, float)]
    kind = Path if Path in members else (simple[0] if simple else str)
    return kind | None if optional else kind


def _value(field: Field[Any], given: Any) -> Any:
    """What the field takes: the parts of "1,2,3,4" or "a,b" where it holds a tuple, a number where it may be one."""
    hint = get_args(field.type)[0]
    if given is None and get_origin(hint) is tuple:
        return field.default
    if isinstance(given, str) and "tuple[str" in str(hint):
        return tuple(words(given) or ())
    if isinstance(given, str) and _is_number_or_word(hint):
        return _number_or_word(field.name, hint, given)
    if not (isinstance(given, str) and "tuple[" in str(hint)):
        return given
    form = _SHOWN[field.name]
    kind = int if "tuple[int" in str(field.type) else float
    try:
        numbers = tuple(kind(part) for part in given.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != len(form.split(",")):
        raise UsageError(f"{flag(field.name)} {given}", f"give numbers: {flag(field.name)} {form}")
    return numbers
