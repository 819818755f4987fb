"""Up and field of view of single pictures by a network (GeoCalib, ECCV 2024; code Apache-2.0).

Upstream fits roll, pitch and focal length to two fields that its network draws. It is good at roll, fair at pitch,
weak at the field of view, and its σ is a ranking, no accuracy: what goes out is marked raw. It assumes a camera whose
axis meets the middle of the picture; a picture of a known camera that is not so is resampled first.
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
from experts.gravity.tilt import Tilt, TiltSettings, doubt, pooled_focal, up_sigma_rad
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
    """What is looked at. Where no source is named the value was chosen, not measured."""

    variant: Variant = "pinhole"
    """Which weights: distorted also estimates k1 (upstream's camera model "simple_radial"). The constructor sets it."""
    frames: int = 12
    """At most so many, spread evenly."""
    batch: int = 8
    """Pictures at once on a GPU; halved where memory runs out."""
    short_side_px: int = 640
    """Pictures are shrunk to this first: twice upstream's working size (320), so that nothing it uses is lost."""
    turned_rad: float = float(np.deg2rad(45.0))
    """With more roll the picture's other three quarter turns are tried, and the one with the least variance of roll and
    pitch is kept: upstream was trained on roll within ± 45°."""
    max_focal_spread: float = 0.25
    """Frames whose log focal lengths have a larger standard deviation do not show one camera."""
    tilt: TiltSettings = field(default_factory=TiltSettings)
    """When to believe a picture, and how far."""


@dataclass(frozen=True, kw_only=True)
class View:
    """A picture to calibrate."""

    rgb: Picture
    focal_px: float | None = None
    """Its focal length, where the camera is known; it shows no distortion then."""


class GeoCalibExpert(ModelExpert):
    """Expert "geocalib": provides "gravity" and "calibration"."""

    name: ClassVar[str] = "geocalib"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"gravity", "calibration"})
    needs: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[frozenset[str]] = frozenset({"intrinsics"})
    variants: ClassVar[tuple[str, ...]] = ("pinhole", "distorted")
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
        """`{"gravity": Gravity, "calibration": Calibration}`; either may abstain."""
        return call_one(cast(PerImageExpert, self), clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[int, View]]:
        """(frame index, picture) of at most `settings.frames` frames, shrunk, and freed of a known distortion."""
        at = np.linspace(0, len(clip.frames) - 1, min(self.settings.frames, len(clip.frames)))
        known = clip.options.intrinsics
        camera = None if known is None else known.scaled(clip.width_px, clip.height_px)
        for frame, rgb in clip.read([int(f) for f in clip.frames[np.unique(at.round().astype(int))]]):
            small = _shrunk(rgb, self.settings.short_side_px)
            yield frame, View(rgb=small) if camera is None else _ideal(small, camera)

    def infer(self, pictures: Sequence[View]) -> list[Tilt]:
        """What upstream says of each picture; where it seems to lie on its side, of its best quarter turn."""
        tilts = self._tilts(pictures)
        for i, view in enumerate(pictures):
            if abs(tilts[i].roll_pitch_rad[0]) > self.settings.turned_rad:
                tilts[i] = min([tilts[i], *self._turned(view)], key=self._disorder)
        return tilts

    def _tilts(self, views: Sequence[View]) -> list[Tilt]:
        """Those of known cameras apart: upstream fits all of a batch alike."""
        found: dict[int, Tilt] = {}
        if free := [row for row, view in enumerate(views) if view.focal_px is None]:
            found.update(zip(free, self.model.calibrated([views[row].rgb for row in free], None), strict=True))
        if given := {row: view.focal_px for row, view in enumerate(views) if view.focal_px is not None}:
            tilts = self.model.calibrated([views[row].rgb for row in given], list(given.values()))
            found.update(zip(given, tilts, strict=True))
        return [found[row] for row in range(len(views))]

    def _turned(self, view: View) -> list[Tilt]:
        """Of the other three turns. One by one, so that no picture's result depends on who else lies on the side."""
        focal_px = None if view.focal_px is None else [view.focal_px]
        turned = {turns: np.ascontiguousarray(np.rot90(view.rgb, turns)) for turns in (1, 2, 3)}
        return [self.model.calibrated([rgb], focal_px)[0].turned_back(turns) for turns, rgb in turned.items()]

    def _disorder(self, tilt: Tilt) -> tuple[bool, float]:
        """Sorts the turns of one picture: believable ones first, then by the variance of roll and pitch."""
        variance = float(np.trace(tilt.covariance[:2, :2]))
        return doubt(tilt, self.settings.tilt) is not None, variance if np.isfinite(variance) else np.inf

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[int, Tilt]) -> Mapping[str, Signal | NoEstimate]:
        """Signals from the frames that can be believed."""
        doubts = {frame: doubt(tilt, self.settings.tilt) for frame, tilt in raw.items()}
        believed = {frame: tilt for frame, tilt in sorted(raw.items()) if doubts[frame] is None}
        if not believed:
            refused = _refused(doubts.values())
            return {"gravity": refused, "calibration": refused}
        return {"gravity": self._gravity(believed), "calibration": self._calibration(clip, list(believed.values()))}

    def _gravity(self, believed: Mapping[int, Tilt]) -> Gravity:
        up = np.stack([tilt.up_cam for tilt in believed.values()])
        return Gravity(
            frames=np.array(list(believed), dtype=np.int64),
            up_cam=up / np.linalg.norm(up, axis=1, keepdims=True),
            sigma_rad=np.array([up_sigma_rad(tilt, self.settings.tilt) for tilt in believed.values()]),
            decided_by=self.name,
            provenance=self.provenance(sigma_is_raw=True),
        )

    def _calibration(self, clip: Clip, tilts: Sequence[Tilt]) -> Calibration | NoEstimate:
        if clip.options.intrinsics is not None:
            return NoEstimate(reason="the camera is given")
        focal_px, each_px, sigma = pooled_focal(tilts, clip.height_px, self.settings.tilt)
        spread = float(np.log(each_px).std())
        if spread > self.settings.max_focal_spread:
            detail = f"{each_px.min():.0f} to {each_px.max():.0f} px"
            return NoEstimate(reason="frames disagree on the focal length", detail=detail, remedy="give --intrinsics")
        k1 = [tilt.our_k1 for tilt in tilts]
        if None in k1:
            detail = f"upstream's k1 {np.median([tilt.k1 for tilt in tilts]):.2f}"
            return NoEstimate(reason="the lens bends more than one radial term can say", detail=detail)
        centred = Intrinsics.centred(clip.width_px, clip.height_px, focal_px)
        return Calibration(
            intrinsics=replace(centred, k1=float(np.median(np.array(k1, dtype=float)))),
            focal_relative_sigma=sigma,
            provenance=self.provenance(sigma_is_raw=True),
        )


