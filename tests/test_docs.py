"""Pages that agree with the code: names of the API, sections of the data card, prompts, leaves of the tree, gates."""

import re
import tomllib
from functools import reduce
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest

import spatial_engine
from benchmarks.trust.gate_table import MARK
from benchmarks.trust.gates import GATES
from experts.registry import EXPERTS
from spatial_engine.dataset import card
from templates.ability import LEAVES
from templates.registry import create_templates
from tests.reasons import all_reasons

ROOT = Path(__file__).parents[1]


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", re.findall(r"^::: (\S+)", page("api"), re.MULTILINE))
def test_every_name_of_the_api_exists_and_has_a_line(name: str) -> None:
    assert resolve_name(name) is not None
    text = re.sub(r"^:::.*\n", "", page("api"), flags=re.MULTILINE)
    assert re.search(rf"`(se\.|[\w.]*\.)?{name.rpartition('.')[2]}\b", text)


def test_every_name_of_the_package_is_on_the_page() -> None:
    missing = {name for name in spatial_engine.__all__ if not re.search(rf"\b{name}\b", page("api"))}
    assert not missing - {"__version__"}


def test_the_sections_of_the_data_card_are_explained() -> None:
    written = re.findall(r"## ([\w ,]+)\\n", Path(card.__file__).read_text(encoding="utf-8"))
    explained = re.findall(r"^\*\*(.+)\.\*\*", page("data_card"), re.MULTILINE)
    assert len(written) > 5 and explained[: len(written)] == written


def test_the_page_of_abilities_shows_every_template_and_format() -> None:
    sections = re.split(r"^#### `(\w+)`$", page("abilities"), flags=re.MULTILINE)
    shown = {
        (name, format)
        for name, text in zip(sections[1::2], sections[2::2], strict=True)
        for format in re.findall(r"^(\w+):$", text, re.MULTILINE)
    }
    templates = create_templates()
    assert shown == {(name, format) for name, template in templates.items() for format in template.formats}
    pictures = {*re.findall(r"\(abilities/(\w+\.jpg)\)", page("abilities"))}
    assert pictures == {path.name for path in (ROOT / "docs/abilities").iterdir()}


def test_the_number_of_prompts_is_that_of_the_files() -> None:
    def counts(table: dict) -> set[int]:
        nested = (counts(value) for value in table.values() if isinstance(value, dict))
        return set().union(*nested) | ({len(table["prompts"])} if "prompts" in table else set())

    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "templates").rglob("*.toml")]
    found = set().union(*map(counts, files))
    said = str(min(found)) if len(found) == 1 else f"{min(found)} to {max(found)}"
    for name in ("data_card", "extend"):
        assert f"have {said}" in page(name)


def test_the_leaves_are_listed() -> None:
    level, branch = None, None
    found = []
    for line in page("concepts").splitlines():
        if row := re.match(r"\| (L\d) \| ([^|]+) \| ([^|]+) \|$", line):
            level, branch = row[1], row[2]
            found += [f"{level}/{branch}/{leaf}" for leaf in row[3].split(", ")]
    assert tuple(found) == LEAVES


def test_every_reason_of_a_refusal_is_on_the_page_of_gates() -> None:
    explained = {" ".join(text.split()) for text in re.findall("`([^`]+)`", page("gates"))}
    assert len(all_reasons()) > 400 and not all_reasons() - explained


LIMITS = re.findall(r"`((?:[a-z_0-9]+\.)+[a-z_0-9]+)` (\d+(?:\.\d+)?)(°?)", page("gates"))


@pytest.mark.parametrize(("path", "number", "unit"), LIMITS, ids=[path for path, _, _ in LIMITS])
def test_limits_on_the_page_of_gates_are_those_of_the_code(path: str, number: str, unit: str) -> None:
    name, *rest = path.split(".")
    value = reduce(getattr, rest, EXPERTS.load(name)().settings)
    assert float(number) == pytest.approx(np.degrees(value) if unit else value)


def test_the_page_of_gates_names_every_row_of_its_ablation_with_its_numbers() -> None:
    before, ablation, _ = page("gates").split(MARK)
    rows = [line.split("|") for line in ablation.splitlines() if len(line.split("|")) == 11][2:]
    measured = {cells[2].strip(): [float(cells[k]) for k in (8, 4, 6)] for cells in rows}
    told = re.findall(r"\*([^*|]+)\*: (\d+), ([−\d.]+) / ([−\d.]+)", " ".join(before.split()))
    assert {name for name, *_ in told} == measured.keys() == {gate.name for gate in GATES}
    for name, *numbers in told:
        assert [float(number.replace("−", "-")) for number in numbers] == measured[name], name


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda path: path.stem)
def test_pages_write_dataset_as_one_word(path: Path) -> None:
    assert not re.search(r"\bdata[\s-]+sets?\b", path.read_text(encoding="utf-8"), re.IGNORECASE)
