"""Whatever a file holds, its reader returns something or says in words what is wrong; it never hangs, and no damaged
signal is read as another one."""

import json
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from beartype.roar import BeartypeCallHintViolation
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.detections.reading import read_detections
from experts.detections.stated import NotDetections
from experts.signals import SIGNAL_TYPES, NoEstimate
from spatial_engine.actions.plan import read_action_plan
from spatial_engine.adjudication.steps import read_steps
from spatial_engine.annotation.annotate_all import measured_calls
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import SpatialEngineError
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.responses import Response, ResponseFile
from spatial_engine.evaluation.runs import runs
from spatial_engine.evaluation.score_responses import score_item
from spatial_engine.options import OpenOptions
from spatial_engine.sequences.manifest import read_manifest
from spatial_engine.sources import ClipError, VideoFile, clip_from_json, find_footage, open_clips
from spatial_engine.sources.camera_file import camera_of
from spatial_engine.sources.clip_options import clip_options
from spatial_engine.sources.trajectories import read_trajectory
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.signal_file import artefact_hash, read_signal
from spatial_engine.store.store import Store
from templates.question import Question
from tests.spatial_engine import path_files
from tests.spatial_engine.adjudication.sessions import make_dataset
from tests.spatial_engine.fake_footage import write_images
from tests.spatial_engine.measured_store import measured_store
from tests.spatial_engine.mutations import damaged
from tests.spatial_engine.sequences.rendered_set import manifest

