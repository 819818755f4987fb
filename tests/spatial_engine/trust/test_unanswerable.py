"""Points that a photo leaves out, from signals over a dataset on disk to verdicts and scores, in a rendered room."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.trust.instrument import planted
from experts.signals import CameraPath, Matches
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.export import export
from spatial_engine.scoring import own
from spatial_engine.trust.label_audit import compare_labels
from templates.answers.score import Score
from templates.generate import ask_clip
from templates.perception.same_point import Correspondences, SamePoint
from templates.question import LETTERS, Question
from templates.settings import AskSettings
from templates.unanswerable import UNDETERMINED, offers_undetermined
from tests.spatial_engine.trust import known_room


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(dataset, sequence with truth) of a clip with matches that carry exact pixels."""
    folder = tmp_path_factory.mktemp("unanswerable")
    sequence = known_room.opened(known_room.write_room(folder / "room"))
    signals = known_room.measured(sequence)
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    exact = sequence.scene(range(known_room.COUNT))
    signals = {**signals, "matches": matches(exact, [(0, 9), (2, 11), (4, 13), (12, 1), (0, 6), (3, 9)])}
    asked = ask_clip(sequence.clip, signals, [SamePoint(unanswerable=True)], AskSettings(facts_per_template=30), 0)
    return write_dataset(folder / "labels", [asked], lambda _: sequence.clip, seed=0), sequence


def matches(scene, pairs):
    """A grid of pixels of the first photo of each pair where it is seen in the second."""
    grid = np.stack(np.meshgrid(np.arange(14.0, 190, 17), np.arange(12.0, 140, 16)), axis=-1).reshape(-1, 2)
    pair, xy_px = np.repeat(np.arange(len(pairs)), len(grid)), np.tile(grid, (len(pairs), 1))
    frames = np.array(pairs)[pair]
    facts = Correspondences(
        frame_a=frames[:, 0],
        a_px=xy_px,
        frame_b=frames[:, 1],
        size=np.full((len(pair), 2), [scene.clip.width_px, scene.clip.height_px]),
        decoy_px=np.full((len(pair), 2), np.nan),
    )
    found = SamePoint().measure(facts, scene)
    seen = (found.why == "") & (found.label == "")
    count = int(seen.sum())
    return Matches(
        pairs=np.array(pairs),
        pair=pair[seen],
        xy_a_px=xy_px[seen],
        xy_b_px=found.value[seen],
        sigma_px=np.full(count, 0.7),
        outlier_probability=np.full(count, 0.003),
        confirmed_by=np.full(count, 2, dtype=np.int32),
        provenance=known_room.EXPERT,
    )


@pytest.fixture(scope="module")
def truths(made):
    _, sequence = made
    return {sequence.clip.id: sequence}


def left_open(dataset: Dataset) -> list[Question]:
    return [question for question in dataset.questions if question.value == UNDETERMINED]


def words(questions: list[Question], truths) -> set[tuple[str, str]]:
    return {(verdict.word, verdict.reason) for verdict in compare_labels(questions, truths)}


@pytest.mark.long(sample=True)
def test_truth_confirms_them_and_the_data_set_counts_them(made, truths):
    dataset, _ = made
    found = left_open(dataset)
    assert len(found) >= 2 and words(found, truths) == {("right", "")}
    assert all(
        q.options[ord(q.answer) - ord("A")].startswith("It cannot be determined") and q.margin > 2.33 for q in found
    )
    assert "wrong" not in {word for word, _ in words(list(dataset.questions), truths)}
    assert dataset.audit["unanswerable"] == {"same_point": {"offered": 5 * len(found), "right": len(found)}}
    card = (dataset.path / "README.md").read_text()
    assert f"It is right in {len(found)} of them" in card and UNDETERMINED in card


@pytest.mark.long(sample=True)
def test_a_wrong_letter_is_found(made, truths):
    dataset, _ = made
    found = left_open(dataset)
    assert words([planted(question) for question in found], truths) == {("wrong", "")}
    offered = [q for q in dataset.questions if q.value != UNDETERMINED and offers_undetermined(q)]
    right = [q for q in offered if words([q], truths) == {("right", "")}]
    said = [replace(q, answer=LETTERS[q.scorer_params["option_values"].index(UNDETERMINED)]) for q in right]
    assert said and words(said, truths) == {("wrong", "")}


@pytest.mark.long(sample=True)
def test_to_abstain_where_the_photo_shows_the_point_is_found(made, truths):
    dataset, _ = made
    (question, *_) = left_open(dataset)
    shown = [q for q in dataset.questions if q.format == "point" and words([q], truths) == {("right", "")}]
    lies = [replace(question, fact={**q.fact, "decoy_px": question.fact["decoy_px"]}, media=q.media) for q in shown]
    assert lies and words(lies, truths) == {("wrong", "")}


@pytest.mark.long(sample=True)
def test_a_hidden_point_that_is_labelled_visible_is_found(made, truths):
    dataset, _ = made
    (question, *_) = left_open(dataset)
    shown = next(q for q in dataset.questions if q.format == "point")
    assert words([replace(shown, fact=question.fact, media=question.media)], truths) == {("wrong", "")}


def test_the_letter_and_the_words_score(made):
    dataset, _ = made
    for question in left_open(dataset):
        for reply in (question.answer, "It cannot be determined.", "I think that it can't be determined"):
            score = own.score(question, reply)
            assert isinstance(score, Score) and score.value == 1
        other = own.score(question, "Point 1")
        assert isinstance(other, Score) and other.value == 0


@pytest.mark.parametrize("to", ["spatialtree", "lmms-eval", "vlmevalkit", "hf", "llava"])
def test_exports_keep_them(made, tmp_path, to):
    dataset, _ = made
    out = export(dataset, tmp_path / "out", to=to)
    report = json.loads((out / "export_report.json").read_text())
    choices = sum(question.format == "choice" for question in dataset.questions)
    assert report["rows"] >= choices and "choice" not in json.dumps(report["left_out"])
