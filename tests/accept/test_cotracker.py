"""The code of CoTracker 3, both variants, with random weights; and its pixel convention."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-experts")

from experts.expert import SetupProblem  # noqa: E402
from experts.signals import ImageTracks, NoEstimate  # noqa: E402
from experts.tracking.cotracker import CoTrackerExpert, CoTrackerSettings  # noqa: E402
from experts.tracking.learned_tracks import FollowSettings  # noqa: E402
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
    window_frames=8, overlap_frames=4, min_window_frames=4, starts=2, points=12, start_px=np.inf, agree_px=np.inf
)
TINY = CoTrackerSettings(following=ACCEPT_ALL, size_px=(128, 96), iterations=2, min_confidence=0.0)


@pytest.fixture(scope="module")
def world() -> RenderedOnce:
    return RenderedOnce(random_room(np.random.default_rng(1), frames=12, width_px=160, height_px=120))


@pytest.mark.parametrize("variant", CoTrackerExpert.variants)
def test_random_weights_run(checkout: Checkout, world: RenderedOnce, variant: str) -> None:
    checkout("co-tracker")
    expert = CoTrackerExpert(TINY, variant)
    expert.load("random", "cpu")
    raw = tracked(expert, np.zeros((8, 96, 128, 3), np.uint8), [[0, 5, 6], [3, 50, 60]])
    assert raw.xy.shape == (2, 8, 2) and raw.xy.dtype == np.float32
    assert raw.confidence.shape == (2, 8) and (raw.confidence >= 0).all() and (raw.confidence <= 1).all()
    out = expert(world.clip, {})["image_tracks"]
    assert isinstance(out, ImageTracks) and out.xy_px.shape[1:] == (12, 2)
    assert np.nanmin(out.xy_px) >= -0.5 and np.nanmax(out.xy_px[..., 0]) <= 159.5
    again = expert(world.clip, {})["image_tracks"]
    assert isinstance(again, ImageTracks) and out.xy_px.tobytes() == again.xy_px.tobytes()
    assert out.provenance.weights_sha256 == "random" and not out.provenance.commercial_ok
    expert.close()


@pytest.mark.parametrize("variant", CoTrackerExpert.variants)
def test_windows_of_several_clips_are_tracked_as_alone(checkout: Checkout, variant: str) -> None:
    checkout("co-tracker")
    expert = CoTrackerExpert(TINY, variant)
    expert.load("random", "cpu")
    for module in expert.model.upstream.updateformer.modules():  # untrained, its points hardly attend to each other
        if isinstance(module, torch.nn.Linear):
            module.weight.data.mul_(3)
    windows = random_windows((128, 96), 8, (5, 64, 20))
    alone = [tracked(expert, window.video, window.queries) for window in windows]
    for one, among_others in zip(alone, together(expert, windows), strict=True):
        assert_equal(one, among_others, atol=2e-3)
    swapped = together(expert, windows[::-1])[::-1]
    for one, other in zip(together(expert, windows), swapped, strict=True):
        assert one.xy.tobytes() == other.xy.tobytes() and one.confidence.tobytes() == other.confidence.tobytes()
    if variant == "offline":  # with these weights, copies that upstream sees pull the tracks
        seen = tracked(expert, windows[0].video, np.pad(windows[0].queries, ((0, 91), (0, 0)), mode="edge"))
        with pytest.raises(AssertionError):
            assert_equal(alone[0], replace(seen, xy=seen.xy[:5], confidence=seen.confidence[:5]), atol=2e-3)


def test_random_weights_give_no_estimate_with_default_thresholds(checkout: Checkout, world: RenderedOnce) -> None:
    checkout("co-tracker")
    following = replace(ACCEPT_ALL, start_px=FollowSettings().start_px, agree_px=FollowSettings().agree_px)
    expert = CoTrackerExpert(replace(TINY, following=following, min_confidence=0.6))
    expert.load("random", "cpu")
    assert isinstance(expert(world.clip, {})["image_tracks"], NoEstimate)


def test_zero_is_the_centre_of_the_first_pixel(checkout: Checkout) -> None:
    checkout("co-tracker")
    from cotracker.models.core.model_utils import sample_features5d

    x, y = torch.meshgrid(torch.arange(20.0), torch.arange(10.0), indexing="xy")
    points = torch.tensor([[0.0, 3.25, 2.0], [0.0, 0.0, 9.0]])
    out = sample_features5d(torch.stack([x, y])[None, None], points[None, :, None])[0, :, 0]
    np.testing.assert_allclose(out, points[:, 1:], atol=1e-5)


def test_other_weights_are_refused(checkout: Checkout, tmp_path: Path) -> None:
    checkout("co-tracker")
    expert = CoTrackerExpert(TINY)
    (tmp_path / "scaled_offline.pth").write_bytes(b"no checkpoint")
    with pytest.raises(SetupProblem, match="use another file"):
        expert.build({"cotracker3-offline": tmp_path}, expert.placement)
