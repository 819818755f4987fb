"""Which two maps go out, from maps that are made up."""

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


def made(share: float, observations: int) -> SparseReconstruction:
    """As much of a map as is asked for."""
    zeros = np.zeros(observations, dtype=np.int64)
    return SparseReconstruction(
        camera=Intrinsics.centred(640, 480, share * 640), focal_formal_px=1.0, places=np.arange(2),
        cam_from_world=np.tile(np.eye(4), (2, 1, 1)), xyz_world=np.zeros((100, 3)), error_px=np.full(100, 0.3),
        point=zeros, place=zeros, keypoint=zeros, xy_px=np.zeros((observations, 2)),
    )  # fmt: skip


class Maps:
    """Maps by what their camera is; counts them."""

    def __init__(self, kept: dict[float, int], found: float | None = None, refused: tuple[float, ...] = ()) -> None:
        self.kept, self.found, self.refused, self.made = kept, found, refused, 0

    def make(self, _: Reconstructor, camera: Intrinsics, fixed: bool, seed: int) -> SparseReconstruction:
        self.made += 1
        share = round(camera.fx_px / 640 if fixed or self.found is None else self.found, 2)
        return made(share, self.kept.get(share, 0))

    def refuse(self, sparse: SparseReconstruction, *_: Any) -> NoEstimate | None:
        share = round(sparse.camera.fx_px / 640, 2)
        return NoEstimate(reason="focal length changes") if share in self.refused else None


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch):
    def chosen(maps: Maps, attempt: Attempt, independent: KnownCamera | None = None):
        monkeypatch.setattr(Reconstructor, "_map", lambda *given: maps.make(*given))
        monkeypatch.setattr(two_reconstructions, "refusal", maps.refuse)
        maker = Reconstructor(
            database=Path("x"), pairs=[], keyframes=8, independent=independent, trust=TrustSettings(), focal=FOCAL
        )  # fmt: skip
        found = maker.two_reconstructions(attempt)
        return found if isinstance(found, NoEstimate) else tuple(round(m.camera.fx_px / 640, 2) for m in found)

    return chosen


class Nothing:
    """Never read."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        raise AssertionError(frames)


CLIP = Clip(id="x", name="x", frames=np.arange(9), times_s=None, width_px=640, height_px=480, reader=Nothing())


def tries(keyframes: int = 8, independent: KnownCamera | None = None, **options: object) -> list[Attempt]:
    given = KnownCamera(camera=Intrinsics.centred(640, 480, 500.0), relative_sigma=0.005) if options else None
    return attempts(CLIP, keyframes, given, independent, FOCAL)


def test_a_focal_length_without_rival_is_believed(two):
    maps = Maps({0.8: 1000, 1.04: 1100, 0.62: 1100}, found=0.8)
    assert two(maps, tries()[0]) == (0.8, 0.8)
    assert maps.made == 4  # two starts, two rivals


@pytest.mark.parametrize("alternative", [1.04, 0.62])
def test_one_that_explains_less_than_another_is_not(two, alternative):
    found = two(Maps({0.8: 1000, alternative: 1300}, found=0.8), tries()[0])
    assert isinstance(found, NoEstimate) and found.reason == "focal length undecided"


def test_with_a_witness_nobody_looks_for_rivals(two):
    independent = KnownCamera(camera=Intrinsics.centred(640, 480, 0.8 * 640), relative_sigma=0.05)
    maps = Maps({0.8: 1000, 1.04: 5000}, found=0.8)
    assert two(maps, tries(independent=independent)[0], independent) == (0.8, 0.8) and maps.made == 2
    far = KnownCamera(camera=Intrinsics.centred(640, 480, 1.4 * 640), relative_sigma=0.05)
    found = two(Maps({0.8: 1000}, found=0.8), tries(independent=far)[0], far)
    assert isinstance(found, NoEstimate) and found.reason == "two focal lengths disagree"


def test_the_last_attempt_is_at_both_ends(two):
    ends = tries()[-1]
    assert ends.ends and ends.known_sigma == pytest.approx(np.log(1.5 / 0.45))
    assert two(Maps({0.45: 1000, 1.5: 900}), ends) == (0.45, 1.5)
    assert two(Maps({0.45: 1000, 1.5: 100, 0.6: 1000, 1.2: 900}), ends) == (0.45, 1.2)
    assert two(Maps({0.45: 300, 1.5: 900, 0.6: 850, 1.2: 950}), ends) == (0.6, 1.5)
    assert two(Maps({0.45: 900, 1.5: 900, 0.6: 900, 1.2: 900}, refused=(0.45,)), ends) == (0.6, 1.5)


@pytest.mark.parametrize(
    "maps",
    [
        Maps({0.45: 1000, 0.6: 1000}),
        Maps({0.45: 200, 0.6: 300, 1.2: 1000, 1.5: 1000}),
        Maps({0.45: 900, 0.6: 900, 1.2: 1000, 1.5: 1000}, refused=(0.45, 0.6)),
        Maps({0.45: 900, 1.5: 900}, refused=(0.45, 0.6, 1.2, 1.5)),
    ],
)
def test_one_end_alone_says_nothing(two, maps):
    assert isinstance(two(maps, tries()[-1]), NoEstimate)


def test_ends_need_keyframes_and_nothing_better():
    assert [attempt.ends for attempt in tries()] == [False, True]
    assert [attempt.ends for attempt in tries(keyframes=5)] == [False]
    independent = KnownCamera(camera=Intrinsics.centred(640, 480, 500.0), relative_sigma=0.1)
    _, shifted = tries(independent=independent)
    assert [round(camera.fx_px) for camera in shifted.cameras] == [450, 550] and not shifted.ends
    (users,) = tries(intrinsics=True)
    assert users.known_sigma == 0.005 and {camera.fx_px for camera in users.cameras} == {500.0}
