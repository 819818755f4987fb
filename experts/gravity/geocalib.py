"""Up direction and field of view of single pictures by a network (GeoCalib, ECCV 2024; code Apache-2.0).

Upstream fits roll, pitch and focal length to two fields that its network predicts. Roll is accurate, pitch less so, the
field of view is inaccurate. Its σ ranks pictures and is no accuracy, so it is marked raw. It assumes a principal point
at the centre of the picture; pictures of a known camera are resampled accordingly.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal, cast

import numpy as np

from experts.checkpoints.weights import WEIGHTS
from experts.clip import Clip, Picture
from experts.gravity.geocalib_model import GeoCalibModel
from experts.gravity.tilt import Tilt, TiltSettings, pooled_focal, refusal_reason, up_sigma_rad
from experts.intrinsics import Intrinsics
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package
from experts.runtime.per_image import PerImageExpert, call_one
from experts.signals import Calibration, Gravity, NoEstimate, Signal, Signals

_COMMIT = "3ee7ec3411160fea5f3ac32377e53137e9119824"
_INSTALL = f'pip install --no-deps kornia kornia_rs "geocalib @ git+https://github.com/cvg/GeoCalib@{_COMMIT}"'
_TOLERANCE_PX = 0.5


Variant = Literal["pinhole", "distorted"]


@dataclass(frozen=True, kw_only=True)
class GeoCalibSettings:
    """Inputs of the network, and selection of its predictions. Values without a source are chosen, not measured."""

    variant: Variant = "pinhole"
    """Which weights: "distorted" also estimates k1 (upstream's camera model "simple_radial"). The constructor sets
    it."""
    frames: int = 12
    """Largest number of frames, evenly spaced."""
    batch: int = 8
    """Pictures per call on a GPU; halved while memory runs out."""
    short_side_px: int = 640
    """Pictures are reduced to this short side: twice upstream's working size (320), so that it loses nothing."""
    max_roll_rad: float = float(np.deg2rad(45.0))
    """With more roll, the picture is also rotated by 90°, 180° and 270°, and the result with the smallest variance of
    roll and pitch is used: upstream was trained on roll within ± 45°."""
    max_focal_log_std: float = 0.25
    """Largest standard deviation of the frames' ln focal length: beyond it they do not show one camera."""
    tilt: TiltSettings = field(default_factory=TiltSettings)
    """Which predictions are used, and their σ."""


@dataclass(frozen=True, kw_only=True)
class View:
    """A picture to calibrate."""

    rgb: Picture
    focal_px: float | None = None
    """Focal length if the camera is known; the picture is undistorted then."""


class GeoCalibExpert(ModelExpert):
    """Expert "geocalib": provides "gravity" and "calibration"."""

    name: ClassVar[str] = "geocalib"
    version: ClassVar[str] = "2"
    provides: ClassVar[frozenset[str]] = frozenset({"gravity", "calibration"})
    needs: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[frozenset[str]] = frozenset({"intrinsics"})
    variants: ClassVar[tuple[str, ...]] = ("pinhole", "distorted")
    unproven: ClassVar[tuple[str, ...]] = (
        *ModelExpert.unproven,
        "whether torch reads the published .tar with weights_only=True; if not, it is refused",
    )
    packages: ClassVar[tuple[Package, ...]] = (
        Package(module="torch", install="pip install torch torchvision", licence="BSD-3-Clause"),
        Package(module="kornia", install=_INSTALL, licence="Apache-2.0"),
        Package(module="geocalib", install=_INSTALL, licence="Apache-2.0"),
    )

    def __init__(self, settings: GeoCalibSettings | None = None, variant: Variant | None = None) -> None:
        settings = settings or GeoCalibSettings()
        self.settings = replace(settings, variant=variant or settings.variant)
        self.weight_names = (f"geocalib-{self.settings.variant}",)

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> GeoCalibModel:
        """See `ModelExpert.build`; the precision is upstream's own, float32."""
        (name,) = self.weight_names
        checkpoint = None if files is None else files[name] / WEIGHTS[name].files[0].name
        return GeoCalibModel(checkpoint, placement.device, distorted=self.settings.variant == "distorted")

    @property
    def batch_size(self) -> int:
        """See `experts.runtime.per_image.PerImageExpert`."""
        return self.settings.batch

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"gravity": Gravity, "calibration": Calibration}`; either may be `NoEstimate`."""
        return call_one(cast(PerImageExpert, self), clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[int, View]]:
        """(frame index, picture) of at most `settings.frames` frames, reduced, and undistorted if the camera is
        known."""
        at = np.linspace(0, len(clip.frames) - 1, min(self.settings.frames, len(clip.frames)))
        known = clip.options.intrinsics
        camera = None if known is None else known.scaled(clip.width_px, clip.height_px)
        for frame, rgb in clip.read([int(f) for f in clip.frames[np.unique(at.round().astype(int))]]):
            small = _reduced(rgb, self.settings.short_side_px)
            yield frame, View(rgb=small) if camera is None else _ideal(small, camera)

    def infer(self, pictures: Sequence[View]) -> list[Tilt]:
        """Upstream's prediction for each picture; where the camera seems to lie on its side, that of the best of four
        rotations."""
        tilts = self._tilts(pictures)
        for i, view in enumerate(pictures):
            if abs(tilts[i].roll_pitch_rad[0]) > self.settings.max_roll_rad:
                tilts[i] = min([tilts[i], *self._rotated(view)], key=self._rank)
        return tilts

    def _tilts(self, views: Sequence[View]) -> list[Tilt]:
        """Pictures with and without a known focal length in separate batches, as upstream treats a batch alike."""
        found: dict[int, Tilt] = {}
        if free := [row for row, view in enumerate(views) if view.focal_px is None]:
            found.update(zip(free, self.model.calibrated([views[row].rgb for row in free], None), strict=True))
        if known := {row: view.focal_px for row, view in enumerate(views) if view.focal_px is not None}:
            tilts = self.model.calibrated([views[row].rgb for row in known], list(known.values()))
            found.update(zip(known, tilts, strict=True))
        return [found[row] for row in range(len(views))]

    def _rotated(self, view: View) -> list[Tilt]:
        """Tilts from the picture rotated by 90°, 180° and 270°. In batches of one, so that the result does not depend
        on the other pictures."""
        focal_px = None if view.focal_px is None else [view.focal_px]
        rotated = {k: np.ascontiguousarray(np.rot90(view.rgb, k)) for k in (1, 2, 3)}
        return [self.model.calibrated([rgb], focal_px)[0].before_rot90(k) for k, rgb in rotated.items()]

    def _rank(self, tilt: Tilt) -> tuple[bool, float]:
        """Sorts the rotations of one picture: usable ones first, then by the variance of roll and pitch."""
        variance = float(np.trace(tilt.covariance[:2, :2]))
        return refusal_reason(tilt, self.settings.tilt) is not None, variance if np.isfinite(variance) else np.inf

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[int, Tilt]) -> Mapping[str, Signal | NoEstimate]:
        """Signals from the usable frames."""
        reasons = {frame: refusal_reason(tilt, self.settings.tilt) for frame, tilt in raw.items()}
        usable = {frame: tilt for frame, tilt in sorted(raw.items()) if reasons[frame] is None}
        if not usable:
            return dict.fromkeys(("gravity", "calibration"), _no_estimate(reasons.values()))
        return {"gravity": self._gravity(usable), "calibration": self._calibration(clip, list(usable.values()))}

    def _gravity(self, tilts: Mapping[int, Tilt]) -> Gravity:
        up = np.stack([tilt.up_cam for tilt in tilts.values()])
        return Gravity(
            frames=np.array(list(tilts), dtype=np.int64),
            up_cam=up / np.linalg.norm(up, axis=1, keepdims=True),
            sigma_rad=np.array([up_sigma_rad(tilt, self.settings.tilt) for tilt in tilts.values()]),
            decided_by=self.name,
            provenance=self.provenance(sigma_is_raw=True),
        )

    def _calibration(self, clip: Clip, tilts: Sequence[Tilt]) -> Calibration | NoEstimate:
        if clip.options.intrinsics is not None:
            return NoEstimate(reason="the user provides the camera")
        focal_px, each_px, sigma = pooled_focal(tilts, clip.height_px, self.settings.tilt)
        if float(np.log(each_px).std()) > self.settings.max_focal_log_std:
            detail = f"{each_px.min():.0f} to {each_px.max():.0f} px"
            return NoEstimate(reason="frames disagree on the focal length", detail=detail, remedy="give --intrinsics")
        k1 = [tilt.our_k1 for tilt in tilts]
        if None in k1:
            detail = f"upstream's k1 {np.median([tilt.k1 for tilt in tilts]):.2f}"
            return NoEstimate(reason="one radial term does not describe the lens", detail=detail)
        centred = Intrinsics.centred(clip.width_px, clip.height_px, focal_px)
        return Calibration(
            intrinsics=replace(centred, k1=float(np.median(np.array(k1, dtype=float)))),
            focal_relative_sigma=sigma,
            provenance=self.provenance(sigma_is_raw=True),
        )


def _no_estimate(reasons: Iterable[str | None]) -> NoEstimate:
    """The most frequent reason; the detail counts all of them."""
    counts = Counter(reason for reason in reasons if reason is not None)
    if not counts:
        return NoEstimate(reason="no frames")
    detail = ", ".join(f"{reason}: {count} frames" for reason, count in counts.most_common())
    return NoEstimate(reason=counts.most_common(1)[0][0], detail=detail)


def _reduced(rgb: Picture, short_side_px: int) -> np.ndarray:
    import cv2

    height, width = rgb.shape[:2]
    factor = short_side_px / min(height, width)
    if factor >= 1:
        return rgb
    size = round(width * factor), round(height * factor)
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _ideal(rgb: Picture, camera: Intrinsics) -> View:
    """Resamples the picture to upstream's camera model: no distortion, square pixels, principal point at the centre."""
    import cv2

    camera = camera.scaled(rgb.shape[1], rgb.shape[0])
    ideal = Intrinsics.centred(camera.width_px, camera.height_px, camera.fy_px)
    if camera.k1 or np.abs(camera.matrix - ideal.matrix).max() > _TOLERANCE_PX:
        radial = np.array([camera.k1, 0, 0, 0])  # OpenCV's first coefficient is ours
        rgb = np.asarray(cv2.undistort(rgb, camera.matrix, radial, None, ideal.matrix), dtype=np.uint8)
    return View(rgb=rgb, focal_px=camera.fy_px)
