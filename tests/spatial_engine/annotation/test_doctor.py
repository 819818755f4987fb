"""What is missing comes with the command that adds it."""

import sys
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from experts.registry import EXPERTS
from experts.tracking.klt import KltExpert
from spatial_engine.annotation import doctor


def test_all_packages_work_here(tmp_path: Path) -> None:
    findings = {finding.what: finding for finding in doctor.examine(tmp_path)}
    for name in ("Python", "numpy", "pycolmap", "expert klt", "processor cores"):
        assert findings[name].state == "works", findings[name]


def test_what_is_missing_has_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(doctor._PACKAGES, "no_such_module", "no-such-package")
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(
        doctor, "find_spec", lambda name: None if name in ("rerun", "no_such_module") else find_spec(name)
    )
    findings = {finding.what: finding for finding in doctor.examine(tmp_path / "not" / "there")}
    assert findings["rerun-sdk"].state == "optional" and ".[view]" in findings["rerun-sdk"].remedy
    assert findings["no-such-package"].state == "missing"
    assert findings["no-such-package"].remedy.endswith("-m pip install no-such-package")
    assert findings["Chromium"].state == "optional"
    assert "install chromium" in findings["Chromium"].remedy


def test_names_every_dependency() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    required = {text.split(">")[0].split("=")[0] for text in project["dependencies"]}
    assert required == set(doctor._PACKAGES.values())


def test_an_expert_of_a_model_that_is_not_here_is_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPATIAL_ENGINE_WEIGHTS", str(tmp_path))
    monkeypatch.setitem(EXPERTS.builtin, "unpacked", "tests.spatial_engine.fake_adapters:Unpacked")
    findings = {finding.what: finding for finding in doctor.examine(tmp_path)}
    found = findings["expert unpacked"]
    assert found.state == "optional"
    pip, fetch = found.remedy.split(" && ")
    assert pip == f"{sys.executable} -m pip install no-such-package"
    assert fetch == "spatial-engine weights fetch da3-base"
    assert "licence: Apache-2.0, weights Apache-2.0" in found.notes
    assert "imports: no_such_package.part (MIT)" in found.notes
    assert "variants: unpacked:free, unpacked:bound" in found.notes
    assert doctor.show(findings.values())


def test_what_is_unproven_is_said(tmp_path: Path) -> None:
    notes = {finding.what: " ".join(finding.notes) for finding in doctor.examine(tmp_path)}
    assert "unproven: whether torch reads the published .tar with weights_only=True" in notes["expert geocalib"]
    assert "unproven: whether the published checkpoint has every tensor" in notes["expert spatial_tracker"]
    assert "unproven: sha256 of ronormsigma1/dino_weight.pt of orient-anything-v1" in notes["expert orient_anything"]
    assert "of da3-giant-1.1" in notes["expert depth_anything_3"], "of a variant that is not the default"
    assert "sha256" not in notes["expert tapir"] and "unproven" not in notes["expert klt"]


def test_lists_templates_with_package_and_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    group = "spatial_engine.templates"
    plug_in = EntryPoint(name="theirs", value="templates.template:Template", group=group)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [plug_in])
    *ours, theirs = doctor._templates()
    assert ("template camera_tilt", "works", "L1/Orientation/Gravity") in [(f.what, f.state, f.detail) for f in ours]
    assert theirs.what == "template theirs of the package templates" and theirs.state == "missing"
    assert "lacks the methods answer, measure, phrase, propose" in theirs.detail


class Inventor(KltExpert):
    provides = frozenset({"brightness"})


def test_an_expert_with_a_signal_of_its_own_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EXPERTS, "builtin", {"inventor": f"{__name__}:Inventor"})
    found = next(finding for finding in doctor._models() if finding.what == "expert inventor")
    assert found.state == "missing" and "brightness, which is no signal" in found.detail
    assert "camera_path" in found.remedy


def test_without_a_core_package_it_still_speaks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "numpy" else object())
    findings = {finding.what: finding for finding in doctor.examine(tmp_path)}
    assert findings["numpy"].state == "missing"
    assert not any(what.startswith("expert") for what in findings)
    assert not doctor.show(findings.values())


def test_what_models_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 1,
        mem_get_info=lambda _: (60_000_000_000, 80_000_000_000),
        get_device_name=lambda _: "H100",
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.13.0", cuda=cuda, __spec__=object()))
    [gpu] = doctor._gpu()
    assert (gpu.what, gpu.state) == ("GPU cuda:0", "works")
    assert gpu.detail == "H100, 60.0 of 80.0 GB free; torch 2.13.0"
    cuda.is_available, cuda.device_count = (lambda: False), (lambda: 0)
    [none] = doctor._gpu()
    assert (none.state, none.remedy) == ("optional", "conda env create -f environment.yml")
