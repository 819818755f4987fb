import json

import pytest

from spatial_engine.dataset.audit import set_truth
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.leaks.question_table import QuestionTable
from tests.spatial_engine.drafts import clip, clip_questions

IDS = [f"{k:016x}" for k in range(1, 41)]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "d"
    return write_dataset(
        path, [clip_questions(id, 2) for id in IDS[:3]], clip, seed=0, settings={"min_confidence": 0.99}
    )


def test_counts_agree_with_the_lines(dataset):
    audit, questions = dataset.audit, list(dataset.questions)
    assert audit["questions"] == len(questions) == sum(leaf["questions"] for leaf in audit["abilities"].values())
    assert audit["facts"] == len({question.fact_id for question in questions})
    assert sum(audit["formats"].values()) == sum(audit["templates"].values()) == len(questions)
    assert sum(sum(counts.values()) for counts in audit["letters"].values()) == audit["formats"]["choice"]
    asked = len(questions) + sum(sum(reasons.values()) for reasons in audit["dropped"].values())
    assert asked == 3 * len(clip_questions(count=2))
    assert audit["refused"]["L1/Geometry/Distance"] == {"too close to call": 21}
    assert audit["settings"]["min_confidence"] == 0.99 and audit["settings"]["balance"]["max_leaf_share"] == 0.3


def test_blind_guesses(dataset):
    found = dataset.audit["baselines"]
    two, four = (sum(dataset.audit["letters"][k].values()) for k in "24")
    yes_no = dataset.audit["formats"]["yes_no"]
    assert found["random"] == pytest.approx((two / 2 + four / 4 + yes_no / 2) / (two + four + yes_no), abs=1e-4)
    assert found["always_yes"] == 0.5 and found["most_frequent_words"] == 0.5


def test_licences_and_experts(dataset):
    audit = dataset.audit
    assert audit["licences"]["commercial_ok"] and audit["licences"]["signals"] == ["BSD-3-Clause"]
    assert [expert["expert"] for expert in audit["experts"]] == ["colmap"]


def test_truth_is_null_until_it_is_known(dataset):
    assert dataset.audit["truth"] is None
    before = dataset.audit
    set_truth(dataset.path, {"right": 3, "wrong": 0, "undecidable": 1}, [{"fact_id": "x", "off": 2.5}], "a renderer")
    after = dataset.audit
    assert after["truth"] == {"right": 3, "wrong": 0, "undecidable": 1}
    assert after["truth_detail"]["worst"] == [{"fact_id": "x", "off": 2.5}]
    assert {k: v for k, v in after.items() if k not in ("truth", "truth_detail")} == {
        k: v for k, v in before.items() if k not in ("truth", "truth_detail")
    }
    with pytest.raises(ValueError, match="right, wrong and undecidable"):
        set_truth(dataset.path, {"right": 1})
    json.loads((dataset.path / "audit.json").read_text())


def test_no_scene_is_on_two_sides_of_a_split(tmp_path):
    from spatial_engine.dataset.audit import audit

    scenes = {id: f"video {int(id, 16) // 4}" for id in IDS}
    splits = audit(QuestionTable.of([]), refused={}, dropped={}, scenes=scenes, seed=0, settings={})["splits"]
    side = {id: name for name, ids in splits.items() for id in ids}
    assert side.keys() == scenes.keys()
    assert len({(scene, side[id]) for id, scene in scenes.items()}) == len(set(scenes.values()))
    alone = audit(QuestionTable.of([]), refused={}, dropped={}, scenes={id: id for id in IDS}, seed=0, settings={})[
        "splits"
    ]
    assert all(alone.values()) and len(alone["train"]) > 20
