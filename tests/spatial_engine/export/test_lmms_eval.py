"""The exported task, called as lmms-eval calls it (`make accept-lmms` runs the real one)."""

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from spatial_engine.evaluation.baselines import oracle_text, wrong_text
from spatial_engine.evaluation.protocol import prompt
from spatial_engine.export import export
from spatial_engine.export.other_programs import lmms_eval_task
from spatial_engine.scoring import own
from spatial_engine.scoring.reading.reading import Unreadable

NAME = "spatial_every_format"
HARNESS = """
import io, json, sys
sys.path += json.loads(sys.argv[2])
import importlib.util
from PIL import Image
import pyarrow.parquet as pq
spec = importlib.util.spec_from_file_location("utils", sys.argv[1] + "/utils.py")
utils = importlib.util.module_from_spec(spec)
spec.loader.exec_module(utils)
import spatial_engine
assert "scorer.zip" in spatial_engine.__file__, spatial_engine.__file__
said, heavy = json.load(sys.stdin), ("av", "cv2", "zarr", "pycolmap", "pyceres", "typer", "openai", "torch")
assert not set(heavy) & set(sys.modules)
out = {}
for doc in pq.read_table(sys.argv[1] + "/test.parquet").to_pylist():
    doc["images"] = [Image.open(io.BytesIO(picture["bytes"])) for picture in doc["images"]]
    (message,) = utils.doc_to_messages(doc, lmms_eval_specific_kwargs=None)
    content = [part["text"] if part["type"] == "text" else part["url"].mode for part in message["content"]]
    visual, text = utils.doc_to_visual(doc), utils.doc_to_text(doc, {})
    doc.pop("images")
    results = [utils.process_results(doc, [reply]) for reply in said[doc["id"]]]
    out[doc["id"]] = {
        "content": content, "visual": len(visual), "text": text, "target": utils.doc_to_target(doc), "results": results
    }
out["mean"] = utils.mean_score([{"score": 1.0}, {"score": 0.0}])
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def exported(every_format, tmp_path_factory):
    out = export(every_format, tmp_path_factory.mktemp("lmms") / "out", to="lmms-eval")
    return out.rename(out.with_name("moved"))


@pytest.fixture(scope="module")
def questions(every_format):
    return {question.id: question for question in every_format.questions}


def test_instructions_as_a_system_message(every_format, questions, tmp_path):
    out = export(every_format, tmp_path / "out", to="lmms-eval", system_prompt=True)
    for row in pq.read_table(out / NAME / "test.parquet").to_pylist():
        question, row["images"] = questions[row["id"]], [Image.new("L", (1, 1))] * len(row["images"])
        *system, user = lmms_eval_task.doc_to_messages(row)
        said = [{"type": "text", "text": question.instructions}]
        assert system == ([{"role": "system", "content": said}] if question.instructions else [])
        words = "\n".join(part["text"] for part in user["content"] if part["type"] == "text")
        assert question.prompt in words and (not question.instructions or question.instructions not in words)
        assert set(lmms_eval_task.doc_to_text(row).splitlines()) == {
            *words.splitlines(),
            *question.instructions.splitlines(),
        }


REPLIES = ("oracle", "wrong", "", "I cannot tell.", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] 1.54")


@pytest.fixture(scope="module")
def ran(exported, questions):
    """What the task's functions give in a process that has nothing of ours but the archive."""
    replies = {id: [oracle_text(question), wrong_text(question), *REPLIES[2:]] for id, question in questions.items()}
    packages = sorted({str(Path(str(find_spec(name).origin)).parents[1]) for name in ("numpy", "jaxtyping", "pyarrow")})
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", HARNESS, str(exported / NAME), json.dumps(packages)],
        input=json.dumps(replies), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_scores_are_our_own(ran, questions):
    assert ran.pop("mean") == 0.5
    assert set(ran) == set(questions)
    for id, question in questions.items():
        for name, reply, found in zip(
            REPLIES, [oracle_text(question), wrong_text(question), *REPLIES[2:]], ran[id]["results"], strict=True
        ):
            reply = "" if reply.startswith("[LMMS") else reply
            score = own.score(question, reply).value
            assert found[question.ability] == found["overall"]["score"] == score
            assert found["overall"]["id"] == id and found["overall"]["clip"] == question.clip
            assert found["unreadable"] == float(isinstance(own.read(question, reply), Unreadable))
            assert score == (1.0 if name == "oracle" else 0.0)


def test_the_prompt_is_that_of_our_evaluation(ran, questions):
    for id, question in questions.items():
        parts = [part if isinstance(part, str) else "RGB" for part in prompt(question).parts]
        assert ran[id]["content"] == parts
        assert ran[id]["visual"] == len(question.media)
        assert ran[id]["text"] == "\n".join(part for part in parts if part != "RGB")
        assert ran[id]["target"] == oracle_text(question)


def test_the_yaml_is_movable_and_names_every_leaf(exported, questions):
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    text = (exported / NAME / f"{NAME}.yaml").read_text()
    task = yaml.load(text, Loader)
    assert task["task"] == NAME and task["dataset_path"] == "parquet"
    assert (exported / NAME / task["dataset_kwargs"]["data_files"]["test"]).is_file()
    assert {entry["metric"] for entry in task["metric_list"]} - {"overall", "unreadable"} == {
        question.ability for question in questions.values()
    }
    named = {task[key].removeprefix("utils.") for key in task if key.startswith("doc_to")} | {"process_results"}
    source = (exported / NAME / "utils.py").read_text()
    assert all(f"def {name}(" in source for name in named | {"mean_score"})
    assert str(exported.parent) not in text + source


def test_rows(exported, questions):
    rows = pq.read_table(exported / NAME / "test.parquet").to_pylist()
    assert {row["id"] for row in rows} == set(questions)
    assert all(len(row["images"]) == len(questions[row["id"]].media) for row in rows)


def test_the_archive_is_the_same_each_time_and_small(exported, every_format, tmp_path):
    again = export(every_format, tmp_path / "again", to="lmms-eval")
    first, second = (folder / NAME / "scorer.zip" for folder in (exported, again))
    assert first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert "spatial_engine/scoring/own/__init__.py" in names and "json_repair/__init__.py" in names and len(names) < 100
    assert not [name for name in names if name.startswith(("spatial_engine/evaluation/", "spatial_engine/export/"))]
    assert {name for name in names if name.startswith("experts/")} == {"experts/__init__.py", "experts/registry.py"}
