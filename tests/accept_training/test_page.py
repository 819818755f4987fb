"""docs/training.md, typed in: from a folder of rendered clips to training steps. The model has random weights."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest

from tests.spatial_engine.rendered_store import image_clip, short_demo
from tests.test_training import PAGE


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Path:
    """A folder with clips in VIDEOS, and a model under the name that the page gives."""
    folder = tmp_path_factory.mktemp("newcomer")
    for number in range(2):
        image_clip(short_demo(frames=24 + number, width_px=320), folder / "VIDEOS" / f"room_{number}")
    (model,) = {*re.findall(r"Trainer\(\s*\"([\w./-]+)\"", PAGE.text)}
    shutil.copytree(tiny_model, folder / model)
    return folder


def test_from_a_folder_to_training_steps(here: Path) -> None:
    PAGE.type_in("set", here)
    rows = json.loads((here / "TRAINING" / "export_report.json").read_text())["rows"]
    assert rows > 0
    for block in ("sft", "grpo"):
        PAGE.type_in(block, here)
        state = json.loads((here / block.upper() / "checkpoint-2" / "trainer_state.json").read_text())
        losses = [entry["loss"] for entry in state["log_history"] if "loss" in entry]
        assert len(losses) == 2 and all(map(math.isfinite, losses))
        print(f"\n{block}: losses {losses} of {rows} questions")
