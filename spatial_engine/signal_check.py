"""What an expert returned, held against what it promised: the signals of its list, their shapes, dtypes and frames."""

from collections.abc import Mapping
from typing import Any, get_type_hints

import numpy as np
from jaxtyping import jaxtyped

from experts.clip import Clip
from experts.expert import Expert
from experts.signals import SIGNAL_TYPES, Abstained


def check_results(expert: Expert, clip: Clip, results: Mapping[str, Any]) -> None:
    """Raises `TypeError` for what is not what the expert provides, `ValueError` for frames that the clip lacks."""
    if set(results) != set(expert.provides):
        raise TypeError(f"{expert.name} returned {sorted(results)} and provides {sorted(expert.provides)}")
    for name, value in results.items():
        if isinstance(value, Abstained):
            continue
        if not isinstance(value, SIGNAL_TYPES[name]):
            raise TypeError(f"{expert.name} returned {type(value).__name__} as {name!r}: not a {SIGNAL_TYPES[name]}")
        if odd := _odd_arrays(value):
            raise TypeError(f"{expert.name} returned a {name!r} whose arrays do not fit each other: {odd}")
        if (frames := getattr(value, "frames", None)) is not None and not _are_of(clip, frames):
            raise ValueError(f"{expert.name} returned a {name!r} whose frames are not rising numbers of the clip's")


def _odd_arrays(value: Any) -> str:
    """The first array whose dtype or shape contradicts its declaration or another array; "" if none does."""
    hints = get_type_hints(type(value))
    with jaxtyped("context"):  # one name, one length
        for name, part in vars(value).items():
            if isinstance(part, np.ndarray) and not isinstance(part, hints[name]):
                declared = getattr(hints[name], "__name__", hints[name])
                return f"{name} is {part.dtype}{list(part.shape)}, declared {declared}"
    return ""


def _are_of(clip: Clip, frames: np.ndarray) -> bool:
    return bool(np.all(np.diff(frames) > 0) and np.isin(frames, clip.frames).all())
