"""`spatial-engine sequence` prints what a folder holds and says by its exit code whether it may be trusted."""

from pathlib import Path

import pytest
import yaml

from spatial_engine.cli.main import main
from tests.spatial_engine.sequences.rendered_set import changed


def run(*arguments: str) -> int:
    """Its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["sequence", *arguments])
    return int(ended.value.code or 0)


@pytest.mark.long(sample=True)
def test_sound_and_unsound(rendered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(rendered)) == 0
    shown = capsys.readouterr().out
    assert "14 of 14 frames, general, metres by renderer" in shown
    assert "findings     none" in shown
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(changed(poses={"direction": "w2c"})), encoding="utf-8")
    assert run(str(rendered), "--manifest", str(tmp_path / "wrong.yaml")) == 1
    shown = capsys.readouterr().out
    assert "poses look inverted" in shown and "unsound      14 of 14" in shown
    assert run(str(rendered), "--manifest", str(tmp_path / "wrong.yaml"), "--quick") == 0


def test_a_manifest_elsewhere_as_audit_labels_takes_it(
    rendered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "mine.yaml"
    elsewhere.write_text(yaml.safe_dump({**changed(), "name": "called elsewhere"}), encoding="utf-8")
    assert run(f"{rendered}={elsewhere}", "--quick") == 0
    assert "called elsewhere" in capsys.readouterr().out
    assert run(f"{rendered}={tmp_path / 'missing.yaml'}") == 2


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path)) == 2
    assert "no known layout" in capsys.readouterr().err
