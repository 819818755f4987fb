"""Targeted sets of rendered footage: the same for any number of workers and shards, and planned before."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experts.reframing import Reframing
from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.drafts import drafts_folder
from spatial_engine.options.target import AUGMENT
from spatial_engine.output_folder import place_file
from spatial_engine.pipeline import generate, plan_questions
from spatial_engine.store.store import FootageRecord, Store
from tests.spatial_engine.rendered_store import rendered_store, short_demo

WANTED = {"abilities": "L1/Geometry/Distance", "count": 24, "per_clip": 12, "even": ("answer", "difficulty", "scene")}

WITH_BARS = {"range_ratio", "range_metres", "depth_order", "depths_at_once", "depth_at"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Of three pieces of footage: one that is rendered, under three ids."""
    store, known = rendered_store(tmp_path_factory.mktemp("store"), short_demo(6), stride=2, camera_path_check=None)
    record = store.record(known)
    for id in ("1" * 16, "2" * 16):
        store.write_record(id, replace(record, clip=record.clip | {"id": id}))
        for file in (store.path / "clips" / known).glob("*.zarr.zip"):
            place_file(file, store.path / "clips" / id / file.name)
        store.write_footage(FootageRecord(path=id, name=id, clips=(id,)))
    return store


def lines(dataset: Dataset) -> bytes:
    return (dataset.path / "questions.jsonl").read_bytes()


def test_a_set_is_what_was_planned_and_the_same_in_parts(tmp_path: Path, store: Store) -> None:
    planned = plan_questions(store, tmp_path / "whole", **WANTED)
    asked = {file.name: file.stat().st_mtime_ns for file in drafts_folder(tmp_path / "whole").glob("*.asked")}
    assert planned["drawn"] == 24 and not (tmp_path / "whole").exists() and len(asked) == 3
    whole = generate(store, tmp_path / "whole", **WANTED)
    assert whole.audit["target"] == planned and whole.audit["questions"] == 24
    assert max(Counter(question.clip for question in whole.questions).values()) <= 12
    for number in (2, 1, 2):
        generate(store, tmp_path / "parts", shard=f"{number}/2", **WANTED)
    assert lines(generate(store, tmp_path / "parts", **WANTED)) == lines(whole)


@pytest.mark.long(sample=True)
def test_workers_draw_the_same(tmp_path: Path, store: Store) -> None:
    one, two = (generate(store, tmp_path / f"{workers}", workers=workers, **WANTED) for workers in (1, 2))
    assert lines(one) == lines(two)


def test_a_count_out_of_reach_gives_what_there_is(tmp_path: Path, store: Store) -> None:
    made = generate(store, tmp_path / "set", **{**WANTED, "count": 5000, "even": ()})
    target = made.audit["target"]
    assert made.audit["questions"] == target["drawn"] == 36 < target["decided"]
    assert target["reach"] == [{"limit": "--per-clip 12", "questions": 36}]


def test_the_command_says_that_a_count_is_out_of_reach(
    tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"generate {store.path} -o {tmp_path / 'set'} --abilities L1/Geometry/Distance --count 5000 --per-clip 12"
    with pytest.raises(SystemExit):
        main(line.split())
    said = capsys.readouterr().out
    assert "36 of 5000 questions can be reached" in said and "36 of them within --per-clip 12" in said


@pytest.mark.long(sample=True)
def test_answers_hold_for_other_pictures(tmp_path: Path, store: Store) -> None:
    wanted = {"abilities": "L1/Geometry/Distance", "count": 120, "per_clip": 40, "augment": AUGMENT}
    made = generate(store, tmp_path / "set", **wanted)
    reframed, scenes = made.audit["settings"]["reframed"], made.audit["scenes"]
    origins = {id: one["clip"] for id, one in reframed.items()}
    counts = Counter(origins.get(question.clip, question.clip) for question in made.questions)
    assert len(reframed) == 9 and max(counts.values()) <= 40 and all(scenes[id] == origins[id] for id in reframed)
    seen = Counter[tuple[str, bool]]()
    for question in (question for question in made.questions if question.clip in reframed):
        one, (shown, *_) = reframed[question.clip], question.media
        assert one["augment"] != "letterbox" or question.template in WITH_BARS
        by = Reframing(**{name: tuple(one[name]) for name in ("crop_px", "size_px", "bars_px")})
        assert size_of(made.path / shown["path"]) == by.whole_px == tuple(shown["frame_size_px"])
        assert all(by.shows(np.array(mark["xy_px"])) for mark in shown["marks"])
        if question.template == "range_metres":
            metres = true_range(by, question.fact["frame"], question.fact["a_px"])
            assert abs(metres - question.answer) <= question.tolerance
        seen[one["augment"], question.template == "range_metres"] += 1
    assert all(seen[word, True] and seen[word, False] for word in AUGMENT)


def true_range(by: Reframing, frame: int, xy_px: list[float]) -> float:
    """As the renderer has it, seen by the camera of the other pictures."""
    scene = short_demo(6)
    other = replace(scene, intrinsics=by.camera(scene.intrinsics))
    column, line = np.round(xy_px).astype(int)
    return float(other.depth(frame)[line, column] / other.intrinsics.rays(np.array(xy_px))[2])


def size_of(picture: Path) -> tuple[int, int]:
    with Image.open(picture) as opened:
        return opened.size
