from dataclasses import replace

import pytest

from templates.ability import LEAVES
from templates.cue import Cue
from templates.hints.kinds import LEAVES as KINDS
from templates.hints.rule import _ASKED, asks_for, states_answer
from templates.registry import create_templates
from tests.spatial_engine.evaluation.drafted import questions

PLAN = replace(questions()["plan"], template="navigate")


def test_the_table_names_leaves_and_templates_of_other_leaves() -> None:
    abilities = {name: template.ability for name, template in create_templates().items()}
    for quantity, names in _ASKED.items():
        assert names <= {*LEAVES, *abilities}, quantity
        assert not [name for name in names if abilities.get(name) in names], "its leaf says it already"


@pytest.mark.parametrize(("kind", "leaf"), KINDS.items())
def test_a_leaf_gets_no_hint_that_states_its_own_facts(kind: str, leaf: str) -> None:
    assert asks_for(replace(PLAN, ability=leaf), kind) and not asks_for(PLAN, kind)


@pytest.mark.parametrize(
    ("template", "withheld"),
    [
        ("goal_reached", {"depth"}),
        ("body_fit", {"size"}),
        ("count_on_side", {"size"}),
        ("best_view", {"correspondence"}),
        ("enough_seen", {"correspondence", "size"}),
        ("first_move", set()),
        ("arm_plan", set()),
    ],
)
def test_templates_that_ask_for_a_quantity_get_no_hint_that_shows_it(template: str, withheld: set[str]) -> None:
    asked = replace(PLAN, template=template, ability=create_templates()[template].ability)
    assert {kind for kind in KINDS if asks_for(asked, kind)} == withheld


def test_captions_get_no_depths_and_no_sizes() -> None:
    asked = replace(PLAN, ability="L2/Understanding/Spatial Caption")
    assert [kind for kind in KINDS if asks_for(asked, kind)] == ["depth", "size"]


def test_numbers_that_count_as_right_are_not_said() -> None:
    asked = replace(questions()["numeric"], ability="L1/Motion/Ego", answer=1.5, tolerance=0.1)
    assert states_answer(Cue(text="", values=(1.58,)), "depth", asked)
    assert not states_answer(Cue(text="", values=(1.62,)), "depth", asked)
