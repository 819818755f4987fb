from dataclasses import replace

from spatial_engine.dataset.audit import audit, set_truth
from spatial_engine.dataset.card import card
from spatial_engine.dataset.examples import examples, examples_in_words
from spatial_engine.dataset.question_line import question_of
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.leaks.question_table import QuestionTable
from templates.generate import SURPLUS
from tests.spatial_engine.drafts import NASTY, clip, clip_questions, ratio, walk, which_map


def test_says_what_the_audit_says(tmp_path):
    dataset = write_dataset(tmp_path / "my set", [clip_questions(count=2)], clip, seed=5)
    text = (dataset.path / "README.md").read_text()
    assert text.startswith('---\npretty_name: "my set"\n') and "seed 5" in text
    for leaf, found in dataset.audit["abilities"].items():
        assert f"| {leaf} | {found['questions']} | {found['facts']} |" in text
    assert "CC-BY-4.0" in text and "No ground truth was available" in text
    set_truth(dataset.path, {"right": 9, "wrong": 1, "undecidable": 2})
    assert "9 facts are right, 1 are wrong, and 2 are undecidable" in card(dataset.audit, "my set")


def test_names_and_reasons_are_literal(tmp_path):
    dataset = write_dataset(tmp_path / "d", [clip_questions(count=2)], clip, seed=0)
    text = card(dataset.audit, NASTY)
    body = text.split("---\n", 2)[2]
    assert "\\<img" in body and "<img" not in body.replace("\\<", "") and "<b>" not in body
    assert text.split("\n")[1].startswith(
        'pretty_name: "<img src=x onerror=alert(1)> \\"quoted\\" \'s\\n</script> файл'
    )


def test_ten_reasons_are_shown_and_the_others_folded(tmp_path):
    dataset = write_dataset(tmp_path / "d", [clip_questions(count=2)], clip, seed=0)
    refused = {"L1/Motion/Ego": {f"reason {number}": number for number in range(1, 14)}}
    text = card({**dataset.audit, "refused": refused, "dropped": {}}, "d")
    shown, _, folded = text.partition("<details><summary>3 more reasons</summary>\n\n|")
    assert shown.count("| L1/Motion/Ego | reason") == 10 and folded.count("| L1/Motion/Ego | reason") == 3
    assert shown.index("reason 13 |") < shown.index("reason 4 |") and "reason 1 |" in folded
    few = card({**dataset.audit, "refused": {"L1/Motion/Ego": {"reason": 1}}, "dropped": {}}, "d")
    assert "more reason" not in few


def test_facts_beyond_the_limit_are_not_among_the_reasons(tmp_path):
    surplus = {("L1/Motion/Ego", SURPLUS): 39}
    record = audit(
        QuestionTable.of([]),
        refused=surplus,
        dropped={},
        scenes={},
        seed=0,
        settings={"ask": {"facts_per_template": 8}},
    )
    assert record["refused"] == {} and record["surplus"] == {"L1/Motion/Ego": 39}
    text = card(record, "d")
    assert "39 more facts were proposed: at most 8 are asked per template and clip." in text
    with_puzzles = card({**record, "settings": {**record["settings"], "puzzles": 5}}, "d")
    assert "per template and clip, and 5 puzzles per template." in with_puzzles
    assert "Every proposed question was asked." in text


def test_sigma_of_an_example_is_rounded_and_a_letter_has_none():
    def shown(asked, order, sigma):
        question = replace(question_of(asked.draft(0), order, clip()), sigma=sigma)
        return examples_in_words(examples(QuestionTable.of([question])), "media")

    numeric = shown(ratio(3), (), 0.0312345)
    assert " (σ 0.031)" in numeric
    plan = shown(walk(6), (), {"truck": 0.123456, "dolly": None})
    assert "0.12" in plan and "0.123" not in plan and "null" in plan
    assert "σ" not in shown(which_map(2), (3, 1, 0, 2), 10.997516367161941)
