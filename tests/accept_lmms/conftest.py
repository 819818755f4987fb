"""The real lmms-eval in its own environment (SPATIAL_ENGINE_LMMS; `make accept-lmms` makes it), on the demo's clip."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

import spatial_engine as se
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from tests.accept_lmms.harness import LmmsEval
from tests.spatial_engine.drafts import NASTY, clip, clip_questions, route, tables, walk

CLIP = Path(__file__).parents[2] / "examples" / "demo" / "room.mp4"


@pytest.fixture(scope="session")
def lmms() -> LmmsEval:
    named = os.environ.get("SPATIAL_ENGINE_LMMS")
    if not named:
        pytest.skip("SPATIAL_ENGINE_LMMS names no environment that holds lmms-eval: make accept-lmms")
    return LmmsEval(Path(named).resolve())


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """What the pipeline asks of our own rendered clip."""
    return se.run(CLIP, tmp_path_factory.mktemp("accept") / "room", upright=True, licence="Apache-2.0")


@pytest.fixture(scope="session")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Every format, plans in metres among them, in hostile words."""
    some = clip_questions(count=4)
    more = [walk(6), *(walk(n, step_fraction=None) for n in (8, 10)), route(1), route(2)]
    folder = tmp_path_factory.mktemp("accept") / "drafted"
    return write_dataset(folder, [replace(some, asked=tables(*some.asked, *more))], lambda id: clip(id, NASTY), seed=0)
