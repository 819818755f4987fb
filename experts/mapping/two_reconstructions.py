"""Two reconstructions of the same keyframes that pass all checks: with a free focal length on which they agree, with a
fixed camera, or with the shortest and the longest possible focal length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.mapping.bundle_adjustment import focal_spread
from experts.mapping.colmap_features import copy_with_camera, verified_copy
from experts.mapping.colmap_mapping import SparseReconstruction, reconstruct
from experts.mapping.focal import (
    FocalSettings,
    KnownCamera,
    disagreement,
    estimated_relative_sigma,
    plausible_shares,
)
from experts.mapping.motion_kind import PairGeometry
from experts.mapping.reconstruction_checks import TrustSettings, refusal, without_misplaced
from experts.signals import NoEstimate

Reconstructions = tuple[SparseReconstruction, SparseReconstruction] | NoEstimate

_ALTERNATIVES = 10
"""Reconstructions with this number or a larger one are alternatives."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Cameras to reconstruct with, one after the other, until two reconstructions agree."""

    cameras: tuple[Intrinsics, ...]
    """Working size."""
    known_sigma: float | None = None
    """σ_f/f of the cameras, which stay fixed; None: they are initial values."""
    extremes: bool = False
    """The cameras are extremes of the possible range: the two focal lengths must differ strongly."""


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """A reconstruction, or None, and why it must not be used."""

    sparse: SparseReconstruction | None
    refused: NoEstimate | None


