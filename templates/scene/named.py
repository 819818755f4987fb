"""Which objects of a photo their names alone single out."""

from collections import Counter
from collections.abc import Collection
from functools import cache

import numpy as np
from jaxtyping import Bool, Int64

from experts.objects.object_names import folded
from templates.columns import Texts
from templates.scene.objects import UNNAMED, projected_boxes, seen_objects
from templates.scene.scene import Scene, find_rows

_LIKE = tuple(
    frozenset(line.split(", "))
    for line in (
        "person, person sitting, cyclist, rider, driver, motorcyclist, boy, girl, child, baby, worker",
        "cyclist, bicycle",
        "motorcyclist, motorcycle, scooter, moped",
        "car, van, pickup, suv, taxi",
        "truck, van, pickup",
        "bus, van, minibus",
        "table, desk",
        "table, counter",
        "table, nightstand",
        "chair, stool, seat, bench",
        "sofa, armchair, ottoman",
        "stool, ottoman, pouf",
        "cup, mug",
        "cup, glass",
        "dish, bowl",
        "dish, plate",
        "rug, carpet, mat",
        "cushion, pillow",
        "picture, poster, photo, frame",
        "box, crate, carton, parcel, package",
        "bag, backpack, handbag",
        "bag, suitcase",
        "cupboard, wardrobe, closet, locker",
        "cupboard, sideboard, dresser, chest of drawers, nightstand",
        "shelf, bookshelf, rack",
        "television, monitor, screen, display",
        "pot, pan",
        "can, jar, bottle",
        "can, tin",
        "trash can, bin, bucket",
        "curtain, blinds, blind",
        "potted plant, plant, flower",
    )
)
"""Folded names that different people may use for one object."""


def unique_names(scene: Scene) -> Bool[np.ndarray, "n"]:
    """Of each of the `seen_objects`, whether its name is sure and can mean no other listed object in the photo;
    computed once per scene. Whether every object is listed says `all_listed`."""
    return scene.once("unique names", lambda: _unique_names(scene))


def all_listed(scene: Scene, *names: Texts) -> Bool[np.ndarray, "n"]:
    """Whether the list of objects holds every object of each (folded) name, or of all names of each row."""
    complete = () if scene.objects is None else scene.objects.complete
    known = [folded(one) for one in complete]
    return np.all([np.isin(name, known) for name in names], axis=0) | ("*" in complete)


def seen_rows(scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
    """The row of `seen_objects` of each object in a photo; -1 where the photo does not show it."""
    seen = seen_objects(scene)
    rows = {pair: row for row, pair in enumerate(zip(seen.frame.tolist(), seen.object.tolist(), strict=True))}
    found = [rows.get(pair, -1) for pair in zip(frame.tolist(), object.tolist(), strict=True)]
    return np.array(found, dtype=np.int64)


def unique_among(scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """Whether the name of each object singles it out in a photo; false where the photo does not show it."""
    row, unique = seen_rows(scene, frame, object), unique_names(scene)
    return np.array([k >= 0 and bool(unique[k]) for k in row.tolist()], dtype=bool)


def rows_called(scene: Scene, frame: Int64[np.ndarray, "n"], name: Texts) -> Int64[np.ndarray, "n"]:
    """The row of `seen_objects` of the object that each name singles out in a photo; -1 where it means none, or may
    mean several."""
    rows = scene.once("rows of unique names", lambda: _rows_of_unique_names(scene))
    found = [rows.get(pair, -1) for pair in zip(frame.tolist(), name.tolist(), strict=True)]
    return np.array(found, dtype=np.int64)


def may_be_called(name: str, names: Collection[str]) -> bool:
    """Whether an object with another one of the names may be meant by `name`, or the other way round: plurals, kinds
    ("armchair": chair), names that people use for one another ("mug": cup), and objects without a name."""
    others = {*names} - {name}
    pairs = [pair for other in others for pair in ((name, other), (other, name))]
    alike = {kind for kinds in _LIKE if kinds & _kinds(name) for kind in kinds}
    return (
        "" in others
        or any(long in (f"{short}s", f"{short}es") or long.endswith(short) for short, long in pairs)
        or any(alike & _kinds(other) for other in others)
    )


@cache
def _kinds(name: str) -> frozenset[str]:
    """The name, and its last word, which says the kind, in the singular."""
    last = name.rpartition(" ")[2]
    return frozenset({name, last, last.removesuffix("s"), last.removesuffix("es")})


def may_be_missed(scene: Scene, frame: int, found: Int64[np.ndarray, "k"]) -> set[str]:
    """Names of objects that a detector found in other photos alone, and whose box reaches into this one."""
    objects = scene.objects
    if objects is None or scene.exact_objects is not None:
        return set()
    boxes = projected_boxes(scene, objects, int(find_rows(objects.frames, frame)))
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    inside = (boxes[:, 1] > 0).all(axis=1) & (boxes[:, 0] < size - 1).all(axis=1)
    others = np.setdiff1d(np.flatnonzero(inside), found)
    return {folded(objects.labels[k]) for k in others.tolist()}


def _unique_names(scene: Scene) -> Bool[np.ndarray, "n"]:
    seen, unique = seen_objects(scene), []
    for frame in np.unique(seen.frame).tolist():  # the photos of `seen` ascend
        here = seen.take(seen.frame == frame)
        shown, missed = Counter(here.name.tolist()), may_be_missed(scene, frame, here.object)
        unique += [
            called != UNNAMED and shown[name] == 1 and name not in missed and not may_be_called(name, shown)
            for name, called in zip(here.name.tolist(), here.called.tolist(), strict=True)
        ]
    return np.array(unique, dtype=bool)


def _rows_of_unique_names(scene: Scene) -> dict[tuple[int, str], int]:
    seen, rows = seen_objects(scene), np.flatnonzero(unique_names(scene)).tolist()
    return {(int(seen.frame[row]), str(seen.called[row])): row for row in rows}
