import re
from pathlib import Path

import pytest

from spatial_engine.dataset.examples import examples, files_of
from spatial_engine.export import export
from spatial_engine.leaks.question_table import QuestionTable

BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folders(every_format, tmp_path_factory):
    """The dataset, and the exports that have a card, by form."""
    out = tmp_path_factory.mktemp("cards")
    exports = {form: export(every_format, out / form, to=form) for form in ("hf", "webdataset", "trl")}
    return {"itself": every_format.path, **exports}


@pytest.mark.parametrize("form", ["itself", "hf", "webdataset", "trl"])
def test_the_code_of_the_card_loads_the_folder(folders, form, monkeypatch, capsys):
    monkeypatch.chdir(folders[form])
    blocks = BLOCK.findall(Path("README.md").read_text(encoding="utf-8"))
    assert len(blocks) == (1 if form == "trl" else 2)
    ran = 0
    for block in blocks:
        if (needed := re.search(r"^(?:from|import) (datasets|webdataset)\b", block, re.MULTILINE)) is not None:
            try:
                __import__(needed[1])
            except ModuleNotFoundError:
                continue
        exec(compile(block, "README.md", "exec"), found := {"__name__": "card"})
        ran += 1
        rows = found.get("questions") or found.get("rows") or found.get("lines") or [found.get("question")]
        assert len(rows) and all(rows)
    assert ran >= (0 if form == "trl" else 1)


@pytest.mark.parametrize("form", ["itself", "hf", "webdataset", "trl"])
def test_every_leaf_has_an_example_with_its_pictures(folders, every_format, form):
    text = (folders[form] / "README.md").read_text(encoding="utf-8")
    shown = every_format.audit["examples"]
    assert [*shown] == [*every_format.audit["abilities"]] and shown == examples(
        QuestionTable.of(every_format.questions)
    )
    assert text.count("<details><summary>L") == len(shown)
    linked = re.findall(r"\]\(((?:media|examples)/[^)]+)\)", text)
    assert {Path(path).name for path in linked} == {Path(path).name for path in files_of(shown)}
    assert all((folders[form] / path).is_file() for path in linked)
    for example in shown.values():
        assert f"Answer: {str(example['answer'])[:1]}".replace("{", "\\{").replace("[", "\\[") in text


def test_examples_prefer_few_pictures_and_no_video(every_format):
    by_leaf = {}
    for question in every_format.questions:
        by_leaf.setdefault(question.ability, []).append(question)
    for leaf, example in every_format.audit["examples"].items():
        ranks = {q.id: (any(m["kind"] == "video" for m in q.media), len(q.media)) for q in by_leaf[leaf]}
        assert ranks[example["id"]] == min(ranks.values())


def test_hostile_words_do_not_become_markup(folders):
    for folder in folders.values():
        body = (folder / "README.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]
        assert not re.search(r"(?<!\\)<(?!/?details>|/?summary>|think>|/think>)", re.sub(BLOCK, "", body))


def test_licences_are_summarised_by_record(folders, every_format):
    records = every_format.audit["licences"]["records"]
    assert sum(record["questions"] for record in records) == every_format.audit["questions"]
    text = (folders["hf"] / "README.md").read_text(encoding="utf-8")
    for record in records:
        assert f"| {record['footage']} | {', '.join(record['signals'])} | yes | {record['questions']} |" in text
