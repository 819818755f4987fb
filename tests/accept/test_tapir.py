"""The code of TAPIR (PyTorch port) with random weights; and its pixel convention."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-experts")

from experts.expert import SetupProblem  # noqa: E402
from experts.signals import ImageTracks, NoEstimate  # noqa: E402
from experts.tracking.learned_tracks import FollowSettings  # noqa: E402
from experts.tracking.tapir import TapirExpert, TapirSettings  # noqa: E402
from spatial_engine.rendering.rooms import random_room  # noqa: E402
from tests.accept.tracked import assert_equal, random_windows, together, tracked  # noqa: E402
from tests.experts.exact_tracks import RenderedOnce  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # upstream's and its packages' own
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

Checkout = Callable[[str], Path]
ACCEPT_ALL = FollowSettings(
    window_frames=6, overlap_frames=3, min_window_frames=3, starts=2, points=10, start_px=np.inf, agree_px=np.inf
)
TINY = TapirSettings(following=ACCEPT_ALL, side_px=64, initial_px=64, min_confidence=0.0)


@pytest.fixture
def upstream(checkout: Checkout) -> None:
    checkout("tapnet")
    for module, package in (("einshape", "einshape"), ("tree", "dm-tree")):
        pytest.importorskip(module, reason=f"{package} is not installed: pip install {package}")


@pytest.fixture(scope="module")
def world() -> RenderedOnce:
    return RenderedOnce(random_room(np.random.default_rng(1), frames=9, width_px=160, height_px=120))


def test_random_weights_run(upstream: None, world: RenderedOnce) -> None:
    expert = TapirExpert(TINY)
    expert.load("random", "cpu")
    video = np.random.default_rng(0).integers(0, 255, (6, 64, 64, 3), dtype=np.uint8)
    raw = tracked(expert, video, [[0, 5, 6], [3, 50, 60]])
    assert raw.xy.shape == (2, 6, 2) and raw.xy.dtype == np.float32
    assert raw.confidence.shape == (2, 6) and (raw.confidence >= 0).all() and (raw.confidence <= 1).all()
    out = expert(world.clip, {})["image_tracks"]
    assert isinstance(out, ImageTracks) and out.xy_px.shape[1:] == (9, 2)
    again = expert(world.clip, {})["image_tracks"]
    assert isinstance(again, ImageTracks) and out.xy_px.tobytes() == again.xy_px.tobytes()
    assert out.provenance.weights_sha256 == "random" and out.provenance.commercial_ok
    expert.close()


def test_windows_of_several_clips_are_tracked_as_alone(upstream: None) -> None:
    expert = TapirExpert(replace(TINY, chunk=8))
    expert.load("random", "cpu")
    windows = random_windows((64, 64), 5, (9, 16, 11))
    alone = [tracked(expert, window.video, window.queries) for window in windows]
    for one, among_others in zip(alone, together(expert, windows), strict=True):
        assert_equal(one, among_others, atol=2e-3)
    swapped = together(expert, windows[::-1])[::-1]
    for one, other in zip(together(expert, windows), swapped, strict=True):
        assert one.xy.tobytes() == other.xy.tobytes() and one.confidence.tobytes() == other.confidence.tobytes()


def test_two_resolutions_run(upstream: None) -> None:
    expert = TapirExpert(replace(TINY, side_px=128))
    expert.load("random", "cpu")
    raw = tracked(expert, np.zeros((3, 128, 128, 3), np.uint8), [[0, 100, 60]])
    assert raw.xy.shape == (1, 3, 2) and np.isfinite(raw.xy).all()


def test_random_weights_give_no_estimate_with_default_thresholds(upstream: None, world: RenderedOnce) -> None:
    following = replace(ACCEPT_ALL, start_px=FollowSettings().start_px, agree_px=FollowSettings().agree_px)
    expert = TapirExpert(replace(TINY, following=following, min_confidence=0.9))
    expert.load("random", "cpu")
    assert isinstance(expert(world.clip, {})["image_tracks"], NoEstimate)


def test_zero_is_the_edge_of_the_first_pixel(upstream: None) -> None:
    from tapnet.torch import utils

    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    ramp = torch.stack([x, y], dim=-1)[None, None]
    points = torch.tensor([[[3.5, 2.75]]])[:, :, None, None].float()  # (y, x) in raster coordinates
    out = utils.map_coordinates_2d(ramp, points)[0, 0, 0, 0]
    np.testing.assert_allclose(out, [2.25, 3.0], atol=1e-5)
    peak = torch.zeros(1, 1, 1, 16, 16)
    peak[..., 5, 9] = 1
    np.testing.assert_allclose(utils.soft_argmax_heatmap_batched(peak)[0, 0, 0], [9.5, 5.5])


def test_jax_is_not_imported(upstream: None) -> None:
    import sys

    expert = TapirExpert(TINY)
    expert.load("random", "cpu")
    assert not {"jax", "haiku", "tensorflow"} & set(sys.modules)


def test_other_weights_are_refused(upstream: None, tmp_path: Path) -> None:
    expert = TapirExpert(TINY)
    (tmp_path / "bootstapir_checkpoint_v2.pt").write_bytes(b"no checkpoint")
    with pytest.raises(SetupProblem, match="use another file"):
        expert.build({"bootstapir": tmp_path}, expert.placement)