def _refused(doubts: Iterable[str | None]) -> NoEstimate:
    """One reason for the clip: the most frequent; all of them as detail."""
    counts = Counter(why for why in doubts if why is not None)
    if not counts:
        return NoEstimate(reason="no frames")
    detail = ", ".join(f"{why}: {count} frames" for why, count in counts.most_common())
    return NoEstimate(reason=counts.most_common(1)[0][0], detail=detail)


def _shrunk(rgb: Picture, short_side_px: int) -> np.ndarray:
    import cv2

    height, width = rgb.shape[:2]
    factor = short_side_px / min(height, width)
    if factor >= 1:
        return rgb
    size = round(width * factor), round(height * factor)
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _ideal(rgb: Picture, camera: Intrinsics) -> View:
    """The picture as upstream's camera would have taken it: no distortion, square pixels, axis through the middle."""
    import cv2

    camera = camera.scaled(rgb.shape[1], rgb.shape[0])
    ideal = Intrinsics.centred(camera.width_px, camera.height_px, camera.fy_px)
    if camera.k1 or np.abs(camera.matrix - ideal.matrix).max() > _TOLERANCE_PX:
        radial = np.array([camera.k1, 0, 0, 0])  # OpenCV's first coefficient is ours
        rgb = np.asarray(cv2.undistort(rgb, camera.matrix, radial, None, ideal.matrix), dtype=np.uint8)
    return View(rgb=rgb, focal_px=camera.fy_px)
