"""L3/Causal Reasoning/Relation: what an object hides in a photo, known from another photo."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.object_gap import Neighbours
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.behind import Behind, behind
from templates.scene.elsewhere import any_moves
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import boxes_of, outliers
from templates.scene.object_groups import shared_share
from templates.scene.objects import SeenObjects, found_again, seen_objects
from templates.scene.scene import SURFACE, Scene, find_rows
from templates.scene.shared_view import shared_views
from templates.template import Template

_ANCHOR, _MARKS = "P", ("1", "2", "3")
_FRAMES = 24
"""Photos in which objects are looked for."""
_HIDDEN, _BESIDE = 0.8, 0.0
"""Least share of the object that is hidden, and largest one of the others that may be."""
_CLEARLY = 5.0
"""Margin in σ of objects that pass these limits, which leave room for 3 σ."""
_LITTLE = 0.3
"""Largest overlap of two boxes in a photo, as a share of the smaller one."""
_PHOTOS = 8
"""Most photos 2 for each object that hides others in a photo 1."""
_TRIED = 4
"""Facts that are measured for each one that is asked for."""


@dataclass(frozen=True, kw_only=True)
class BehindIt(Template):
    """Which of three objects of photo 2 another object hides in photo 1. Measures the share of each that it hides."""

    name: str = "behind_it"
    version: str = "2"
    ability: str = "L3/Causal Reasoning/Relation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Neighbours
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "depth", "objects"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Neighbours:
        """Objects whose middles others hide in a photo, as a second photo shows them, each with two that are not
        hidden; the hidden ones take turns."""
        seen = shown_objects(seen_objects(scene), scene)
        rows = _groups(scene, seen, rng, _TRIED * count)
        if not len(rows):
            return Neighbours.none()
        hidden = seen.object[rows[:, 1]].astype(np.str_)
        turns = taking_turns(np.char.add(np.char.add(hidden, " "), seen.object[rows[:, 0]].astype(np.str_)))
        mixed = np.column_stack([rows[:, 0], rng.permuted(rows[:, 1:], axis=1)])[turns]
        anchor, first, second, third = (seen.take(column).refs() for column in mixed.T)
        facts = Neighbours(anchor=anchor, first=first, second=second, third=third)
        return facts.take(np.flatnonzero(self.measure(facts, scene).why == "")[:count])

    def measure(self, facts: Neighbours, scene: Scene) -> Measured:
        """The mark of the only object that is hidden; the others must not be behind the occluder at all."""
        frame, there, anchor = facts.anchor.frame, facts.first.frame, found_again(scene, facts.anchor)
        objects = [found_again(scene, refs) for refs in facts.others]
        each = [behind(scene, frame, anchor, object, there) for object in objects]
        least, most, within = (
            np.column_stack([getattr(one, n) for one in each]) for n in ("least", "most", "is_within")
        )
        hidden, free = (least >= _HIDDEN) & ~within, most <= _BESIDE
        shown = np.column_stack([_shows(scene, frame, object) for object in objects])
        cases = {
            "an object is not found again": np.any([found < 0 for found in (anchor, *objects)], axis=0),
            "an object moves": any_moves(scene, anchor, *objects),
            "the photos are the same": frame == there,
            "how much is hidden is not known": ~np.isfinite(least + most).all(axis=1),
            "not exactly one object is hidden": (hidden.sum(axis=1) != 1) | ~(hidden | free).all(axis=1),
            "the photo shows a part of what is hidden": (hidden & shown).any(axis=1),
        }
        marks = np.array(_MARKS)
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.nan_to_num(least),
            sigma=np.zeros_like(least),
            label=marks[hidden.argmax(axis=1)],
            margin=np.full(len(facts), _CLEARLY),
            evidence={"hidden_percent": (100 * np.nan_to_num(least)).round()},
            outlier_probability=outliers(scene, anchor, *objects),
            traps={
                "beside it in photo 1": np.where(
                    (shown & ~hidden).any(axis=1), marks[(shown & ~hidden).argmax(axis=1)], ""
                ),
                "nearest to it in photo 2": _nearest_in_photo(scene, facts, anchor),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A photo with one box and another with three."""
        others = (fact[name] for name in ("first", "second", "third"))
        media = Photo.boxed({_ANCHOR: fact["anchor"]}), Photo.boxed(dict(zip(_MARKS, others, strict=True)))
        return Phrasing(media=media, values={"name": fact["anchor"]["name"]})


