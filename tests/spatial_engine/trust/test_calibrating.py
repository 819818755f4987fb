"""`spatial-engine calibrate`, from sequences on disk to a file of factors; what cannot be used is named."""

import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import benchmarks.trust.calibrate as of_the_software
import spatial_engine.trust.calibrating as calibrating
from experts.sigma_calibration import packaged_calibration, read_calibration
from spatial_engine.cli.main import main
from spatial_engine.errors import UsageError
from spatial_engine.store.store import FootageRecord, open_store
from spatial_engine.trust.calibrating import calibrate, fit_calibration, sigma_table
from tests.spatial_engine.fake_experts import FakeSettings
from tests.spatial_engine.trust.known_room import EXPERT, opened, read_poses, write_poses
from tests.spatial_engine.trust.known_signals import noisy

NARROW = 2.0


@dataclass
class Witness:
    """Says signals whose σ are too narrow; remembers what it was shown."""

    said: dict[str, dict]
    name: str = EXPERT.expert
    version: str = EXPERT.version
    provides: frozenset = frozenset({"camera_path", "gravity", "sparse_points"})
    needs: frozenset = frozenset()
    options: frozenset = frozenset({"intrinsics"})
    settings: FakeSettings = field(default_factory=FakeSettings)
    shown: list = field(default_factory=list)

    def load(self, weights=None, device="auto", dtype=None):
        """Nothing to load."""

    def close(self):
        """Nothing to free."""

    def __call__(self, clip, signals):
        self.shown.append(clip)
        return {name: self.said[clip.id][name] for name in self.provides}


@pytest.fixture(autouse=True)
def sound(monkeypatch):
    """Nobody looks whether truth is sound: that takes a second."""
    monkeypatch.setattr("spatial_engine.sequences.sequence.examine", lambda *_: ())


@pytest.fixture(scope="module")
def sets(room, tmp_path_factory):
    """Three rooms that differ in one pixel."""
    folder = tmp_path_factory.mktemp("sets")
    return [another(room, folder / name, seed) for seed, name in enumerate(("attic", "barn", "cellar"))]


def another(room: Path, folder: Path, seed: int) -> Path:
    shutil.copytree(room, folder)
    picture = np.array(Image.open(folder / "images" / "000.png"))
    picture[0, 0] = seed
    Image.fromarray(picture).save(folder / "images" / "000.png")
    return folder


@pytest.fixture
def witness(sets):
    said = {}
    for seed, folder in enumerate(sets):
        sequence = opened(folder)
        said[sequence.clip.id] = noisy(sequence, NARROW, seed)
    return Witness(said)


@pytest.fixture
def command(monkeypatch, witness, capsys):
    """The command line, with the witness as the only expert and no other process."""

    def alone(sequences, store, options, *, progress):
        return calibrate(sequences, store, experts=[witness], progress=progress)

    monkeypatch.setattr(calibrating, "calibrate", alone)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["calibrate", *map(str, arguments)])
        return ended.value.code, capsys.readouterr()

    return run


def test_narrow_sigma_are_found_and_written(command, sets, tmp_path):
    code, said = command(*sets, "-o", tmp_path / "maps.json")
    assert code == 0 and "wrote" in said.out and "| no ground truth for it |" in said.out
    found = read_calibration(tmp_path / "maps.json")
    gains = {(each.signal, each.quantity): each.factor for each in found.factors}
    assert set(gains) == {("camera_path", "rotation"), ("camera_path", "direction"), ("gravity", "up"),
                          ("sparse_points", "range")}  # fmt: skip
    assert gains["sparse_points", "range"] == pytest.approx(NARROW, rel=0.15)
    assert all(1.5 < gain < 3 for gain in gains.values()), gains
    assert all(each.sets == ["attic", "barn", "cellar"] for each in found.factors)
    before = (tmp_path / "maps.json").read_bytes()
    assert command(*sets[::-1], "-o", tmp_path / "maps.json")[0] == 0
    assert (tmp_path / "maps.json").read_bytes() == before, "the same, in any order"


def test_a_folder_is_refused_before_the_work(command, sets, tmp_path):
    code, said = command(*sets, "-o", tmp_path)
    assert code == 2 and "is a folder" in said.err and "name the file" in said.err
    assert not tmp_path.with_suffix(".store").exists()


@pytest.mark.long(sample=True)
def test_a_second_run_measures_nothing_anew(sets, witness, tmp_path):
    first = calibrate(sets, tmp_path / "store", experts=[witness])
    assert len(witness.shown) == 3
    assert calibrate(sets, tmp_path / "store", experts=[witness]).maps == first.maps
    assert len(witness.shown) == 3


