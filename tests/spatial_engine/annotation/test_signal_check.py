"""What an expert returns is held against its declaration before it is filed."""

from pathlib import Path

import numpy as np
import pytest

from experts.clip import Clip
from experts.signals import NoEstimate, Signals
from spatial_engine.annotation.clip_work import check_results
from tests.spatial_engine.fake_experts import FakeExpert
from tests.templates.worlds import NoPictures

FRAMES = np.array([2, 3, 5])
CLIP = Clip(id="a", name="a", frames=FRAMES, times_s=None, width_px=320, height_px=240, reader=NoPictures())


@pytest.fixture
def expert(tmp_path: Path) -> FakeExpert:
    return FakeExpert(name="up", provides=frozenset({"gravity"}), log=tmp_path / "log")


@pytest.fixture
def results(expert: FakeExpert) -> Signals:
    return dict(expert(CLIP, {}))


def test_what_is_as_declared_passes(expert: FakeExpert, results: Signals) -> None:
    check(expert, results)
    check(expert, {"gravity": NoEstimate(reason="too dark")})


@pytest.mark.parametrize(
    "changed",
    [
        {"sigma_rad": np.ones(2)},
        {"up_cam": np.ones((3, 2))},
        {"up_cam": np.ones((3, 3), np.float32)},
        {"frames": np.array([2.0, 3.0, 5.0])},
    ],
)
def test_arrays_that_do_not_fit(expert: FakeExpert, results: Signals, changed: dict[str, np.ndarray]) -> None:
    (name, array), *_ = changed.items()
    object.__setattr__(results["gravity"], name, array)
    with pytest.raises(TypeError, match=r"up returned a 'gravity' whose arrays do not fit each other: \w+ is "):
        check(expert, results)


@pytest.mark.parametrize("frames", [[2, 3, 4], [3, 2, 5], [2, 2, 3]])
def test_frames_that_are_not_the_clips(expert: FakeExpert, results: Signals, frames: list[int]) -> None:
    object.__setattr__(results["gravity"], "frames", np.array(frames))
    with pytest.raises(ValueError, match="not rising numbers of the clip's"):
        check(expert, results)


def check(expert: FakeExpert, results: Signals) -> None:
    check_results(expert, CLIP, results)
