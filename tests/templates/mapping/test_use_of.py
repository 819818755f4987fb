"""Which of four objects serves a purpose, by a table that two raters agree on."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from templates.mapping.use_of import ObjectsForUse, UseOf
from templates.scene.scene import Scene
from tests.templates import worlds

TEMPLATE = UseOf()
TABLE = tomllib.loads((Path(__file__).parents[3] / "templates/mapping/object_uses.toml").read_text(encoding="utf-8"))


def scene(**labels: str) -> Scene:
    """Boards of which some have other names than in the made-up world."""
    signals = worlds.signals()
    objects = signals["objects"]
    return worlds.scene(
        {**signals, "objects": replace(objects, labels=tuple(labels.get(name, name) for name in objects.labels))}
    )


def asked(scene: Scene) -> ObjectsForUse:
    return TEMPLATE.propose(scene, np.random.default_rng(0), 40)


def test_the_answer_is_the_object_that_serves() -> None:
    facts, here = asked(scene()), scene()
    found = TEMPLATE.measure(facts, here)
    assert len(facts) and not found.why.any()
    at = facts.use.tolist().index("light the room")
    assert facts.names[at, "1234".index(str(found.label[at]))] == "lamp"


def test_two_objects_that_serve_are_not_asked_about() -> None:
    facts, lit = asked(scene()), scene(picture="lantern")
    light = facts.take(facts.use == "light the room")
    both = light.take(np.array([("picture" in row) for row in light.names.tolist()]))
    assert len(both)
    renamed = replace(
        both,
        **{
            one: replace(
                getattr(both, one),
                name=np.where(getattr(both, one).name == "picture", "lantern", getattr(both, one).name),
            )
            for one in ("first", "second", "third", "fourth")
        },
    )
    assert {*TEMPLATE.measure(renamed, lit).why} == {"not exactly one object serves"}


@pytest.mark.parametrize("name", ["torch holder", "television"])
def test_what_nobody_rated_or_raters_doubt_is_no_option(name: str) -> None:
    facts = asked(scene(picture=name))
    light = facts.take(facts.use == "light the room")
    assert name not in light.names


def test_the_table_names_rated_objects_only_and_no_object_twice() -> None:
    rated = {*TABLE["objects"]}
    for row in TABLE["uses"]:
        assert row["serves"] and {*row["serves"]} <= rated and {*row["may_serve"]} <= rated
        assert not {*row["serves"]} & {*row["may_serve"]}


def test_what_one_writes_at_is_not_useless_for_writing() -> None:
    facts = asked(scene(lamp="pen", picture="desk"))
    writing = facts.take(facts.use == "write on paper")
    assert not {"desk", "table"} & {*writing.names.ravel().tolist()}
