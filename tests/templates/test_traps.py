"""Which typical mistake leads to which wrong answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from spatial_engine.dataset.question_line import question_of
from templates.facts import Facts
from templates.measured import Measured
from templates.perception.object_distance import ClosestObject, ThreeObjects
from templates.perception.object_size import WiderObject
from templates.scene.scene import Scene
from templates.template import Template
from tests.templates import worlds


@dataclass(frozen=True, kw_only=True)
class _Trapped(ClosestObject):
    traps: Mapping[str, str]

    def measure(self, facts: ThreeObjects, scene: Scene) -> Measured:
        return replace(
            super().measure(facts, scene), traps={name: np.full(len(facts), word) for name, word in self.traps.items()}
        )


class _TrappedRatio(WiderObject):
    def measure(self, facts: Facts, scene: Scene) -> Measured:
        assert isinstance(facts, self.facts)
        return replace(super().measure(facts, scene), traps={"upside down": np.full(len(facts), 0.25)})  # type: ignore[arg-type]


def traps(template: Template) -> list[tuple[object, object, dict[str, object]]]:
    """Format, answer and traps of each question."""
    found = [
        question_of(draft, [*range(len(draft.options))][::-1], worlds.clip())
        for draft in worlds.drafts(worlds.ask(template, worlds.signals()))
    ]
    assert found
    return [(question.format, question.answer, question.evidence.get("traps", {})) for question in found]


def test_a_mistake_leads_to_the_letter_of_its_option() -> None:
    for _, answer, found in traps(_Trapped(traps={"first": "1", "second": "2", "none": ""})):
        expected = {"first": "C", "second": "B"}  # options are reversed
        assert found == {name: letter for name, letter in expected.items() if letter != answer}


def test_a_mistake_leads_to_a_number_in_the_numeric_format_alone() -> None:
    for format, _, found in traps(_TrappedRatio()):
        assert found == ({"upside down": 0.25} if format == "numeric" else {})