def _shows(scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """Whether photos have pixels of the masks of objects."""
    seen = seen_objects(scene)
    shown = {*zip(seen.frame.tolist(), seen.object.tolist(), strict=True)}
    return np.array([pair in shown for pair in zip(frame.tolist(), object.tolist(), strict=True)], dtype=bool)


def _nearest_in_photo(scene: Scene, facts: Neighbours, anchor: Int64[np.ndarray, "n"]) -> np.ndarray:
    """The mark whose box is nearest to that of the occluder in photo 2; "" where that does not show it."""
    seen = seen_objects(scene)
    middle = {
        (int(f), int(k)): box.mean(axis=0) for f, k, box in zip(seen.frame, seen.object, seen.box_px, strict=True)
    }
    found = []
    for row, pair in enumerate(zip(facts.first.frame.tolist(), anchor.tolist(), strict=True)):
        away = [np.linalg.norm(refs.box_px[row].mean(axis=0) - middle.get(pair, np.nan)) for refs in facts.others]
        found.append("" if pair not in middle else _MARKS[int(np.argmin(away))])
    return np.array(found, dtype=np.str_)


def _groups(scene: Scene, seen: SeenObjects, rng: np.random.Generator, count: int) -> Int64[np.ndarray, "n 4"]:
    """Rows of an occluder, of an object whose middle it hides in its photo, and of two others of the photo of the
    object, which it does not hide."""
    objects, path, found = scene.objects, scene.path, list[list[int]]()
    frames = np.array(spread_frames(np.unique(seen.frame), _FRAMES), dtype=np.int64)
    if objects is None or path is None or not len(frames):
        return np.empty((0, 4), dtype=np.int64)
    mutual = shared_views(scene, frames).mutual
    every = np.arange(len(objects.labels))
    for row, frame in enumerate(frames.tolist()):
        at = _objects_before(scene, frame, every)
        here = np.flatnonzero(seen.frame == frame)
        for occluder in here.tolist():
            behind_it = (at == seen.object[occluder]) & (every != seen.object[occluder])
            behind_it &= ~_shows(scene, np.full(len(every), frame), every)
            rows = rng.permutation(np.flatnonzero(behind_it[seen.object] & np.isin(seen.frame, frames[mutual[row]])))
            hides = _behind(scene, seen, occluder, rows)
            for hidden in rows[(hides.least >= _HIDDEN) & ~hides.is_within][:_PHOTOS].tolist():
                others = np.flatnonzero((seen.frame == seen.frame[hidden]) & (at[seen.object] != seen.object[occluder]))
                others = rng.permutation(others[seen.object[others] != seen.object[occluder]])
                chosen = _two_apart(seen.box_px, hidden, others[_behind(scene, seen, occluder, others).most <= _BESIDE])
                found += [[occluder, hidden, *chosen]] if len(chosen) == 2 else []
    return np.array(found, dtype=np.int64).reshape(-1, 4)[rng.permutation(len(found))[:count]]


def _behind(scene: Scene, seen: SeenObjects, occluder: int, rows: Int64[np.ndarray, "m"]) -> Behind:
    """How much of each object one of a photo hides there."""
    photo, by = np.full(len(rows), seen.frame[occluder]), np.full(len(rows), seen.object[occluder])
    return behind(scene, photo, by, seen.object[rows], seen.frame[rows])


def _two_apart(box_px: Float64[np.ndarray, "m 2 2"], row: int, others: Int64[np.ndarray, "k"]) -> list[int]:
    """The first two others whose boxes meet little of each other and of that of a row."""
    chosen: list[int] = []
    for other in others.tolist():
        if len(chosen) < 2 and all(shared_share(box_px[[k]], box_px[[other]])[0] <= _LITTLE for k in (row, *chosen)):
            chosen.append(other)
    return chosen


def _objects_before(scene: Scene, frame: int, object: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
    """The object whose mask is where the middle of each object would be in a photo; -1 for none."""
    assert scene.objects is not None and scene.path is not None
    ids = scene.objects.ids[int(find_rows(scene.objects.frames, [frame])[0])]
    camera = scene.path.intrinsics.scaled(ids.shape[1], ids.shape[0])
    pose = scene.world_from_cam(frame)
    middle = boxes_of(scene, np.full(len(object), frame), object)[1][:, :3, 3]
    xy = camera.project((middle - pose[:3, 3]) @ pose[:3, :3])
    shown = camera.contains(xy)
    x, y = np.where(shown, np.rint(np.nan_to_num(xy)).T, 0).astype(np.int64)
    return np.where(shown, ids[y, x], -1).astype(np.int64)
