"""Marked parts of furniture in rendered rooms, answered again from the boxes that the marked pixels' rays meet."""

from base64 import b64decode
from collections.abc import Mapping

import cv2
import numpy as np
from scipy.spatial import cKDTree

from spatial_engine.dataset.question_line import question_of
from spatial_engine.export.spatialtree import right_response
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.scoring import official
from spatial_engine.scoring.official.row import row
from templates.answers.score import Unscored
from templates.columns import Json
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.settings import AskSettings
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_matching_in_rooms import at

_NEAR_M = 0.01


def serves(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The answer's mark alone lies on a box of the object that is for that."""
    frame, row = fact["object"]["frame"], meant(scene, fact["object"])
    poses, found = scene.world_from_boxes(frame), []
    for xy_px in fact["points_px"]:
        place = at(scene, frame, xy_px)
        on = [
            k
            for k in scene.objects[row].boxes
            if (np.abs(poses[k][:3, :3].T @ (place - poses[k][:3, 3])) <= scene.furniture[k].half_m + _NEAR_M).all()
        ]
        if not on:
            return False
        found.append(any(fact["deed"] in scene.furniture[k].affords for k in on))
    return found == [number == answer for number in "123"]


def serve(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Each of the answer's two marks alone lies on a box for its action."""
    other = {**fact, "deed": fact["other_deed"]}
    first, second = str(answer).split()
    return first != second and serves(scene, fact, first) and serves(scene, other, second)


def pointed_to(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The pixel and those around it show a box of the object that is for that; the name alone tells which object."""
    frame, row = fact["object"]["frame"], meant(scene, fact["object"])
    x, y = np.round(answer).astype(int)
    shown = {*scene.ids(frame)[y - 1 : y + 2, x - 1 : x + 2].ravel().tolist()}
    called = {k for k in np.unique(scene.object_ids(frame)).tolist() if scene.objects[k].name == fact["object"]["name"]}
    used = {k for k in scene.objects[row].boxes if fact["deed"] in scene.furniture[k].affords}
    return shown <= used and (fact["marked"] or called - {-1} == {row})


def within_reach(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the highest point of the surfaces of the object; the floor is at 0."""
    top = surface(scene, meant(scene, fact["object"]), fact["object"]["frame"])[:, 2].max()
    return bool((answer == "yes") == (top <= fact["reach_cm"] / 100) and abs(top - fact["reach_cm"] / 100) > 0.05)


def tops(scene: RenderedScene, frame: int, xy: np.ndarray, below_m: float) -> np.ndarray:
    """Where vertical rays that fall from a height onto the floor first meet a box; it must be upright."""
    found = np.zeros(len(xy))
    for box, pose in zip(scene.furniture, scene.world_from_boxes(frame), strict=True):
        over = (np.abs((xy - pose[:2, 3]) @ pose[:2, :2]) <= box.half_m[:2]).all(axis=1)
        low, top = pose[2, 3] - box.half_m[2], pose[2, 3] + box.half_m[2]
        found = np.where(over & (low < below_m), np.maximum(found, min(top, below_m)), found)
    return found


def at_seat_height(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """What falls onto the answer's place from 15 cm above it, and all around, stops there, at 35 to 55 cm; elsewhere
    the place is not so high, or its surroundings drop away or rise."""
    turns = np.exp(2j * np.pi * np.arange(24) / 24)
    around = np.concatenate([[[0, 0]], *(r * np.column_stack([turns.real, turns.imag]) for r in (0.05, 0.08, 0.12))])
    seats = []
    for xy_px in fact["points_px"]:
        place = at(scene, fact["frame"], xy_px)
        level = np.abs(tops(scene, fact["frame"], place[:2] + around, place[2] + 0.15) - place[2]).max() < 0.03
        seats.append(bool(level and 0.35 < place[2] < 0.55))
    return seats == [number == answer for number in "123"]


def passes(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By tapes between points on the surfaces of both objects, laid on the floor."""
    frame = fact["first"]["frame"]
    one, other = (surface(scene, meant(scene, fact[each]), frame) for each in ("first", "second"))
    tape = cKDTree(one[:, :2]).query(other[:, :2])[0].min()
    low = max(one[:, 2].min(), other[:, 2].min())
    return bool((answer == "yes") == (tape >= fact["width_cm"] / 100) and low < 0.05)


_FIT = {
    "sit down": {"chair", "stool", "sofa", "armchair", "bed", "crate", "cushion", "suitcase", "parcel", "bucket"},
    "climb up to reach a high shelf": {
        "chair",
        "stool",
        "crate",
        "armchair",
        "bed",
        "desk",
        "table",
        "suitcase",
        "sofa",
    },
    "light the room": {"lamp", "lantern", "window"},
    "know what time it is": {"clock", "radio"},
    "look at one's own face": {"mirror", "window"},
    "boil water for tea": {"kettle", "pot", "teapot"},
    "pour tea": {"teapot", "kettle", "jar", "pot"},
    "drink coffee": {"cup", "jar", "tin", "bowl"},
    "toast a slice of bread": {"toaster"},
    "take a photo": {"camera"},
    "print a page": {"printer"},
    "hear music or news": {"radio", "speaker"},
    "read a story": {"book"},
    "find where a country lies": {"globe", "book"},
    "feel moving air on a hot day": {"fan", "window", "door"},
    "drive a nail into a wall": {"drill"},
    "drill a hole into a wall": {"drill"},
    "protect one's head on a bicycle ride": {"helmet"},
    "keep cut flowers in water": {"vase", "jar", "bucket", "pot", "cup", "teapot", "kettle", "tin"},
    "carry five litres of water": {"bucket", "pot", "jar", "kettle", "basket", "bag"},
    "carry clothes on a journey": {"suitcase", "bag", "basket", "parcel", "crate"},
    "play a board or card game": {"game", "table"},
    "store many books upright": {"shelf", "bookshelf", "cupboard", "crate", "desk"},
    "sleep for a night": {"bed", "sofa", "armchair"},
    "rest one's head in bed": {"cushion", "bed", "bag"},
    "go into the next room": {"door"},
    "shut out the light of a window": {"screen", "curtain"},
}
"""Whatever of the rendered kinds could serve at all, written down without a look at the raters' table."""


def fits_the_use(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Only the answer's object could serve."""
    names = [scene.objects[meant(scene, fact[one])].name for one in ("first", "second", "third", "fourth")]
    return [name in _FIT[fact["use"]] for name in names] == [number == answer for number in "1234"]


RIGHT = {"afford_mark": serves, "afford_parts": serve, "afford_point": pointed_to, "body_fit": within_reach}
RIGHT |= {"use_of": fits_the_use, "seat_height": at_seat_height, "walk_between": passes}


@seeds(0, 12)
def test_every_answer_is_that_of_the_boxes(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=320, height_px=240)
    check(scene, true_signals(scene, as_clip(scene), stride=4), RIGHT, {*RIGHT} - {"afford_parts"})


def test_every_pixel_of_a_region_shows_such_a_part_and_the_benchmark_agrees() -> None:
    scene = furnished_room(np.random.default_rng(1), frames=8, width_px=320, height_px=240)
    clip, template = as_clip(scene), TEMPLATES.load("afford_point")()
    found = ask_clip(clip, dict(true_signals(scene, clip, stride=2)), [template], AskSettings(facts_per_template=20), 0)
    drafts = [draft for one in found.asked for draft in one.drafts()]
    assert len(drafts) >= 8
    for draft in drafts:
        made = row(question_of(draft, (), clip))
        assert not isinstance(made, Unscored)
        assert official.process_results(made, [right_response(made)])["SpaTreeBench"]["score"] == 1.0
        mask = cv2.imdecode(np.frombuffer(b64decode(made["answer"]), np.uint8), cv2.IMREAD_GRAYSCALE) > 0
        ids, ref = scene.ids(draft.fact["object"]["frame"]), draft.fact["object"]
        used = [k for k in scene.objects[meant(scene, ref)].boxes if draft.fact["deed"] in scene.furniture[k].affords]
        assert np.isin(ids[mask], used).mean() > 0.99 and mask.sum() >= 0.4 * np.isin(ids, used).sum()
