"""Whether objects touch, and how: by what stands on what, by hollows, and by gaps between boxes."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Parts, Signal
from templates.asked import Draft
from templates.perception.topology import RELATIONS, Topology
from templates.scene.contact import APART, INSIDE, ON, UNDER
from tests.templates import worlds

TEMPLATE = Topology()
TABLE = (1.2, 0.8, 0.6)
"""Size of the table; its top is 0.1 below the first camera. The camera is 3.5 in front of it."""


def of_two(
    size: tuple[float, float, float], place: tuple[float, float, float], *, hollow: bool = False, sigma: float = 0.001
) -> dict[str, Signal]:
    """A lamp and a table; no other object is near. With `hollow`, things can be put in the table."""
    signals = worlds.signals()
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    poses, sizes = objects.world_from_object.copy(), np.full((len(objects.labels), 3), 0.1)
    table, lamp = (objects.labels.index(name) for name in ("table", "lamp"))
    far = np.arange(len(objects.labels))
    poses[..., :3, 3] = np.column_stack([3.0 + far, 30.0 + far, np.full(len(far), 9.0)])
    poses[:, table, :3, 3], poses[:, lamp, :3, 3] = (0.2, 3.5, -0.4), place
    sizes[table], sizes[lamp] = TABLE, size
    changed = replace(
        objects,
        world_from_object=poses,
        size=sizes,
        centre_sigma=np.full(len(far), sigma),
        size_sigma=np.full((len(far), 3), sigma),
    )
    parts = Parts(
        frames=objects.frames,
        names=("bottom",),
        object=np.array([table]),
        affords=(("put in",) if hollow else (),),
        ids=np.full((len(objects.frames), 1, 1), -1, dtype=np.int32),
        provenance=worlds.SOURCE,
    )
    return worlds.detected({**signals, "objects": changed}) | {"parts": parts}


def drafts(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, dict(signals), facts=60))


def relations(signals: dict[str, Signal]) -> set[str]:
    """Of the lamp to the table."""
    return {
        str(draft.evidence["relation"])
        for draft in drafts(signals)
        if (draft.fact["first"]["name"], draft.fact["second"]["name"]) == ("lamp", "table")
    }


ON_TABLE = ((0.3, 0.3, 0.5), (0.2, 3.5, 0.15))


@pytest.mark.parametrize(
    ("size", "place", "hollow", "expected"),
    [
        (*ON_TABLE, False, ON),
        ((0.3, 0.3, 0.5), (0.2, 3.5, 0.5), False, APART),  # above the table
        ((0.3, 0.3, 0.5), (0.2, 3.5, 0.25), False, None),  # a little above it
        ((0.3, 0.3, 0.5), (1.3, 3.5, -0.4), False, APART),
        ((0.3, 0.3, 0.5), (0.95, 3.5, -0.4), False, None),  # boxes meet at a side
        ((0.3, 0.3, 0.4), (0.2, 3.5, -0.4), True, INSIDE),
        ((0.3, 0.3, 0.4), (0.2, 3.5, -0.4), False, None),  # between its legs, perhaps
    ],
)
def test_the_relation_follows_from_the_boxes(
    size: tuple[float, float, float], place: tuple[float, float, float], hollow: bool, expected: str | None
) -> None:
    assert relations(of_two(size, place, hollow=hollow)) == ({expected} if expected else set())


def test_what_stands_on_the_floor_below_a_table_with_a_drawer_is_not_inside() -> None:
    raised = of_two((0.3, 0.3, 0.3), (0.2, 3.5, -0.4), hollow=True)
    assert relations(worlds.with_floor(raised, z=-0.7)) == {INSIDE}
    below = of_two((0.3, 0.3, 0.3), (0.2, 3.5, -0.55), hollow=True)
    assert relations(worlds.with_floor(below, z=-0.7)) == set() and relations(below) == {INSIDE}


def test_the_other_way_round_on_top_is_underneath() -> None:
    found = [d for d in drafts(of_two(*ON_TABLE)) if d.fact["first"]["name"] == "table"]
    assert {d.evidence["relation"] for d in found if d.fact["second"]["name"] == "lamp"} == {UNDER}


def test_yes_and_no_follow_from_the_relation() -> None:
    holds = {ON: {ON, "touching"}, UNDER: {UNDER, "touching"}, INSIDE: {INSIDE}, APART: set()}
    for draft in drafts(of_two(*ON_TABLE)):
        relation, asked = str(draft.evidence["relation"]), draft.fact["asked"]
        assert relation in RELATIONS
        if draft.format == "yes_no":
            assert worlds.written(draft) == ("yes" if asked in holds[relation] else "no")
            assert (relation, asked) != (INSIDE, ON)
        else:
            assert draft.options[draft.written].value == relation and not asked
            assert all(option.mistake for k, option in enumerate(draft.options) if k != draft.written)


def test_pairs_that_are_apart_are_no_more_than_the_others() -> None:
    found = [str(draft.evidence["relation"]) for draft in drafts(of_two(*ON_TABLE))]
    assert len(found) >= 20 and found.count(APART) <= len(found) / 2 + 8


def test_vague_places_and_no_gravity_silence_it() -> None:
    assert not relations(of_two(*ON_TABLE, sigma=0.3))
    assert not drafts({name: s for name, s in of_two(*ON_TABLE).items() if name != "gravity"})
