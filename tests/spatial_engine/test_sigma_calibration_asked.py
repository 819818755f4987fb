"""Maps of σ wherever signals of a store are asked about: none of these places forgets them."""

import json
from dataclasses import replace
from math import hypot

import pytest

from experts.sigma_calibration import QUANTITIES, SigmaCalibration, packaged_calibration
from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.pipeline import generate, run
from spatial_engine.report import report
from spatial_engine.sources import clip_to_json
from spatial_engine.store.store import ClipRecord, FootageRecord, create_store
from spatial_engine.trust.audit_dataset import audit_dataset
from spatial_engine.trust.yield_share import clip_yield
from templates.registry import create_templates
from templates.settings import AskSettings
from tests.experts.sigma_calibration.test_sigma_calibration import of_answers, one_factor
from tests.spatial_engine.trust.known_room import EXPERT, measured, opened, write_room

RAW = replace(EXPERT, sigma="raw")
CALIBRATION = SigmaCalibration(
    factors=tuple(
        one_factor("camera_path", quantity, 1.25, expert=RAW.expert) for quantity in QUANTITIES["camera_path"]
    )
)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    return write_room(tmp_path_factory.mktemp("asked") / "room")


@pytest.fixture(scope="module")
def raw(room):
    """A model's camera path that nothing confirms."""
    return {"camera_path": replace(measured(opened(room))["camera_path"], provenance=RAW)}


@pytest.fixture(scope="module")
def store(room, raw, tmp_path_factory):
    clip, made = opened(room).clip, create_store(tmp_path_factory.mktemp("asked") / "store")
    made.write(clip.id, "camera_path", "k" * 16, raw["camera_path"])
    made.write_record(clip.id, ClipRecord(clip=clip_to_json(clip), signals={"camera_path": "k" * 16}))
    made.write_footage(FootageRecord(path=str(room), name="room", clips=(clip.id,)))
    return made


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("calibration") / "calibration.json"
    path.write_text(json.dumps(CALIBRATION.to_json()))
    return path


@pytest.fixture(scope="module")
def datasets(store, file, tmp_path_factory):
    """Without a map of this expert, and with."""
    folder = tmp_path_factory.mktemp("datasets")
    return generate(store, folder / "without"), generate(store, folder / "with", sigma_calibration=file)


@pytest.mark.long(sample=True)
def test_raw_is_asked_about_once_it_is_calibrated(datasets):
    without, with_maps = datasets
    assert not list(without.questions)
    questions = list(with_maps.questions)
    assert {"camera_turn", "place_direction"} <= {question.template for question in questions}
    for question in questions:
        (maker,) = (part for part in question.provenance if part["signal"] == "camera_path")
        assert maker["sigma"] == "calibrated"
        assert maker["calibrated_on"] == {quantity: ["attic"] for quantity in QUANTITIES["camera_path"]}
    turn = next(q for q in questions if q.template == "camera_turn" and q.format == "numeric")
    assert turn.sigma == pytest.approx(1.25 * hypot(0.1, 0.01 * turn.value), rel=0.02)


@pytest.mark.long(sample=True)
def test_answers_state_their_own_sigma_and_the_same_is_asked(datasets, store, tmp_path):
    turn = create_templates()["camera_turn"]
    answers = of_answers(0.6, template=turn.name, version=turn.version, experts={RAW.expert: RAW.version})
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(replace(CALIBRATION, answers=(answers,)).to_json()))
    made = {q.id: q for q in generate(store, tmp_path / "data", sigma_calibration=path).questions}
    before = {q.id: q for q in datasets[1].questions}
    assert made.keys() == before.keys()
    for id, question in made.items():
        factor = 0.6 if question.template == "camera_turn" and question.sigma is not None else 1
        assert replace(question, sigma=before[id].sigma) == before[id]
        if factor != 1:
            assert question.sigma == pytest.approx(0.6 * before[id].sigma)
        else:
            assert question.sigma == before[id].sigma
    assert any(q.template == "camera_turn" and q.sigma for q in made.values())


def test_the_audit_names_the_factors(datasets):
    said = [dataset.audit["settings"]["sigma_calibration"] for dataset in datasets]
    assert [one["digest"] for one in said] == [packaged_calibration().digest, CALIBRATION.digest]
    assert SigmaCalibration.from_json(said[1]) == CALIBRATION


@pytest.mark.long(sample=True)
def test_the_report_draws_what_was_asked_about(datasets, store, tmp_path):
    clip = store.clip_ids()[0]
    pages = []
    for dataset, name in zip(datasets, ("without", "with"), strict=True):
        report(dataset, tmp_path / name, store=store)
        pages.append((tmp_path / name / "clips" / f"{clip}.html").read_text())
    assert ["<h2>Camera path</h2>" in page for page in pages] == [False, True]


def test_yield_is_that_of_the_data_set(datasets, store, room, monkeypatch):
    monkeypatch.setattr("spatial_engine.sequences.sequence.examine", lambda *_: ())
    yields = [audit_dataset(dataset, [room], store=store).truth.all.yielded for dataset in datasets]
    assert [found.decided > 0 for found in yields] == [False, True]


def test_yield_by_itself_takes_the_packaged_factors(raw, room, monkeypatch):
    template = [create_templates()["camera_turn"]]

    def decided(**maps):
        (found,) = clip_yield(opened(room).clip, raw, template, AskSettings(), 0, **maps)
        return found.decided

    assert decided() == 0 < decided(maps=CALIBRATION)
    monkeypatch.setattr("spatial_engine.trust.yield_share.packaged_calibration", lambda: CALIBRATION)
    assert decided() > 0


@pytest.mark.long(sample=True)
def test_from_the_shell(store, file, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["generate", str(store.path), "-o", str(tmp_path / "data"), "--sigma-calibration", str(file)])
    assert ended.value.code == 0
    assert Dataset.open(tmp_path / "data").audit["settings"]["sigma_calibration"]["digest"] == CALIBRATION.digest


@pytest.mark.parametrize(
    "content", ["", "{}", None, json.dumps({"questions": 3}), json.dumps({"format_version": 2, "factors": []})]
)
def test_a_file_without_factors_is_refused_before_the_work(content, store, room, tmp_path, capsys):
    path = tmp_path / "calibration.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match="--sigma-calibration") as caught:
        generate(store, tmp_path / "data", sigma_calibration=path)
    assert "spatial-engine calibrate SEQUENCE... -o FILE" in caught.value.remedy
    with pytest.raises(UsageError, match="--sigma-calibration"):
        run(room, tmp_path / "out", sigma_calibration=path)
    assert not (tmp_path / "data").exists() and not (tmp_path / "out").exists()
