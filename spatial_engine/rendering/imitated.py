"""Signals of a rendered scene as experts would give them: true ones with the errors of networks, and the real code.

A detector, a segmenter, depth and fronts with errors of known size go through the experts "open_vocabulary" and
"orient_anything": their selection, following, box fitting, angles and σ are the real ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, cast

import numpy as np
from jaxtyping import Float32, Float64, Int32
from scipy.ndimage import gaussian_filter

from experts.clip import Clip, Picture
from experts.objects.object_angles import angles_of, look_along
from experts.objects.object_crops import ObjectView, object_views
from experts.objects.open_vocabulary import OpenVocabularyExpert, OpenVocabularySettings
from experts.objects.orient_anything import OrientAnythingExpert, OrientAnythingSettings
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, NoEstimate, Objects, Scale, Signal, Signals
from spatial_engine.rendering.imitated_networks import DetectionErrors, ImitatedNetworks
from spatial_engine.rendering.objects import OBJECT_FROM_FRONT
from spatial_engine.rendering.orientation_logits import ideal_logits
from spatial_engine.rendering.scene import RenderedScene
from spatial_engine.rendering.truth import true_signals

_V1_HEAD, _V2_HEAD = 902, 900
"""V1 knows no number of fronts; V2 does not recognise one front if it is stated with a σ of 10°."""


@dataclass(frozen=True, kw_only=True)
class ImitatedErrors:
    """Errors of the imitated experts. All σ are what the experts state, too."""

    detection: DetectionErrors = field(default_factory=lambda: DetectionErrors(missed=0.1, border_px=1.0, weaker=0.05))
    confused: float = 0.03
    """Share of the objects that the detector calls by another name in the whole clip. Its scores are calibrated: an
    object of score s is called by another name with probability 1 - s."""
    depth_smooth: float = 0.027
    """σ of a relative error of depth that changes over an eighth of the picture ..."""
    depth_pixel: float = 0.013
    """... and of one per pixel. Together: 3 %."""
    scale: float = 0.02
    """σ of the factor of all lengths."""
    front_rad: float = float(np.deg2rad(10.0))
    """σ of the azimuth."""
    tilt_rad: float = float(np.deg2rad(5.0))
    """σ of polar angle and rotation."""
    flipped: float = 0.05
    """Share of the views of an object in which its front is its back."""
    frames: int = 24
    """Largest number of frames with depth and objects."""
    seed: int = 0


def imitated_signals(
    scene: RenderedScene, clip: Clip, errors: ImitatedErrors | None = None
) -> dict[str, Signal | NoEstimate]:
    """`camera_path` and `gravity` of all frames, `depth`, `objects` and `object_orientation` of some.

    The world is the renderer's, but all lengths have one common error. The camera path has no other.
    """
    errors = errors or ImitatedErrors()
    rng = np.random.default_rng([errors.seed, scene.seed])
    frames = clip.frames[np.unique(np.linspace(0, len(clip.frames) - 1, errors.frames).round().astype(int))]
    truth = true_signals(scene, clip, frames.tolist())
    factor = float(np.exp(errors.scale * rng.normal()))
    metric = Scale(kind="metric", relative_sigma=errors.scale, source="imitated")
    path, depth = cast(CameraPath, truth["camera_path"]), cast(Depth, truth["depth"])
    world_from_cam = path.world_from_cam.copy()
    world_from_cam[:, :3, 3] *= factor
    wrong = noisy(depth, rng, errors.depth_smooth, errors.depth_pixel)
    source = Provenance(expert="imitated", version="1", settings=asdict(errors), seed=errors.seed)
    found: dict[str, Signal | NoEstimate] = {
        "camera_path": replace(path, world_from_cam=world_from_cam, scale=metric, provenance=source),
        "gravity": truth["gravity"],
        "depth": replace(wrong, z=wrong.z * np.float32(factor), scale=metric, provenance=source),
    }
    shown = cast(Objects, truth["objects"]).ids
    ids = dict(zip(depth.frames.tolist(), shown, strict=True))
    found |= ImitatedObjects(scene, ids, errors, rng)(clip, found)
    return found | dict(ImitatedFronts(scene, ids, errors, rng)(clip, found))


_Ids = Mapping[int, Int32[np.ndarray, "h w"]]
"""True objects of the pixels of each frame."""


class ImitatedObjects(OpenVocabularyExpert):
    """The expert "open_vocabulary" with networks that know the scene. Its pictures are made of object numbers."""

    name = "imitated_open_vocabulary"

    def __init__(self, scene: RenderedScene, ids: _Ids, errors: ImitatedErrors, rng: np.random.Generator) -> None:
        names = sorted({item.name for item in scene.objects})
        super().__init__(OpenVocabularySettings(labels=tuple(names), frames=errors.frames))
        self.ids, self.errors = ids, errors
        scores = _scores(rng, len(scene.objects), errors.confused)
        called = [
            item.name if rng.random() < score else str(rng.choice([name for name in names if name != item.name]))
            for item, score in zip(scene.objects, scores.tolist(), strict=True)
        ]
        imitated = ImitatedNetworks(
            ids_of=_numbers_in, names=called, scores=scores.tolist(), queried=names, errors=errors.detection, rng=rng
        )
        self.model = imitated.networks

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[int, Picture]]:
        """(frame index, picture of object numbers)."""
        for frame in self._frames(clip, signals).tolist():
            yield frame, _picture_of(self.ids[frame])

    def provenance(self, *, sigma_is_raw: bool = True) -> Provenance:
        """Of this imitation."""
        return _provenance(self.name, self.version, self.errors, sigma_is_raw)


class ImitatedFronts(OrientAnythingExpert):
    """The expert "orient_anything" with logits of the true angles and their errors."""

    name = "imitated_orient_anything"

    def __init__(self, scene: RenderedScene, ids: _Ids, errors: ImitatedErrors, rng: np.random.Generator) -> None:
        super().__init__(OrientAnythingSettings(variant="v2"))
        self.scene, self.ids, self.errors, self.rng = scene, ids, errors, rng

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"object_orientation": ObjectOrientation}`, as upstream's."""
        objects = signals["objects"]
        if not isinstance(objects, Objects):
            return self.finish(clip, signals, {})
        views = object_views(clip, objects, self.settings.crops)
        return self.finish(clip, signals, {view: self._logits(clip, objects, view) for view in views})

    def _logits(self, clip: Clip, objects: Objects, view: ObjectView) -> Float32[np.ndarray, "d"]:
        mask = objects.ids[int(np.searchsorted(objects.frames, view.frame))] == view.item
        shown = majority(self.ids[view.frame][mask])
        fronts = max(0, self.scene.objects[shown].fronts)
        pose = self.scene.world_from_objects(view.frame)[shown, :3, :3] @ OBJECT_FROM_FRONT
        in_cam = self.scene.world_from_cam[view.frame, :3, :3].T @ pose
        ray = self.scene.intrinsics.rays(view.middle_px(clip, objects))
        azimuth, polar, rotation = np.array(angles_of(look_along(ray).T @ in_cam)) + self.rng.normal(size=3) * [
            self.errors.front_rad,
            self.errors.tilt_rad,
            self.errors.tilt_rad,
        ]
        flip = np.pi if self.rng.random() < self.errors.flipped else 0.0
        return ideal_logits(
            _V1_HEAD if fronts == 1 else _V2_HEAD,
            azimuth + flip,
            polar,
            rotation,
            fronts=fronts,
            kappa=(max(1, fronts) * self.errors.front_rad) ** -2,
            tilt_kappa=self.errors.tilt_rad**-2,
        )

    def provenance(self, *, sigma_is_raw: bool = True) -> Provenance:
        """Of this imitation."""
        return _provenance(self.name, self.version, self.errors, sigma_is_raw)


