"""What a video shows of a rendered room, answered again from the ids of its frames."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial import cKDTree

from experts.objects.object_names import folded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, seeds, surface


def shown(scene: RenderedScene, frame: int, name: str) -> set[int]:
    """The objects of a name in a frame."""
    ids = scene.object_ids(frame)
    return {row for row in np.unique(ids[ids >= 0]).tolist() if folded(scene.objects[row].name) == name}


def counted(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    return len(set().union(*(shown(scene, frame, fact["name"]) for frame in fact["frames"]))) == int(answer)


def in_order(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    first = [min(f for f in fact["frames"] if shown(scene, f, fact[letter])) for letter in "abc"]
    order = [str(number) for number in np.argsort(first) + 1]
    return len({*first}) == len(first) and str(answer) in (" ".join(order), order[0])


def gone_in_order(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    last = [max(f for f in fact["frames"] if shown(scene, f, fact[letter])) for letter in "abc"]
    order = [str(number) for number in np.argsort(last) + 1]
    return len({*last}) == len(last) and str(answer) in (" ".join(order), order[0])


def beside(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the distances of points on the surfaces, at the time of the last frame that shows the object."""
    named = [fact[key] for key in ("name", *"abcd")]
    rows = [set().union(*(shown(scene, frame, name) for frame in fact["frames"])) for name in named]
    last = max(f for f in fact["frames"] if shown(scene, f, fact["name"]))
    assert last not in fact["frames"][-3:] and all(len(each) == 1 for each in rows)
    own, *others = (surface(scene, row, last) for (row,) in rows)
    apart = [cKDTree(own).query(each)[0].min() for each in others]
    return int(np.argmin(apart)) == int(answer) - 1


def nearest(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the places of the cameras; the others are half as far again, and farther than one sees."""
    places = scene.world_from_cam[[fact["frame"], *fact["frames_others"]], :3, 3]
    distance = dict(zip("2345", np.linalg.norm(places[1:] - places[0], axis=1), strict=True))
    right = distance.pop(str(answer))
    return min(distance.values()) > max(1.45 * right, 0.1)


RIGHT = {
    "how_many": counted,
    "first_seen": in_order,
    "last_seen": gone_in_order,
    "stood_beside": beside,
    "place_again": nearest,
}


@seeds(0, 12, sampled=2)
def test_every_answer_is_that_of_the_rendered_frames(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    least = {*RIGHT} if seed == 1 else {"how_many", "first_seen"}
    check(scene, true_signals(scene, as_clip(scene), stride=2), RIGHT, least)


@seeds(0, 2)
def test_objects_that_a_detector_follows_are_not_counted(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    right = {name: RIGHT[name] if name == "place_again" else _never for name in RIGHT}
    check(scene, imitated_signals(scene, as_clip(scene)), right, set())


def _never(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    return False
