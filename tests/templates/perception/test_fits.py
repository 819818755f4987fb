"""Whether objects pass between two others: exact, of objects that stand beside each other, and silent near the gap."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Objects, Signal
from templates.asked import Draft
from templates.perception.fits import Fits, WhichFits
from tests.templates import worlds

TEMPLATES = (Fits(), WhichFits())
GAP = 0.6
PLACES = ((-0.55, 4.0, -0.5), (0.55, 4.0, -0.5), (-1.75, 5.2, -0.5), (1.75, 5.2, -0.5))
"""Left and right of the gap, and to the sides; the camera looks along y, and z is up."""
BESIDE = (0.5, 0.5, 0.6)


def scene(
    first: tuple[float, float, float] = (0.9, 0.3, 0.9),
    second: tuple[float, float, float] = (1.0, 1.2, 0.5),
    *,
    places: tuple[tuple[float, float, float], ...] = PLACES,
    beside: tuple[float, float, float] = BESIDE,
    sigma: float = 0.0,
) -> dict[str, Signal]:
    """A chest and a stool with a gap of 0.6 between them, a sofa and a table, as boxes in the pictures."""
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, :3, 3] = places
    known = Objects(
        frames=worlds.FRAMES,
        labels=("chest", "stool", "sofa", "table"),
        ids=np.full((len(worlds.FRAMES), 1, 1), -1, dtype=np.int32),
        world_from_object=np.tile(poses, (len(worlds.FRAMES), 1, 1, 1)),
        provenance=worlds.SOURCE,
        size=np.array([beside, beside, first, second]),
        centre_sigma=np.full(4, sigma),
        size_sigma=np.full((4, 3), sigma),
    )
    return worlds.detected({**worlds.signals(), "objects": known})


def answers(signals: dict[str, Signal]) -> set[tuple[str, tuple[str, ...], str]]:
    """Format, names of the boxed objects, and what is said, about the gap between the chest and the stool."""
    found = set()
    for draft in drafts(signals):
        names = tuple(ref["name"] for ref in draft.fact.values())
        said = draft.options[worlds.written(draft)].shown if draft.options else worlds.written(draft)
        if {*names[:2]} == {"chest", "stool"}:
            found.add((draft.format, names[2:], str(said)))
    return found


def drafts(signals: dict[str, Signal]) -> list[Draft]:
    return [draft for template in TEMPLATES for draft in worlds.drafts(worlds.ask(template, signals, facts=200))]


def test_the_shorter_horizontal_side_decides() -> None:
    assert answers(scene()) == {
        ("yes_no", ("sofa",), "yes"),
        ("yes_no", ("table",), "no"),
        ("choice", ("sofa", "table"), "Only object 1"),
        ("choice", ("table", "sofa"), "Only object 2"),
    }
    assert {said for format, _, said in answers(scene(second=(0.4, 1.2, 0.5))) if format == "choice"} == {"Both"}
    assert {said for format, _, said in answers(scene(first=(0.9, 0.8, 0.9))) if format == "choice"} == {"Neither"}


@pytest.mark.parametrize("ratio", [1.05, 1.2, 1.35])
@pytest.mark.parametrize("inverse", [False, True])
def test_people_can_see_the_difference(ratio: float, inverse: bool) -> None:
    found = answers(scene(first=(0.9, GAP / ratio if inverse else GAP * ratio, 0.9)))
    assert bool({names for _, names, _ in found if "sofa" in names}) == (ratio > 1.25)


def test_the_ways_to_be_wrong_are_named() -> None:
    asked = drafts(scene())
    chosen = [draft for draft in asked if draft.format == "choice"]
    assert chosen and all(option.mistake for d in chosen for k, option in enumerate(d.options) if k != d.written)
    sofa = next(d for d in asked if d.format == "yes_no" and d.fact["first"]["name"] == "sofa")
    assert sofa.traps["the longer side"] == sofa.traps["the height"] == "no"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"places": (*PLACES[:1], (0.55, 4.0, -0.1), *PLACES[2:])}, "the objects do not stand beside each other"),
        ({"beside": (0.5, 0.03, 0.6)}, "an object hangs on a wall"),
    ],
)
def test_only_what_stands_on_one_level_has_a_gap(changes: dict[str, tuple[float, ...]], reason: str) -> None:
    signals = scene(**changes)  # type: ignore[arg-type]
    assert not answers(signals)
    for template in TEMPLATES:
        facts = worlds.ask(template, scene(), facts=10).asked[0].facts
        assert reason in {*template.measure(facts, worlds.scene(_seen_as(signals))).why.tolist()}


def _seen_as(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with the boxes in the pictures of the usual scene, so that facts are found again."""
    usual, changed = scene()["objects"], signals["objects"]
    assert isinstance(usual, Objects) and isinstance(changed, Objects)
    return {**signals, "objects": replace(changed, box_px=usual.box_px)}


def test_uncertain_sides_and_unseen_ends_are_not_asked_about() -> None:
    assert answers(scene(sigma=0.01)) == answers(scene())
    assert not answers(scene(sigma=0.2))
    signals = scene(sigma=0.01)
    objects = signals["objects"]
    assert isinstance(objects, Objects) and objects.size_sigma is not None
    unseen = replace(objects, size_sigma=np.where([[False], [False], [True], [True]], np.inf, objects.size_sigma))
    assert not answers({**signals, "objects": unseen})


def test_a_mirror_changes_nothing() -> None:
    left, right, *others = (tuple(place) for place in np.array(PLACES) * [-1, 1, 1])
    assert answers(scene(places=(left, right, *others))) == answers(scene())  # type: ignore[arg-type]


def test_another_world_frame_changes_nothing() -> None:
    here = scene()
    path, objects = here["camera_path"], here["objects"]
    assert isinstance(path, CameraPath) and isinstance(objects, Objects)
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=np.random.default_rng(0)).as_matrix()
    there = {
        **worlds.with_path(here, world_from_cam=turned @ path.world_from_cam),
        "objects": replace(objects, world_from_object=turned @ objects.world_from_object),
    }
    shown = [[worlds.shown(draft) for draft in drafts(each)] for each in (here, there)]
    assert shown[0] and shown[0] == shown[1]