def noisy(depth: Depth, rng: np.random.Generator, smooth: float, pixel: float) -> Depth:
    """Depth with relative errors: smooth ones over an eighth of the picture (half of their variance is common to all
    frames), and independent ones per pixel. σ equals the true σ, and is at least 0.5 %."""
    n, h, w = depth.z.shape
    fields = gaussian_filter(rng.normal(size=(n + 1, h, w)), (0, w / 8, w / 8), mode="reflect")
    fields /= max(float(fields.std()), 1e-12)
    wrong = smooth * np.sqrt(0.5) * (fields[:1] + fields[1:]) + pixel * rng.normal(size=depth.z.shape)
    sigma = max(float(np.hypot(smooth, pixel)), 0.005)
    return replace(
        depth,
        z=(depth.z * np.exp(wrong)).astype(np.float32),
        relative_sigma=np.full(depth.z.shape, sigma, dtype=np.float32),
    )


def majority(ids: Int32[np.ndarray, "p"]) -> int:
    """The object that most pixels show; -1 if none shows any."""
    shown = ids[ids >= 0]
    return int(np.bincount(shown).argmax()) if len(shown) else -1


def _scores(rng: np.random.Generator, count: int, confused: float) -> Float64[np.ndarray, "k"]:
    """Scores with a mean of 1 - `confused`, most of them near 1."""
    if not confused:
        return np.full(count, 0.99)
    return np.clip(1 - rng.beta(0.6, 0.6 / confused - 0.6, count), 0.4, 0.999)


def _picture_of(ids: Int32[np.ndarray, "h w"]) -> Picture:
    """A picture whose colours are object numbers."""
    number = ids + 1
    return np.stack([number % 256, number // 256, np.zeros_like(number)], axis=-1).astype(np.uint8)


def _numbers_in(picture: Picture) -> Int32[np.ndarray, "h w"]:
    return picture[..., 0].astype(np.int32) + 256 * picture[..., 1].astype(np.int32) - 1


def _provenance(name: str, version: str, errors: ImitatedErrors, sigma_is_raw: bool) -> Provenance:
    sigma: Literal["raw", "measured"] = "raw" if sigma_is_raw else "measured"
    return Provenance(expert=name, version=version, settings=asdict(errors), seed=errors.seed, sigma=sigma)
