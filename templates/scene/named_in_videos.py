"""What names mean in a video: all objects of a name, where each is seen clearly, or a single one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns, Texts
from templates.measured import first_reason
from templates.scene.named import all_listed, may_be_called
from templates.scene.scene import Scene
from templates.scene.sightings import Sightings, object_names, one_identity, sightings

_VISIBLE = 0.75
"""Least share of the frames of a video in which an object is seen clearly that it shows throughout."""


@dataclass(frozen=True, kw_only=True)
class NamedInVideos(Columns):
    """The objects of n names, each in a video."""

    why: Texts
    """Why they cannot be counted; "" where they can."""
    shown: Bool[np.ndarray, "n k"]
    """Which of the scene's objects they are."""
    most: Float64[np.ndarray, "n"]
    """The largest number in a single frame."""
    total: Float64[np.ndarray, "n"]
    """Sum over all frames."""


def named_in_videos(scene: Scene, frames: Int64[np.ndarray, "n v"], name: Texts) -> NamedInVideos:
    """Every object of the name that a frame of the video shows; -1 ends a row of `frames`."""
    every, names, n = sightings(scene), object_names(scene), len(name)
    shown, most, total = np.zeros((n, len(names)), dtype=bool), np.zeros(n), np.zeros(n)
    unknown, doubtful, ambiguous = (np.zeros(n, dtype=bool) for _ in range(3))
    lacking = np.full(n, not one_identity(scene))
    for row, called in enumerate(name.tolist()):
        try:
            seen_in = every.of(frames[row])
        except LookupError:
            lacking[row] = True
            continue
        mine = names == called
        seen, clear = seen_in.area[:, mine] != 0, seen_in.clear[:, mine].any(axis=0)
        shown[row, mine], most[row], total[row] = clear, seen.sum(axis=1).max(initial=0), seen.sum()
        unknown[row] = np.isnan(seen_in.area[:, mine]).any()
        doubtful[row] = (seen.any(axis=0) & ~clear).any()
        ambiguous[row] = may_be_called(called, {*names[(seen_in.area != 0).any(axis=0)].tolist()})
    cases = {
        "objects are not surely the same in all frames": lacking,
        "not every object of this name is listed": ~all_listed(scene, name),
        "what is visible of an object is not known": unknown,
        "an object may be too small or too little visible": doubtful,
        "another name may mean the same kind": ambiguous,
        "the video shows no object of this name": ~shown.any(axis=1),
    }
    return NamedInVideos(why=first_reason(n, cases), shown=shown, most=most, total=total)


def singled_out(names: Texts, shown: Sightings) -> dict[str, int]:
    """The object of each name that means a single object of the video, which it shows clearly."""
    there = np.flatnonzero((shown.area != 0).any(axis=0))
    seen, clear = Counter(names[there].tolist()), np.asarray(shown.clear.any(axis=0))
    alone = [k for k in there.tolist() if seen[names[k]] == 1 and clear[k] and names[k]]
    return {str(names[k]): k for k in alone if not may_be_called(names[k], seen)}


def seen_throughout(shown: Sightings) -> Bool[np.ndarray, "k"]:
    """Which objects are seen at both ends of the video and in most frames between."""
    clear = shown.clear
    return np.asarray((clear.mean(axis=0) >= _VISIBLE) & clear[0] & clear[-1])


def found_throughout(scene: Scene, frames: Int64[np.ndarray, "v"], called: Sequence[str]) -> tuple[list[int], str]:
    """The objects of these names, which the video shows throughout; and why they are not known, "" where they are."""
    if not one_identity(scene):
        return [], "objects are not surely the same in all frames"
    if not all_listed(scene, np.array(called)).all():
        return [], "not every object of this name is listed"
    try:
        shown = sightings(scene).of(frames)
    except LookupError:
        return [], "the places of the objects are not known"
    alone = singled_out(object_names(scene), shown)
    if not {*called} <= alone.keys():
        return [], "the name of an object does not single it out"
    rows = [alone[name] for name in called]
    return rows, "" if seen_throughout(shown)[rows].all() else "an object is out of sight for too long"
