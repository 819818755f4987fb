"""What carries two objects and which hides the other, in a small world with a vase on a table."""

from dataclasses import replace

import numpy as np

from experts.signals import Objects, Signal
from templates.mapping.relation_of import RelationOf
from templates.scene.hiding import hiding
from templates.scene.stands import held
from templates.truth import verdict
from tests.templates import worlds

SIGNALS = worlds.boards(worlds.with_vase(worlds.signals()))


def changed(**columns: object) -> dict[str, Signal]:
    objects = SIGNALS["objects"]
    assert isinstance(objects, Objects)
    return {**SIGNALS, "objects": replace(objects, **columns)}  # type: ignore[arg-type]


def relations(signals: dict[str, Signal], first: str, second: str) -> tuple[str, str]:
    """What holds and what hides, in the first photo."""
    scene = worlds.scene(signals)
    assert scene.objects is not None
    a, b = (np.array([scene.objects.labels.index(name)]) for name in (first, second))
    return held(scene, np.array([0]), a, b)[0].item(), hiding(scene, np.array([0]), a, b)[0].item()


def in_front(name: str, of: str) -> dict[str, Signal]:
    """The world with an object on the line of sight to another one, nearer by a third."""
    objects, scene = SIGNALS["objects"], worlds.scene(SIGNALS)
    assert isinstance(objects, Objects)
    poses, (one, other) = objects.world_from_object.copy(), map(objects.labels.index, (name, of))
    eye = scene.world_from_cam(np.array([0]))[0, :3, 3]
    poses[:, one, :3, 3] = eye + (poses[:, other, :3, 3] + [0.15, 0, 0] - eye) / 1.5
    moved = worlds.detected(changed(world_from_object=poses, box_px=None))
    return worlds.boards(worlds._with_masks(moved))


def test_the_table_carries_the_vase_and_nothing_else_is_known() -> None:
    assert relations(SIGNALS, "vase", "table")[0] == "carried" and relations(SIGNALS, "table", "vase")[0] == "carries"
    assert relations(SIGNALS, "vase", "lamp")[0] == ""  # nobody knows what is beneath the lamp


def test_what_stands_before_another_object_hides_it() -> None:
    signals = in_front("lamp", of="sofa")
    assert relations(signals, "lamp", "sofa")[1] == "hides" and relations(signals, "sofa", "lamp")[1] == "hidden"
    assert relations(SIGNALS, "lamp", "picture")[1] == "neither"
    without = {name: signal for name, signal in signals.items() if name != "depth"}
    assert relations(without, "lamp", "sofa")[1] == ""


def test_answers_agree_in_any_world_and_with_objects_exchanged() -> None:
    signals = in_front("lamp", of="sofa")
    drafts, truth = worlds.drafts(worlds.ask(RelationOf(), signals)), worlds.scene(signals)
    assert {draft.format for draft in drafts} == {"choice", "yes_no"}
    other = {"carried": "carries", "carries": "carried", "hides": "hidden", "hidden": "hides"}
    for draft in drafts:
        assert verdict(RelationOf(), draft.format, dict(draft.fact), draft.answer, truth)
        if draft.format == "choice":
            assert draft.options[worlds.written(draft)].value == worlds.written(draft) or len(draft.options) == 4  # type: ignore[call-overload]
            fact = {**draft.fact, "first": draft.fact["second"], "second": draft.fact["first"]}
            said = RelationOf().measure(RelationOf.facts.from_json([fact]), truth).label
            label = str(draft.answer.to_json().answer)
            assert said is not None and said.item() == other.get(label, label)


def test_an_uncertain_place_or_no_size_gives_no_relation() -> None:
    count = len(SIGNALS["objects"].labels)  # type: ignore[union-attr]
    far_off = changed(centre_sigma=np.full(count, 1.0), size_sigma=np.full((count, 3), 1.0))
    assert not worlds.drafts(worlds.ask(RelationOf(), {n: s for n, s in far_off.items() if n != "depth"}))
    assert relations(changed(size=None), "vase", "table") == ("", "")
    assert relations(changed(world_from_object=np.full((24, count, 4, 4), np.nan)), "vase", "table") == ("", "")


def test_in_a_stack_both_words_are_true_and_neither_is_told() -> None:
    """The chair is put on the vase, which stands on the table."""
    objects = SIGNALS["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    chair, vase = map(objects.labels.index, ("chair", "vase"))
    poses, size = objects.world_from_object.copy(), objects.size.copy()
    size[chair] = size[vase]
    poses[:, chair] = poses[:, vase]
    poses[:, chair, :3, 3] += size[vase, 2] * poses[:, vase, :3, 2]
    stack = changed(world_from_object=poses, size=size)
    assert relations(stack, "chair", "vase")[0] == relations(stack, "vase", "chair")[0] == ""
    assert relations(stack, "vase", "table")[0] == relations(stack, "chair", "table")[0] == "carried"
