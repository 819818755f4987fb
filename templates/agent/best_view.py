"""L4/Open-world Exploration/Knowledge Acquisition: of which photo is the largest share new after photo 1?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.new_views import new_share
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import scene_distance
from templates.template import Template

_PLACES = 24
_OTHERS = 4
_MUCH, _LEAD = 0.7, 0.25
"""Least share of the right photo that is new, and its least lead over every other one."""
_TRIED = 6
"""Sets of photos that are drawn for each that is asked about."""
_NUMBERS = ("2", "3", "4", "5")


@dataclass(frozen=True, kw_only=True)
class NewViews(Facts):
    """A photo, and four others."""

    frame: Int64[np.ndarray, "n"]
    frames_others: Int64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class BestView(Template):
    """The photo of which the largest share is not in photo 1. Measures the least and the largest share of each photo
    that is new."""

    name: str = "best_view"
    version: str = "1"
    ability: str = "L4/Open-world Exploration/Knowledge Acquisition"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = NewViews
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _NUMBERS}
    needs: frozenset[str] = frozenset({"camera_path", "depth"})
    reads: frozenset[str] = SURFACE | {"calibration"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NewViews:
        """Photos of which one has most that is new; in half of them, as far as there are enough, it is not the one
        that was taken farthest away."""
        if scene.measured_depth is None or scene.path is None:
            return NewViews.none()
        frames = np.array(spread_frames(scene.measured_depth.frames, _PLACES), dtype=np.int64)
        shares = np.array([[new_share(scene, int(b), int(a)) for b in frames] for a in frames]).reshape(
            -1, len(frames), 2
        )
        other = ~np.eye(len(frames), dtype=bool)
        able = np.argwhere(shares[..., 0] >= _MUCH)
        rows: list[dict[str, Json]] = []
        for a, b in able[rng.integers(len(able), size=_TRIED * count)].tolist() if len(able) else ():
            known = np.flatnonzero((shares[a, :, 1] <= shares[a, b, 0] - _LEAD) & other[a])
            if len(known) < _OTHERS - 1:
                continue
            shown = rng.permutation(np.append(rng.choice(known, _OTHERS - 1, replace=False), b))
            rows.append({"frame": int(frames[a]), "frames_others": frames[shown].tolist()})
        facts = NewViews.from_json(rows).distinct()
        found = self.measure(facts, scene)
        assert found.label is not None
        sure = rng.permutation(np.flatnonzero(found.why == ""))
        misled = (found.traps["farthest away"] != found.label)[sure]
        return facts.take(rng.permutation(sure[taking_turns(misled.astype(np.str_))][:count]))

    def measure(self, facts: NewViews, scene: Scene) -> Measured:
        """σ of a share = that of the edge of one view in the other: rotation ⊕ offset over the scene's distance."""
        pairs = [
            [new_share(scene, other, frame) for other in others]
            for frame, others in zip(facts.frame.tolist(), facts.frames_others.tolist(), strict=True)
        ]
        least, most = np.moveaxis(np.array(pairs, dtype=float).reshape(-1, _OTHERS, 2), 2, 0)
        right = np.nan_to_num(least, nan=-1.0).argmax(axis=1)
        is_right = np.arange(_OTHERS) == right[:, None]
        sigma, length = _edges(scene, facts)
        lead = least.max(axis=1) - np.where(is_right, -np.inf, most).max(axis=1)
        cases = {
            POSITION_UNKNOWN: np.isnan(length).any(axis=1),
            "depth is not measured": np.isnan(least).any(axis=1),
            "no photo shows much that is new": ~(least.max(axis=1) >= _MUCH),
            "two photos show much that is new": ~(lead >= _LEAD),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=least,
            sigma=np.hypot(sigma[:, None], most - least),
            label=np.array(_NUMBERS)[right],
            margin=lead / sigma,
            evidence={"new_percent": (100 * least).round()},
            traps={"farthest away": np.array(_NUMBERS)[np.nan_to_num(length).argmax(axis=1)]},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Five photos."""
        return Phrasing(media=tuple(Photo(frame=frame) for frame in (fact["frame"], *fact["frames_others"])))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Five frames."""
        drawn = pictures.distinct_frames(rng, 1 + _OTHERS)
        return None if drawn is None else {"frame": drawn[0], "frames_others": list(drawn[1:])}


def _edges(scene: Scene, facts: NewViews) -> tuple[np.ndarray, np.ndarray]:
    """σ of the place of an edge of one view in another, as a share of the height of the photo: the largest; and the
    lengths of all offsets."""
    frames = np.stack([np.repeat(facts.frame[:, None], _OTHERS, axis=1), facts.frames_others], axis=2).reshape(-1, 2)
    offset, (vfov, _) = offsets(scene, frames), scene.vfov_rad()
    moved = offset.shift_sigma
    with np.errstate(invalid="ignore", divide="ignore"):
        turned = np.hypot(scene.relative_rotation_sigma_rad(frames), moved / scene_distance(scene, frames[:, 1]))
    return (turned / vfov).reshape(-1, _OTHERS).max(axis=1), offset.length.reshape(-1, _OTHERS)