@dataclass(frozen=True, kw_only=True)
class Reconstructor:
    """Reconstructs from one database."""

    database: Path
    pairs: Sequence[PairGeometry]
    keyframes: int
    independent: KnownCamera | None
    """The camera as estimated without a path."""
    trust: TrustSettings
    focal: FocalSettings

    def two_reconstructions(self, attempt: Attempt) -> Reconstructions:
        """Two reconstructions that pass all checks and agree on the focal length, the one with more points first.

        If one is refused, the next camera is used. Attempts with the same fixed camera differ by their seed only.
        """
        found: list[_Checked] = []
        chosen: Reconstructions = NoEstimate(reason="no reconstruction")
        for seed, camera in enumerate(attempt.cameras):
            found.append(self._checked(camera, attempt.known_sigma is not None, seed))
            chosen = self._agreeing(found, attempt)
            if not isinstance(chosen, NoEstimate):
                break
        known = attempt.known_sigma is not None or self.independent is not None
        return chosen if known or isinstance(chosen, NoEstimate) else self._without_alternative(*chosen)

    def _checked(self, camera: Intrinsics, fixed: bool, seed: int) -> _Checked:
        """A reconstruction with its refusal, or with the spread of its focal length if that was free."""
        sparse = self._reconstruct(camera, fixed, seed)
        shares = None if fixed else plausible_shares(self.independent, self.focal)
        refused = refusal(sparse, self.pairs, self.keyframes, self.trust, shares)
        if sparse is not None and refused is None and not fixed:
            sparse = replace(sparse, focal_spread=focal_spread(sparse))
        return _Checked(sparse=sparse, refused=refused)

    def _reconstruct(self, camera: Intrinsics, fixed: bool, seed: int) -> SparseReconstruction | None:
        verified = self._verified(fixed, seed)
        verified_copy(self.database, verified, camera, fixed, seed)
        return self._mapped(verified, fixed, seed)

    def _alternative(self, camera: Intrinsics, seed: int) -> SparseReconstruction | None:
        """A reconstruction with a fixed camera from the matches that the first one's camera verified: verifying them
        anew takes longer than the reconstruction."""
        verified = self._verified(True, seed)
        copy_with_camera(self._verified(False, 0), verified, camera, True)
        return self._mapped(verified, True, seed)

    def _mapped(self, verified: Path, fixed: bool, seed: int) -> SparseReconstruction | None:
        found = reconstruct(verified, verified.with_suffix(""), fixed, seed)
        return found and without_misplaced(found, self.pairs, self.trust)

    def _verified(self, fixed: bool, seed: int) -> Path:
        """The database of a reconstruction."""
        return self.database.with_name(f"{'fixed' if fixed else 'free'}{seed}.db")

    def _agreeing(self, found: Sequence[_Checked], attempt: Attempt) -> Reconstructions:
        """The best two reconstructions that pass the checks, if their focal lengths agree.

        A third one with another focal length must have fewer points and a larger residual than both; otherwise the
        focal length is undecided.
        """
        passed = [m.sparse for m in found if m.sparse is not None and m.refused is None]
        if attempt.known_sigma is None and passed and all(self._contradicted(m, m) for m in passed):
            return self._contradiction(passed)
        if len(passed) < 2:
            first = next((m.refused for m in found if m.refused is not None), None)
            detail = first.reason if first is not None else ""
            return (
                first if first and not passed else NoEstimate(reason="the second reconstruction failed", detail=detail)
            )
        if attempt.extremes:
            return self._extremes(found, passed)
        by_points = sorted(passed, key=lambda m: -len(m.xyz_world))
        for a, b in combinations(by_points, 2):
            if self._disagree(a, b):
                continue
            others = [m for m in passed if self._disagree(a, m)]
            fewest, worst = len(b.xyz_world), max(a.error_px.mean(), b.error_px.mean())
            if all(len(m.xyz_world) < fewest and m.error_px.mean() > worst for m in others):
                if self._contradicted(a, b):
                    return self._contradiction([a, b])
                return a, b
        focal = [m.camera.fx_px for m in passed]
        detail = f"reconstructions: {min(focal):.0f} to {max(focal):.0f} px"
        return NoEstimate(reason="focal length undecided", detail=detail, remedy="give --intrinsics")

    def _extremes(self, found: Sequence[_Checked], passed: list[SparseReconstruction]) -> Reconstructions:
        """The shortest and the longest focal length that keep about as many observations as any."""
        most = max(m.sparse.observations_mapped for m in found if m.sparse is not None)
        kept = [m for m in passed if m.observations_mapped * self.focal.max_extreme_loss >= most]
        by_focal = sorted(kept, key=lambda m: m.camera.fx_px)
        if by_focal and by_focal[-1].camera.fx_px >= self.focal.extreme_ratio * by_focal[0].camera.fx_px:
            return by_focal[0], by_focal[-1]
        return NoEstimate(
            reason="focal length undecided", remedy="give --intrinsics, or rotate the camera while moving"
        )

    def _without_alternative(self, a: SparseReconstruction, b: SparseReconstruction) -> Reconstructions:
        """The reconstructions, unless one with a clearly different focal length has clearly more observations."""
        most = self.focal.max_alternative_share * max(a.observations_mapped, b.observations_mapped)
        for number, factor in enumerate((self.focal.alternative_factor, 1 / self.focal.alternative_factor)):
            width, height = a.camera.width_px, a.camera.height_px
            camera = Intrinsics.centred(width, height, a.camera.fx_px * factor)
            alternative = self._alternative(camera, _ALTERNATIVES + number)
            if alternative is not None and alternative.observations_mapped > most:
                detail = f"{a.camera.fx_px:.0f} px explain fewer observations than {alternative.camera.fx_px:.0f} px"
                return NoEstimate(reason="focal length undecided", detail=detail, remedy="give --intrinsics")
        return a, b

    def _disagree(self, one: SparseReconstruction, other: SparseReconstruction) -> bool:
        return disagreement(one.camera.fx_px, other.camera.fx_px) > self.focal.max_disagreement

    def _contradicted(self, one: SparseReconstruction, other: SparseReconstruction) -> bool:
        """Whether the independent estimate contradicts the focal length of a reconstruction."""
        if self.independent is None:
            return False
        sigma = estimated_relative_sigma(one, other, self.focal)
        return self.independent.error_in_sigmas(one.camera, sigma) > self.focal.independent_sigmas

    def _contradiction(self, found: Sequence[SparseReconstruction]) -> NoEstimate:
        assert self.independent is not None
        here = self.independent.camera.scaled(found[0].camera.width_px, found[0].camera.height_px)
        focal = ", ".join(f"{m.camera.fx_px:.0f}" for m in found)
        detail = f"reconstructions: {focal} px, straight lines: {here.fx_px:.0f} px"
        return NoEstimate(reason="two focal lengths disagree", detail=detail, remedy="give --intrinsics")


def attempts(
    clip: Clip, keyframes: int, user: KnownCamera | None, independent: KnownCamera | None, focal: FocalSettings
) -> list[Attempt]:
    """The attempts, in order. With the user's camera: only that one. Otherwise first a free focal length, then the
    independent estimate ± 1 σ, or the extremes of the possible range: their difference shows what is unknown."""
    width, height = clip.working_size
    starts = (*focal.start_shares, *focal.spare_shares)
    if user is not None:
        return [Attempt(cameras=(user.camera.scaled(width, height),) * len(starts), known_sigma=user.relative_sigma)]
    free = Attempt(cameras=_centred(clip, starts))
    if independent is not None:
        shifted = tuple(independent.shifted(by).scaled(width, height) for by in (-1.0, 1.0))
        return [free, Attempt(cameras=shifted, known_sigma=independent.relative_sigma)]
    if keyframes < focal.extreme_keyframes:
        return [free]
    shares = focal.extreme_shares
    return [
        free,
        Attempt(cameras=_centred(clip, shares), known_sigma=float(np.log(max(shares) / min(shares))), extremes=True),
    ]


def _centred(clip: Clip, shares: Sequence[float]) -> tuple[Intrinsics, ...]:
    """Cameras by their focal length as a share of the longer side."""
    width, height = clip.working_size
    return tuple(Intrinsics.centred(width, height, share * max(width, height)) for share in shares)
