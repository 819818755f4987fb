"""Two maps of the same keyframes that pass all gates: with a free focal length on which they agree, with a camera that
was given to them, or with the shortest and the longest focal length that can be."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.mapping.colmap_features import verified_copy
from experts.mapping.colmap_mapping import SparseMap, map_globally
from experts.mapping.focal import FocalSettings, KnownCamera, disagreement, plausible_shares
from experts.mapping.map_signals import estimated_focal_sigma
from experts.mapping.map_trust import TrustSettings, refusal, without_misplaced
from experts.mapping.motion_kind import PairGeometry
from experts.signals import NoEstimate

MapsOrNot = tuple[SparseMap, SparseMap] | NoEstimate

_RIVALS = 10
"""Numbers of maps from here on are those of rivals."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Cameras to map with, one after the other, until two maps agree."""

    cameras: tuple[Intrinsics, ...]
    """Working size."""
    known_sigma: float | None = None
    """σ_f/f of the cameras, which are kept; None: they are starts."""
    ends: bool = False
    """The cameras are ends of what is possible: the two maps must lie far apart."""


@dataclass(frozen=True, kw_only=True)
class MapMaker:
    """Makes maps from one database."""

    database: Path
    pairs: Sequence[PairGeometry]
    keyframes: int
    witness: KnownCamera | None
    """The camera as measured without its path."""
    trust: TrustSettings
    focal: FocalSettings

    def two_maps(self, attempt: Attempt) -> MapsOrNot:
        """Two maps that pass all gates and agree on the focal length, the one with more points first.

        A start is only a start: where one map is refused, the next is tried. A given camera is never changed; if it is
        the same one again, the maps differ by their seed alone.
        """
        maps: list[SparseMap | None] = []
        chosen: MapsOrNot = NoEstimate(reason="no map")
        for seed, camera in enumerate(attempt.cameras):
            maps.append(self._map(camera, attempt.known_sigma is not None, seed))
            chosen = self._agreeing(maps, attempt)
            if not isinstance(chosen, NoEstimate):
                break
        told = attempt.known_sigma is not None or self.witness is not None
        return chosen if told or isinstance(chosen, NoEstimate) else self._unrivalled(*chosen)

    def _map(self, camera: Intrinsics, fixed: bool, seed: int) -> SparseMap | None:
        name = f"{'given' if fixed else 'start'}{seed}"
        verified = self.database.with_name(f"{name}.db")
        verified_copy(self.database, verified, camera, fixed, seed)
        found = map_globally(verified, self.database.with_name(name), fixed, seed)
        return found and without_misplaced(found, self.pairs, self.trust)

    def _agreeing(self, maps: Sequence[SparseMap | None], attempt: Attempt) -> MapsOrNot:
        """The best two maps that pass the gates, if their focal lengths agree.

        A passed map at another focal length must be beaten by both, in points and in residual: a wrong start ends in
        a worse minimum, or nothing is known.
        """
        shares = None if attempt.known_sigma is not None else plausible_shares(self.witness, self.focal)
        refusals = [refusal(m, self.pairs, self.keyframes, self.trust, shares) for m in maps]
        passed = [m for m, refused in zip(maps, refusals, strict=True) if m is not None and refused is None]
        if attempt.known_sigma is None and passed and all(self._contradicted(m, m) for m in passed):
            return self._contradiction(passed)
        if len(passed) < 2:
            first = next((r for r in refusals if r is not None), None)
            detail = first.reason if first is not None else ""
            return first if first and not passed else NoEstimate(reason="the second map failed", detail=detail)
        if attempt.ends:
            return self._ends(maps, passed)
        by_points = sorted(passed, key=lambda m: -len(m.xyz_world))
        for a, b in combinations(by_points, 2):
            if self._apart(a, b):
                continue
            odd = [m for m in passed if self._apart(a, m)]
            fewest, worst = len(b.xyz_world), max(a.error_px.mean(), b.error_px.mean())
            if all(len(m.xyz_world) < fewest and m.error_px.mean() > worst for m in odd):
                if self._contradicted(a, b):
                    return self._contradiction([a, b])
                return a, b
        focal = [m.camera.fx_px for m in passed]
        detail = f"maps say {min(focal):.0f} to {max(focal):.0f} px"
        return NoEstimate(reason="focal length undecided", detail=detail, remedy="give --intrinsics")

    def _ends(self, maps: Sequence[SparseMap | None], passed: list[SparseMap]) -> MapsOrNot:
        """The shortest and the longest focal length that keep about as much as any of what was seen."""
        most = max(len(m.point) for m in maps if m is not None)
        kept = [m for m in passed if len(m.point) * self.focal.max_extreme_loss >= most]
        by_focal = sorted(kept, key=lambda m: m.camera.fx_px)
        if by_focal and by_focal[-1].camera.fx_px >= self.focal.extreme_ratio * by_focal[0].camera.fx_px:
            return by_focal[0], by_focal[-1]
        return NoEstimate(reason="focal length undecided", remedy="give --intrinsics, or turn while moving")

    def _unrivalled(self, a: SparseMap, b: SparseMap) -> MapsOrNot:
        """The maps, unless one with a clearly other focal length keeps clearly more of what was seen."""
        most = self.focal.max_rival_share * max(len(a.point), len(b.point))
        for number, factor in enumerate((self.focal.rival_factor, 1 / self.focal.rival_factor)):
            width, height = a.camera.width_px, a.camera.height_px
            rival = self._map(Intrinsics.centred(width, height, a.camera.fx_px * factor), True, _RIVALS + number)
            if rival is not None and len(rival.point) > most:
                focal = f"{a.camera.fx_px:.0f} px explain less than {rival.camera.fx_px:.0f}"
                return NoEstimate(reason="focal length undecided", detail=focal, remedy="give --intrinsics")
        return a, b

    def _apart(self, one: SparseMap, other: SparseMap) -> bool:
        return disagreement(one.camera.fx_px, other.camera.fx_px) > self.focal.max_disagreement

    def _contradicted(self, one: SparseMap, other: SparseMap) -> bool:
        """Whether what was measured without a path speaks against the focal length of a map."""
        if self.witness is None:
            return False
        sigma = estimated_focal_sigma(one, other, self.focal)
        return self.witness.sigmas_off(one.camera, sigma) > self.focal.witness_sigmas

    def _contradiction(self, maps: Sequence[SparseMap]) -> NoEstimate:
        assert self.witness is not None
        here = self.witness.camera.scaled(maps[0].camera.width_px, maps[0].camera.height_px)
        said = ", ".join(f"{m.camera.fx_px:.0f}" for m in maps)
        detail = f"maps say {said} px, straight lines {here.fx_px:.0f} px"
        return NoEstimate(reason="two focal lengths disagree", detail=detail, remedy="give --intrinsics")


