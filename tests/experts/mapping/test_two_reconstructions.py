"""Selection of two reconstructions among simulated ones."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from experts.mapping import two_reconstructions as two_reconstructions
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.focal import FocalSettings, KnownCamera
from experts.mapping.reconstruction_checks import TrustSettings
from experts.mapping.two_reconstructions import Attempt, Reconstructor, attempts
from experts.signals import NoEstimate

FOCAL = FocalSettings()


def made(share: float, observations: int, left_out: int = 0) -> SparseReconstruction:
    """A reconstruction with a focal length and a number of observations, and of further ones that are left out."""
    zeros = np.zeros(observations, dtype=np.int64)
    return SparseReconstruction(
        camera=Intrinsics.centred(640, 480, share * 640), focal_formal_px=1.0, places=np.arange(2),
        cam_from_world=np.tile(np.eye(4), (2, 1, 1)), xyz_world=np.zeros((100, 3)), error_px=np.full(100, 0.3),
        point=zeros, place=zeros, keypoint=zeros, xy_px=np.zeros((observations, 2)),
        left_out=left_out,
    )  # fmt: skip


class Simulated:
    """Returns reconstructions with `observations` by focal share, and counts them. `found`: the focal share of those
    with a free focal length. `refused`: focal shares that fail the checks. `left_out`: number of observations
    that are left out, by focal share."""

    def __init__(
        self,
        observations: dict[float, int],
        found: float | None = None,
        refused: tuple[float, ...] = (),
        left_out: dict[float, int] | None = None,
    ) -> None:
        self.observations, self.found, self.refused, self.made = observations, found, refused, 0
        self.left_out = left_out or {}

    def make(self, _: Reconstructor, camera: Intrinsics, fixed: bool, seed: int) -> SparseReconstruction:
        self.made += 1
        share = round(camera.fx_px / 640 if fixed or self.found is None else self.found, 2)
        return made(share, self.observations.get(share, 0), self.left_out.get(share, 0))

    def refuse(self, sparse: SparseReconstruction, *_: Any) -> NoEstimate | None:
        share = round(sparse.camera.fx_px / 640, 2)
        return NoEstimate(reason="focal length changes") if share in self.refused else None


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch):
    def chosen(simulated: Simulated, attempt: Attempt, independent: KnownCamera | None = None):
        monkeypatch.setattr(Reconstructor, "_reconstruct", lambda *args: simulated.make(*args))
        monkeypatch.setattr(
            Reconstructor, "_alternative", lambda self, how, seed: simulated.make(self, how, True, seed)
        )
        monkeypatch.setattr(two_reconstructions, "refusal", simulated.refuse)
        reconstructor = Reconstructor(
            database=Path("x"), pairs=[], keyframes=8, independent=independent, trust=TrustSettings(), focal=FOCAL
        )  # fmt: skip
        found = reconstructor.two_reconstructions(attempt)
        return found if isinstance(found, NoEstimate) else tuple(round(m.camera.fx_px / 640, 2) for m in found)

    return chosen


class Nothing:
    """A reader that must not be used."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        raise AssertionError(frames)


CLIP = Clip(id="x", name="x", frames=np.arange(9), times_s=None, width_px=640, height_px=480, reader=Nothing())


def attempted(
    keyframes: int = 8, independent: KnownCamera | None = None, *, users_camera: bool = False
) -> list[Attempt]:
    user = KnownCamera(camera=Intrinsics.centred(640, 480, 500.0), relative_sigma=0.005) if users_camera else None
    return attempts(CLIP, keyframes, user, independent, FOCAL)


def test_a_focal_length_without_better_alternative_is_used(two):
    simulated = Simulated({0.8: 1000, 1.04: 1100, 0.62: 1100}, found=0.8)
    assert two(simulated, attempted()[0]) == (0.8, 0.8)
    assert simulated.made == 4  # two initial values, two alternatives


@pytest.mark.parametrize("alternative", [1.04, 0.62])
def test_a_focal_length_with_a_better_alternative_is_not_used(two, alternative):
    found = two(Simulated({0.8: 1000, alternative: 1300}, found=0.8), attempted()[0])
    assert isinstance(found, NoEstimate) and found.reason == "focal length undecided"


@pytest.mark.parametrize("alternative", [1.04, 0.62])
def test_what_is_left_out_counts_as_mapped(two, alternative):
    """Otherwise a focal length would be refuted by one that joins what hangs in the air to something behind it."""
    simulated = Simulated({0.8: 700, alternative: 1100}, found=0.8, left_out={0.8: 300})
    assert two(simulated, attempted()[0]) == (0.8, 0.8)
    assert two(Simulated({0.45: 500, 1.5: 900}, left_out={0.45: 200}), attempted()[-1]) == (0.45, 1.5)


def test_with_an_independent_estimate_no_alternative_is_reconstructed(two):
    independent = KnownCamera(camera=Intrinsics.centred(640, 480, 0.8 * 640), relative_sigma=0.05)
    simulated = Simulated({0.8: 1000, 1.04: 5000}, found=0.8)
    assert two(simulated, attempted(independent=independent)[0], independent) == (0.8, 0.8) and simulated.made == 2
    far = KnownCamera(camera=Intrinsics.centred(640, 480, 1.4 * 640), relative_sigma=0.05)
    found = two(Simulated({0.8: 1000}, found=0.8), attempted(independent=far)[0], far)
    assert isinstance(found, NoEstimate) and found.reason == "two focal lengths disagree"


def test_the_last_attempt_uses_both_extremes(two):
    extremes = attempted()[-1]
    assert extremes.extremes and extremes.known_sigma == pytest.approx(np.log(1.5 / 0.45))
    assert two(Simulated({0.45: 1000, 1.5: 900}), extremes) == (0.45, 1.5)
    assert two(Simulated({0.45: 1000, 1.5: 100, 0.6: 1000, 1.2: 900}), extremes) == (0.45, 1.2)
    assert two(Simulated({0.45: 300, 1.5: 900, 0.6: 850, 1.2: 950}), extremes) == (0.6, 1.5)
    assert two(Simulated({0.45: 900, 1.5: 900, 0.6: 900, 1.2: 900}, refused=(0.45,)), extremes) == (0.6, 1.5)


@pytest.mark.parametrize(
    "simulated",
    [
        Simulated({0.45: 1000, 0.6: 1000}),
        Simulated({0.45: 200, 0.6: 300, 1.2: 1000, 1.5: 1000}),
        Simulated({0.45: 900, 0.6: 900, 1.2: 1000, 1.5: 1000}, refused=(0.45, 0.6)),
        Simulated({0.45: 900, 1.5: 900}, refused=(0.45, 0.6, 1.2, 1.5)),
    ],
)
def test_one_extreme_alone_gives_no_estimate(two, simulated):
    assert isinstance(two(simulated, attempted()[-1]), NoEstimate)


def test_extremes_are_used_only_with_enough_keyframes_and_without_another_estimate():
    assert [attempt.extremes for attempt in attempted()] == [False, True]
    assert [attempt.extremes for attempt in attempted(keyframes=5)] == [False]
    independent = KnownCamera(camera=Intrinsics.centred(640, 480, 500.0), relative_sigma=0.1)
    _, shifted = attempted(independent=independent)
    assert [round(camera.fx_px) for camera in shifted.cameras] == [450, 550] and not shifted.extremes
    (users,) = attempted(users_camera=True)
    assert users.known_sigma == 0.005 and {camera.fx_px for camera in users.cameras} == {500.0}
