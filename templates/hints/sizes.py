"""Hints of size: width and height of objects, in words and beside boxes."""

import numpy as np

from templates.cue import Cue, object_in
from templates.hints.hint import MOST, Allowed, Captioned, Hint, Numbers, Scenes, decided
from templates.media import Box, Photo
from templates.perception.object_extent import ObjectSize, Sides
from templates.scene.objects import SeenObjects, boxed, meet, seen_objects

_IN_PHOTO = 5
"""Most boxes in one photo."""


def sizes_hint(scenes: Scenes, numbers: Numbers, allowed: Allowed, min_confidence: float) -> Hint:
    """Each object once, in the first photo that shows it: the same numbers twice would say which boxes are the same
    object. Needs metric scale."""
    seen, sides_cm, sure = scenes[0].once(("sizes of hints", min_confidence), lambda: _measured(scenes, min_confidence))
    cues: list[Cue] = []
    pictures: list[Captioned] = []
    shown: set[int] = set()
    for frame in numbers:
        boxes: list[Box] = []
        rows = np.flatnonzero(sure & (seen.frame == frame) & ~np.isin(seen.object, list(shown)))
        for row in rows[np.argsort(-np.prod(seen.box_px[rows, 1] - seen.box_px[rows, 0], axis=1), kind="stable")]:
            corners = seen.box_px[row]
            wide, high = sides_cm[row].tolist()
            cue = _cue(frame, corners, (wide, high), numbers)
            if len(boxes) < _IN_PHOTO and allowed(cue) and not any(meet(corners, np.array(b.points_px)) for b in boxes):
                (left, top), (right, bottom) = corners.tolist()
                boxes.append(Box(text=f"{wide:g} x {high:g} cm", points_px=((left, top), (right, bottom))))
                cues.append(cue)
        shown |= set(seen.object[seen.frame == frame].tolist())
        if boxes:
            text = (
                f"photo {numbers[frame]} with boxes around some of its objects, and the width (the longer horizontal "
                "side) and height of each"
            )
            pictures.append(Captioned(text=text, picture=Photo(frame=frame, marks=tuple(boxes))))
    return Hint(cues=cues[:MOST], pictures=pictures)


def _measured(scenes: Scenes, min_confidence: float) -> tuple[SeenObjects, np.ndarray, np.ndarray]:
    """All objects that boxes can mark, width and height of each in whole centimetres, and whether both are known."""
    seen = boxed(seen_objects(scenes[0]), scenes[0])
    facts = [Sides(object=seen.refs(), side=np.full(len(seen), side)) for side in ("width", "height")]
    sides = [decided(ObjectSize(), "numeric", each, scenes, min_confidence) for each in facts]
    values = np.exp(np.column_stack([measured.value[:, 0] for measured, _ in sides]))
    return seen, values.round(), np.all([sure for _, sure in sides], axis=0)


def _cue(frame: int, corners: np.ndarray, sides_cm: tuple[float, float], numbers: Numbers) -> Cue:
    middle = (frame, *corners.mean(axis=0).tolist())
    (first, second), (wide, high) = corners.tolist(), sides_cm
    text = f"{object_in((middle, first, second), numbers)} is {wide:g} cm wide and {high:g} cm high."
    return Cue(text=text, values=sides_cm, pixels=(middle,))
