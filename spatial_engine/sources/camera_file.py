"""The user's intrinsics: from the command line, or from a JSON file beside the clip."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experts.intrinsics import Intrinsics
from spatial_engine.sources.footage import ClipError, Footage, VideoFile

_SHAPE = '{"fx": 525.0, "fy": 525.0, "cx": 319.5, "cy": 239.5} ("k1" if there is one radial term)'


def camera_of(
    footage: Footage, width_px: int, height_px: int, numbers: tuple[float, float, float, float] | None
) -> Intrinsics | None:
    """The camera that the user states for frames of this size; the command line overrides it. None: nothing is stated.

    Raises:
        ClipError: the file is no camera, or the numbers cannot belong to frames of this size.
    """
    if numbers is not None:
        fx, fy, cx, cy = numbers
        return _checked({"fx": fx, "fy": fy, "cx": cx, "cy": cy}, width_px, height_px, "--intrinsics")
    file = file_beside(footage)
    if not file.is_file():
        return None
    try:
        stated = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ClipError(f"{file.name} cannot be read ({error})", f"it must hold {_SHAPE}") from error
    return _checked(stated, width_px, height_px, file.name)


def file_beside(footage: Footage) -> Path:
    """Where the camera of a piece of footage is stated, if it is."""
    if isinstance(footage, VideoFile):
        return footage.path.with_name(f"{footage.path.stem}.intrinsics.json")
    return footage.paths[0].with_name("intrinsics.json")


def _checked(stated: Any, width_px: int, height_px: int, source: str) -> Intrinsics:
    needed, known = {"fx", "fy", "cx", "cy"}, {"fx", "fy", "cx", "cy", "k1"}
    named = isinstance(stated, Mapping) and needed <= set(stated) <= known
    if not named or not all(map(_is_number, stated.values())):
        raise ClipError(f"{source} does not hold a camera, but {str(stated)[:80]}", f"it must hold {_SHAPE}")
    fx, fy, cx, cy = (float(stated[name]) for name in ("fx", "fy", "cx", "cy"))
    if not (fx > 0 and fy > 0 and 0 < cx < width_px - 1 and 0 < cy < height_px - 1):
        raise ClipError(
            f"{source} states fx={fx:g} fy={fy:g} cx={cx:g} cy={cy:g}, which no camera with frames of "
            f"{width_px}x{height_px} has",
            "state pixels of the upright frame at full size, (0, 0) at the centre of the top-left pixel",
        )
    return Intrinsics(
        width_px=width_px,
        height_px=height_px,
        fx_px=fx,
        fy_px=fy,
        cx_px=cx,
        cy_px=cy,
        k1=float(stated.get("k1", 0.0)),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6  # no NaN, no infinity