@pytest.mark.long(sample=True)
def test_a_store_of_the_users_own_keeps_its_clips(sets, witness, tmp_path):
    calibrate(sets, tmp_path / "store", experts=[witness])
    store = open_store(tmp_path / "store")
    id = opened(sets[0]).clip.id
    mine = replace(store.record(id), clip={**store.record(id).clip, "name": "holiday"}, signals={})
    store.write_record(id, mine)
    store.write_footage(FootageRecord(path="/footage/holiday", name="holiday", clips=(id,)))
    assert len(calibrate(sets, tmp_path / "store", experts=[witness]).errors) == 3
    assert open_store(tmp_path / "store").record(id) == mine


def test_experts_are_shown_pictures_alone(sets, witness, tmp_path, room):
    camera = {"fx": 180.0, "fy": 180.0, "cx": 99.5, "cy": 74.5}
    folder = another(room, tmp_path / "stated", 9)
    (folder / "images" / "intrinsics.json").write_text(json.dumps(camera))
    sequence = opened(folder)
    assert sequence.clip.options.intrinsics is not None
    witness.said[sequence.clip.id] = noisy(sequence, 1.0)
    calibrate([folder], tmp_path / "store", experts=[witness])
    assert all(clip.options.intrinsics is None for clip in witness.shown) and witness.shown


def test_sets_without_truth_are_reported_and_skipped(command, sets, room, tmp_path, monkeypatch):
    sfm, missing = another(room, tmp_path / "sfm", 7), tmp_path / "nowhere"
    with (sfm / "sequence.yaml").open("a") as manifest:
        manifest.write("truth: agreement\n")
    twin = shutil.copytree(sets[0], tmp_path / "twin")
    code, said = command(*sets, sfm, missing, twin, "-o", tmp_path / "maps.json")
    assert code == 1
    assert "skipped: sfm (images): computed from the images themselves: agreement, no truth" in said.out
    assert f"skipped: {missing}: there is no" in said.out
    assert {name for each in read_calibration(tmp_path / "maps.json").factors for name in each.sets} == {
        "attic",
        "barn",
        "cellar",
    }


def test_unsound_truth_is_reported_and_skipped(sets, witness, room, tmp_path, monkeypatch):
    monkeypatch.undo()
    off = another(room, tmp_path / "off", 8)
    write_poses(off, np.roll(read_poses(room), 6, axis=0))
    with pytest.raises(UsageError, match="unsound in every frame: poses do not fit the pictures"):
        calibrate([off], tmp_path / "store", experts=[witness])
    assert not witness.shown


@pytest.mark.long(sample=True)
def test_an_expert_that_fails_costs_its_clip_and_is_named(sets, witness, tmp_path):
    witness.said[opened(sets[1]).clip.id] = {}
    found = calibrate(sets, tmp_path / "store", experts=[witness])
    ((name, cause, _),) = found.skipped
    assert name == "barn (images)" and "): KeyError: " in cause
    witness.said[opened(sets[1]).clip.id] = noisy(opened(sets[1]), 1.0)
    assert calibrate(sets, tmp_path / "store", experts=[witness]).skipped == (), "it is tried again"
    assert "barn" not in found.errors and all(each.sets == ["attic", "cellar"] for each in found.maps.factors)


def test_nothing_to_fit_on_is_a_usage_error(room, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", str(tmp_path / "nowhere"), "-o", str(tmp_path / "maps.json"), "--experts", "valid_area"])
    assert ended.value.code == 2 and "nothing to fit on" in capsys.readouterr().err
    assert not (tmp_path / "maps.json").exists()


def test_experts_of_two_versions_have_a_map_each(sets, witness, tmp_path):
    errors = calibrate(sets, tmp_path / "store", experts=[witness]).errors
    newer = {name: (*own, *(replace(each, version="2") for each in own)) for name, own in errors.items()}
    assert {each.version for each in fit_calibration(newer).factors} == {"1", "2"}


def test_rendered_sets_are_one_row_of_the_table(sets, witness, tmp_path):
    errors = calibrate(sets, tmp_path / "store", experts=[witness]).errors
    maps = fit_calibration(errors, rendered={"barn", "cellar"})
    assert all(each.sets == ["attic", "2 rendered"] for each in maps.factors)
    rows = [row.split(" | ") for row in sigma_table(maps).splitlines() if "each of 2 rendered" in row]
    assert len(rows) == len(maps.factors) == 4
    assert int(rows[0][3]) == sum(one.samples for one in maps.factors[0].held_out if one.rendered)


def test_docs_have_the_table_of_the_packaged_maps():
    page = of_the_software.PAGE.read_text(encoding="utf-8")
    assert of_the_software.with_table(page, sigma_table(packaged_calibration())) == page, "run: make calibrate"