IN_WORDS = (SpatialEngineError, ClipError, NotDetections)
"""Errors that tell a user what is wrong."""
MOST_S = 30.0
"""Longer than that is a hang, also on a busy machine."""
QUICK, LONG = 10, 300
"""Kinds of damage that every kind of file gets."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A file from outside, and what reads it."""

    file: Path
    read: Callable[[Path], Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of each."""
    root = tmp_path_factory.mktemp("whole")
    poses = path_files.winding_path(12)
    for form in ("tum", "kitti", "euroc", "colmap", "nerfstudio"):
        folder = root / form
        folder.mkdir()
        getattr(path_files, f"write_{form}")(folder / ("path.json" if form == "nerfstudio" else "path.txt"), poses)
    (root / "sequence.yaml").write_text(yaml.safe_dump(manifest()))
    (root / "clips.yaml").write_text(
        "a.mp4: {upright: true, fps: 10, crop: [0, 0, 64, 64], intrinsics: [9, 9, 4, 4]}\n"
    )
    (root / "a.intrinsics.json").write_text('{"fx": 525.0, "fy": 525.0, "cx": 319.5, "cy": 239.5, "k1": 0.1}')
    (root / "yolo.txt").write_text("0 0.5 0.5 0.2 0.2 0.9\n1 0.1 0.1 0.2 0.2 0.3 0.4\n")
    box = {"image_id": 1, "category_id": 3, "bbox": [1.0, 2.0, 10, 10], "score": 0.9}
    outline = {"image_id": 1, "category_id": 3, "segmentation": [[1, 1, 9, 1, 9, 9]]}
    runs_of_pixels = {"image_id": 1, "category_id": 3, "segmentation": {"size": [8, 8], "counts": [3, 5, 56]}}
    pictures, names = [{"id": 1, "file_name": "0.png", "width": 64, "height": 48}], [{"id": 3, "name": "chair"}]
    coco = {"images": pictures, "categories": names, "annotations": [box, outline, runs_of_pixels]}
    (root / "coco.json").write_text(json.dumps(coco))
    shape = {"label": "chair", "points": [[1, 1], [9, 1], [9, 9]], "shape_type": "polygon"}
    (root / "labelme.json").write_text(json.dumps({"imageHeight": 48, "imageWidth": 64, "shapes": [shape]}))
    segment = {"first": 0, "last": 5, "actions": ["Dolly In"], "symbols": ["W"], "step_nums": [3]}
    segment |= {"translation_step_m": 0.1, "rotation_step_rad": 0.1, "levelled": None}
    (root / "plan.json").write_text(json.dumps({"scale": "metric", "axes": "opencv", "segments": [segment]}))
    lines = [Response(id="a", text="B", seconds=1.0), Response(id="b", text=None, outcome="failed", error="500")]
    (root / "responses.jsonl").write_text("".join(f"{line.to_line()}\n" for line in lines))
    (root / "out" / "m").mkdir(parents=True)
    (root / "out" / "m" / "run.json").write_text(json.dumps({"name": "m", "model": "m", "dataset_digest": "0"}))
    verdict = {"action": "answer", "question": "a", "content": "0" * 16, "at": "2026", "own": "B", "blind": True}
    (root / "ann.jsonl").write_text(f"{json.dumps(verdict)}\n")
    make_dataset(root / "dataset")
    measured_store(root)
    Ledger.open(Store(root / "store"))
    write_images(root / "images", 0)
    shutil.copy(Path(__file__).parents[2] / "examples" / "demo" / "room.mp4", root / "room.mp4")
    return root


def _store(file: Path) -> Path:
    return next(place for place in file.parents if (place / "clips").is_dir())


def _read_store(file: Path) -> None:
    """What annotate, generate and the summary read of every clip."""
    store = Store(_store(file))
    measured_calls(store, Ledger.open(store))
    for clip_id in store.readable_records():
        store.failures(clip_id), store.no_estimates(clip_id)
    Ledger.open(store).catch_up(store)
    for clip_id, record in store.readable_records().items():
        try:
            clip_from_json(record.clip)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, BeartypeCallHintViolation):
            continue  # `executor.attempt` records it as this clip's failure
        for name, signal in store.signals(clip_id).items():
            assert isinstance(signal, (SIGNAL_TYPES[name], NoEstimate))


def _read_questions(file: Path) -> list[Question]:
    return list(Dataset.open(file.parent).questions)


def _open_video(file: Path) -> Any:
    find_footage(file)
    return open_clips(VideoFile(path=file, name=file.name))


def _camera(file: Path) -> Any:
    return camera_of(VideoFile(path=file.with_name("a.mp4"), name="a.mp4"), 640, 480, None)


INPUTS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "manifest": ("sequence.yaml", read_manifest),
    "clips.yaml": ("clips.yaml", lambda file: clip_options(file.parent, OpenOptions(clips=file))),
    "camera": ("a.intrinsics.json", _camera),
    "detections, COCO": ("coco.json", read_detections),
    "detections, labelme": ("labelme.json", read_detections),
    "detections, YOLO": ("yolo.txt", read_detections),
    "path, TUM": ("tum/path.txt", partial(read_trajectory, form="tum")),
    "path, KITTI": ("kitti/path.txt", partial(read_trajectory, form="kitti", fps=10.0)),
    "path, EuRoC": ("euroc/path.txt", partial(read_trajectory, form="euroc")),
    "path, COLMAP": ("colmap/path.txt", partial(read_trajectory, form="colmap", fps=10.0)),
    "path, nerfstudio": ("nerfstudio/path.json", partial(read_trajectory, form="nerfstudio", fps=10.0)),
    "path, any": ("tum/path.txt", read_trajectory),
    "mount": ("euroc/sensor.yaml", lambda file: read_trajectory(file.with_name("path.txt"), cam_from_body=file)),
    "plan": ("plan.json", partial(read_action_plan, max_steps=10)),
    "record of a clip": ("store/clips/" + "a" * 16 + "/clip.json", _read_store),
    "failures": ("store/clips/" + "b" * 16 + "/failed.json", _read_store),
    "checksums": ("store/clips/" + "a" * 16 + "/checksums.json", _read_store),
    "no estimate": ("store/clips/" + "b" * 16 + "/camera_path." + "k" * 16 + ".json", _read_store),
    "record of footage": ("store/footage/*.json", _read_store),
    "ledger": ("store/ledger.sqlite", _read_store),
    "questions": ("dataset/questions.jsonl", _read_questions),
    "provenance": ("dataset/provenance.jsonl", _read_questions),
    "audit": ("dataset/audit.json", _read_questions),
    "responses": ("responses.jsonl", lambda file: ResponseFile(file).read()),
    "run": ("out/m/run.json", lambda file: runs(file.parent.parent)),
    "verdicts": ("ann.jsonl", read_steps),
    "pictures": ("images/001.png", lambda file: [open_clips(each) for each in find_footage(file.parent).taken]),
}


def _hurt(whole: Path, place: Path, name: str, seed: int) -> None:
    """Reads a damaged copy, in bounded time, with errors in words only."""
    pattern, read = INPUTS[name]
    source = sorted(whole.glob(pattern))[0]
    top = source.relative_to(whole).parts[0]
    shutil.rmtree(place, ignore_errors=True)
    if (whole / top).is_dir():
        shutil.copytree(whole / top, place / top)
    else:
        place.mkdir(parents=True)
    file = place / source.relative_to(whole)
    file.write_bytes(damaged(source.read_bytes(), seed))
    started = time.perf_counter()
    try:
        read(file)
    except IN_WORDS as error:
        assert str(error).strip()
    assert time.perf_counter() - started < MOST_S


@pytest.mark.parametrize("name", INPUTS)
def test_whole_files_are_read(whole: Path, name: str) -> None:
    pattern, read = INPUTS[name]
    read(sorted(whole.glob(pattern))[0])


@pytest.mark.parametrize("name", INPUTS)
def test_damaged_files_are_errors_in_words(whole: Path, tmp_path: Path, name: str) -> None:
    for seed in range(QUICK):
        _hurt(whole, tmp_path / "hurt", name, seed)


@pytest.mark.long
@pytest.mark.parametrize("name", INPUTS)
def test_many_damaged_files_are_errors_in_words(whole: Path, tmp_path: Path, name: str) -> None:
    for seed in range(QUICK, QUICK + LONG):
        _hurt(whole, tmp_path / "hurt", name, seed)


def _json_like(words: list[str]) -> st.SearchStrategy[Any]:
    """JSON values whose keys and texts are mostly words of a file."""
    leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(words)
    key = st.sampled_from(words) | st.text(max_size=8)
    return st.recursive(leaf, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(key, inner, max_size=5))


@pytest.mark.parametrize("examples", [10, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "name",
    [
        "manifest",
        "clips.yaml",
        "camera",
        "detections, COCO",
        "detections, labelme",
        "path, nerfstudio",
        "plan",
        "record of a clip",
        "responses",
        "audit",
        "verdicts",
    ],
)
def test_any_json_is_read_or_an_error_in_words(whole: Path, tmp_path: Path, name: str, examples: int) -> None:
    pattern, read = INPUTS[name]
    source = sorted(whole.glob(pattern))[0]
    top = source.relative_to(whole).parts[0]
    place = tmp_path / top
    shutil.copytree(whole / top, place) if (whole / top).is_dir() else shutil.copy(whole / top, place)
    words = sorted(set(re.findall(r"[A-Za-z_]\w*", source.read_text(encoding="utf-8")))) or ["x"]

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(_json_like(words))
    def check(value: Any) -> None:
        (tmp_path / source.relative_to(whole)).write_text(json.dumps(value))
        try:
            read(tmp_path / source.relative_to(whole))
        except IN_WORDS as error:
            assert str(error).strip()

    check()


@pytest.mark.long
def test_damaged_videos_are_errors_in_words(whole: Path, tmp_path: Path) -> None:
    content = (whole / "room.mp4").read_bytes()
    for seed in range(40):
        file = tmp_path / "a.mp4"
        file.write_bytes(damaged(content, seed))
        try:
            _open_video(file)
        except IN_WORDS as error:
            assert str(error).strip()


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 300), marks=pytest.mark.long)])
def test_a_damaged_signal_is_never_another_signal(whole: Path, tmp_path: Path, seeds: range) -> None:
    for file in sorted((whole / "store").rglob("*.zarr.zip")):
        kind, content = SIGNAL_TYPES[file.name.partition(".")[0]], file.read_bytes()
        right = artefact_hash(read_signal(file, kind))
        for seed in seeds:
            hurt = tmp_path / file.name
            hurt.write_bytes(damaged(content, seed))
            try:
                found = read_signal(hurt, kind)
            except SpatialEngineError:
                continue
            assert artefact_hash(found) == right, f"{file.name}, seed {seed}"


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 200), marks=pytest.mark.long)])
def test_any_reply_is_scored_or_unreadable(whole: Path, seeds: range) -> None:
    for question in Dataset.open(whole / "dataset").questions:
        right = json.dumps(question.answer) if not isinstance(question.answer, str) else question.answer
        for seed in seeds:
            reply = damaged(f"The answer is {right}.".encode(), seed).decode("utf-8", "replace")
            scored = score_item(Presentation(question), Response(id=question.id, text=reply))
            assert 0 <= getattr(scored, "score", 0) <= 1
