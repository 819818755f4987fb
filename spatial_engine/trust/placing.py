"""Where a drawn fact is asked: at the nearest place that carries a mark.

A drawing says when and where, not to the tenth of a pixel. A mark may stand anywhere near the drawn place, and photos
that are matched with each other may be taken shortly before or after; both reach only as far as stated here.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float64

from templates.fact import Fact
from templates.measured import Json
from templates.scene.marks import listed, markable
from templates.scene.scene import Scene, find_rows
from templates.truth import is_pixel

NEAR = 0.05
"""Of the diagonal: how far a mark may stand from the drawn place."""
SHORTLY = 0.1
"""Of the clip's frames: how far photos of a pair may lie from the drawn ones."""
_MAX_P_GROSS = 0.01


def placed(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts at the nearest places that the scene knows; unchanged where it knows none near."""
    known: dict[int, Float64[np.ndarray, "k 2"]] = {}
    return [_placed(fact, scene, known) for fact in facts]


def _placed(fact: Fact, scene: Scene, known: dict[int, Float64[np.ndarray, "k 2"]]) -> Fact:
    params = fact.params
    if fact.template == "same_point":
        return replace(fact, params={**params, **_nearest_match(params, scene)})
    if "frames" in params and "frame" in params:
        places = _followed(scene, params["frames"])
    elif (frame := params.get("frame", params.get("from"))) is not None:
        if frame not in known:
            known[frame] = markable(scene, frame)
        places = known[frame]
    else:
        return fact
    return replace(fact, params={name: _moved(part, places, scene) for name, part in params.items()})


def _moved(part: Json, places: Float64[np.ndarray, "k 2"], scene: Scene) -> Json:
    """Pixels, alone or in a list, each at the nearest place."""
    if is_pixel(part):
        apart = np.linalg.norm(places - np.array(part), axis=1)
        near = len(apart) > 0 and apart.min() <= NEAR * scene.diagonal_px
        return listed(places[apart.argmin()]) if near else part
    return [_moved(each, places, scene) for each in part] if isinstance(part, list) else part


def _followed(scene: Scene, frames: Sequence[int]) -> Float64[np.ndarray, "k 2"]:
    """Pixels of the first frame where a track passes that is seen in all of them, moving or not."""
    if scene.tracks is None or (columns := find_rows(scene.tracks.frames, frames)).min() < 0:
        return np.empty((0, 2))
    seen = scene.tracks.visible[:, columns].all(axis=1) & np.isin(scene.tracks.motion, (0, 1))
    return scene.tracks.xy_px[seen, columns[0]]


def _nearest_match(params: Json, scene: Scene) -> dict[str, Json]:
    """A sure match near the drawn pixel, of photos near the drawn ones; nothing if there is none."""
    matches = scene.matches
    if matches is None or not len(matches.pairs):
        return {}
    off = np.abs(matches.pairs - [params["frame_a"], params["frame_b"]]).max(axis=1)[matches.pair]
    apart = np.linalg.norm(matches.xy_a_px - np.array(params["xy_a"]), axis=1)
    near = (matches.outlier_probability < _MAX_P_GROSS) & (apart <= NEAR * scene.diagonal_px)
    near &= off <= SHORTLY * float(np.ptp(scene.clip.frames))
    if not near.any():
        return {}
    row = int(np.flatnonzero(near)[apart[near].argmin()])
    frame_a, frame_b = matches.pairs[matches.pair[row]].tolist()
    return {"frame_a": frame_a, "xy_a": listed(matches.xy_a_px[row]), "frame_b": frame_b}
