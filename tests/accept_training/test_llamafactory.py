"""LLaMA-Factory, in an environment of its own, on our export: what its loader reads, and two steps of its training."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.test_training import PAGE

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def python() -> Path:
    """Of the environment that holds LLaMA-Factory."""
    named = os.environ.get("SPATIAL_ENGINE_LLAMAFACTORY")
    if not named:
        pytest.skip("SPATIAL_ENGINE_LLAMAFACTORY names no environment with LLaMA-Factory: run make accept-training")
    return Path(named) / "bin" / "python"


@pytest.fixture(scope="module")
def model(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, written by the version of transformers that will read it."""
    folder = tmp_path_factory.mktemp("llamafactory") / "model"
    run(python, HERE / "tiny_model.py", folder)
    return folder


def run(*command: Path) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_its_loader_reads_every_row_and_its_training_runs(
    python: Path, model: Path, exports: Path, tmp_path: Path
) -> None:
    """With the settings of the page, but for the names of the model and of the set, and for the CPU."""
    ours = {"model_name_or_path": str(model), "output_dir": str(tmp_path / "out"), "use_cpu": True}
    ours |= {"dataset_dir": str(exports / "sharegpt"), "dataset": "spatial_drafted_train", "overwrite_cache": True}
    settings = tmp_path / "factory.yaml"
    settings.write_text(json.dumps(yaml.safe_load(PAGE.blocks["factory"][1]) | ours), encoding="utf-8")
    found = json.loads(run(python, HERE / "llamafactory_rows.py", settings).splitlines()[-1])

    rows = json.loads((exports / "sharegpt" / "train.json").read_text(encoding="utf-8"))
    answers = [row["messages"][-1]["content"] for row in rows]
    assert [re.sub(r"<\|im_end\|>\n?$", "", labels) for labels in found["labels"]] == answers
    assert found["images"] == [len(row["images"]) for row in rows]
    assert len({*found["pixels"]}) > sum(1 for row in rows if row["images"]) / 2

    state = json.loads((tmp_path / "out" / "trainer_state.json").read_text(encoding="utf-8"))
    losses = [entry["loss"] for entry in state["log_history"] if "loss" in entry]
    assert len(losses) == 2 and all(0 < loss < 20 for loss in losses)
    print(f"\nLLaMA-Factory: {len(rows)} rows, loss on the answers alone, losses {losses}")
