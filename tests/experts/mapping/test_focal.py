"""What is believed about the focal length."""

from collections.abc import Iterator, Sequence

import numpy as np

from experts.clip import Clip, OpeningOptions, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.focal import FocalSettings, camera_without_map, disagreement, estimated_relative_sigma

SETTINGS = FocalSettings()


class Nothing:
    """Never read."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        raise AssertionError(frames)


def clip(**options: object) -> Clip:
    return Clip(
        id="x", name="x", frames=np.arange(2), times_s=None, width_px=640, height_px=480,
        options=OpeningOptions(**options), reader=Nothing(),
    )  # fmt: skip


def test_the_users_camera_is_kept_at_full_size() -> None:
    given = Intrinsics.centred(320, 240, 250.0)
    camera, sigma = camera_without_map(clip(intrinsics=given), SETTINGS)
    assert (camera.fx_px, camera.width_px, sigma) == (500.0, 640, 0.005)


def test_an_unknown_camera_is_broad() -> None:
    camera, sigma = camera_without_map(clip(), SETTINGS)
    assert camera.fx_px == 0.85 * 640 and sigma == 0.20


def test_sigma_is_never_below_the_floor_and_grows_with_doubt() -> None:
    assert estimated_relative_sigma(500, 0.0, 500, SETTINGS) == 0.05
    assert estimated_relative_sigma(500, 50.0, 500, SETTINGS) > 0.1
    assert estimated_relative_sigma(500, 0.0, 600, SETTINGS) > 0.1
    assert np.isclose(disagreement(450, 550), 0.2)