def attempts(
    clip: Clip, keyframes: int, given: KnownCamera | None, witness: KnownCamera | None, focal: FocalSettings
) -> list[Attempt]:
    """What to try: the user's camera; else a free focal length, then the one measured without a path, one σ shorter
    and one σ longer, or else the ends of what is possible: what is not known of it shows between those two maps."""
    width, height = clip.working_size
    starts = (*focal.start_shares, *focal.spare_shares)
    if given is not None:
        return [Attempt(cameras=(given.camera.scaled(width, height),) * len(starts), known_sigma=given.relative_sigma)]
    free = Attempt(cameras=_centred(clip, starts))
    if witness is not None:
        shifted = tuple(witness.shifted(by).scaled(width, height) for by in (-1.0, 1.0))
        return [free, Attempt(cameras=shifted, known_sigma=witness.relative_sigma)]
    if keyframes < focal.extreme_keyframes:
        return [free]
    shares = focal.extreme_shares
    return [
        free,
        Attempt(cameras=_centred(clip, shares), known_sigma=float(np.log(max(shares) / min(shares))), ends=True),
    ]


def _centred(clip: Clip, shares: Sequence[float]) -> tuple[Intrinsics, ...]:
    """Cameras by their focal length as a share of the longer side."""
    width, height = clip.working_size
    return tuple(Intrinsics.centred(width, height, share * max(width, height)) for share in shares)
