"""Templates as they are loaded: abilities by name, and plug-ins that are left out."""

import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from experts.registry import PluginWarning
from templates.ability import LEAVES
from templates.perception.orientation import CameraTilt
from templates.registry import TEMPLATES, create_templates
from templates.template import Template


@dataclass(frozen=True, kw_only=True)
class NoSuchLeaf(CameraTilt):
    ability: str = "L3/Puzzles"


@dataclass(frozen=True, kw_only=True)
class NoSuchSignal(CameraTilt):
    needs: frozenset[str] = frozenset({"gravitty"})


@dataclass(frozen=True, kw_only=True)
class NoSuchFormat(CameraTilt):
    formats: tuple[str, ...] = ("choise",)


class Unfinished(Template):
    def propose(self, world, rng, count): ...
    def measure(self, facts, world): ...


class Undeclared(Unfinished):
    def answer(self, format, facts, measured): ...
    def phrase(self, format, fact, answer, offer): ...


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("NoSuchLeaf", "ability names 'L3/Puzzles', .* nearest: L3/Causal Reasoning/Geometry Puzzles"),
        ("NoSuchSignal", "needs or reads names 'gravitty', which does not exist; nearest: gravity"),
        ("NoSuchFormat", "formats names 'choise', which does not exist; nearest: choice"),
        ("Unfinished", "Unfinished lacks the methods answer, phrase"),
        ("Undeclared", "Undeclared lacks name, version, ability, formats, facts, needs, reads"),
        ("NoSuchClass", "ImportError"),
        ("EntryPoint", "is not a template: derive it from templates.template.Template"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_left_out_by_name(target, said, monkeypatch):
    theirs = EntryPoint(name="theirs", value=f"{__name__}:{target}", group=TEMPLATES.group)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [theirs] * (group == TEMPLATES.group))
    with pytest.warns(
        PluginWarning, match=f"'theirs' of the package tests .*:{target}. is left out: .*{said}"
    ) as heard:
        assert list(create_templates()) == list(TEMPLATES.builtin)
    assert len(heard) == 1 and "\n" not in str(heard[0].message)


def test_the_readme_counts_templates_and_leaves():
    readme = Path(__file__).parents[2].joinpath("README.md").read_text()
    templates, leaves = re.search(r"(\d+) templates \(kinds of question\) cover all (\d+)", readme).groups()
    made = create_templates().values()
    assert int(templates) == len(made)
    assert int(leaves) == len({template.ability for template in made})


@pytest.mark.parametrize("leaf", LEAVES)
def test_every_leaf_is_asked_by_three_templates_in_two_formats(leaf):
    asking = [template for template in create_templates().values() if template.ability == leaf]
    assert len(asking) >= 3 and len({format for template in asking for format in template.formats}) >= 2
