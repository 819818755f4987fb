"""What is missing comes with the command that adds it."""

from pathlib import Path

import pytest

from spatial_engine import doctor


def test_all_packages_work_here(tmp_path: Path) -> None:
    findings = {finding.what: finding for finding in doctor.examine(tmp_path)}
    for name in ("Python", "numpy", "pycolmap", "expert klt", "processor cores"):
        assert findings[name].state == "works", findings[name]


def test_what_is_missing_has_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(doctor._PACKAGES, "no_such_module", "no-such-package")
    monkeypatch.setattr("shutil.which", lambda name: None)
    findings = {finding.what: finding for finding in doctor.examine(tmp_path / "not" / "there")}
    assert findings["no-such-package"].state == "missing"
    assert findings["no-such-package"].remedy.endswith("-m pip install no-such-package")
    assert findings["Chromium"].state == "optional"
    assert "install chromium" in findings["Chromium"].remedy


def test_names_every_dependency() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    required = {text.split(">")[0].split("=")[0] for text in project["dependencies"]}
    assert required == set(doctor._PACKAGES.values())
