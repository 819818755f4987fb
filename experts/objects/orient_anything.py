"""Facing direction of objects, by a network on crops (Orient Anything V1; V2 in a worker process; both CC BY 4.0).

V1 also predicts whether an object has a front, V2 how many. Their distributions are wide by design, and no accuracy per
angle is published: σ is raw. Both need one whole object and ignore its surroundings.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
from jaxtyping import Float32, Float64, Int64

import experts.runtime.workers.orient_anything_v2 as worker_script
from experts.checkpoints.weights import WEIGHTS
from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from experts.objects.front_agreement import FrontSettings, front_outliers, rotations_of
from experts.objects.joined_fronts import joined
from experts.objects.object_angles import AngleSettings, ObjectAngles, angles_from_logits, look_along
from experts.objects.object_crops import CropSettings, ObjectView, Square, crops, object_views
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package
from experts.runtime.per_image import PerImageExpert, call_one
from experts.runtime.transfer import sent
from experts.runtime.worker import Environment, Worker, environment
from experts.signals import CameraPath, NoEstimate, ObjectOrientation, Objects, Signal, Signals

Variant = Literal["v1", "v2"]
Logits = Float32[np.ndarray, "d"]

_V2 = "orient_anything_v2"
_V2_COMMIT = "73b11c9dc83e84daeb563d0c766831f2c66b0a18"
_V2_CHECKOUT = (
    f"git clone https://github.com/SpatialVision/Orient-Anything-V2 && git -C Orient-Anything-V2 checkout {_V2_COMMIT}"
)
_V2_PACKAGES = "pip install torch numpy einops huggingface_hub"
_RANDOM_OUTPUTS = 902
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, as in DINOv2's processor


@dataclass(frozen=True, kw_only=True)
class OrientAnythingSettings:
    """Which crops are used, and when a prediction is used."""

    variant: Variant = "v1"
    """v1 runs in this process; v2 in another one, from a checkout of its code. The constructor sets it."""
    size: Literal["small", "base", "large"] = "large"
    """Size of V1's network with random weights; a checkpoint has its own."""
    batch: int = 16
    """Crops per batch on a GPU; halved when memory runs out."""
    timeout_s: float = 300.0
    """V2: time limit of a batch."""
    crops: CropSettings = field(default_factory=CropSettings)
    """Selection of views."""
    angles: AngleSettings = field(default_factory=AngleSettings)
    """Thresholds and smallest σ."""
    agreement: FrontSettings = field(default_factory=FrontSettings)
    """When views confirm a front."""


class OrientAnythingExpert(ModelExpert):
    """Expert "orient_anything": provides "object_orientation" for the objects of another expert."""

    name: ClassVar[str] = "orient_anything"
    version: ClassVar[str] = "4"
    provides: ClassVar[frozenset[str]] = frozenset({"object_orientation"})
    needs: ClassVar[frozenset[str]] = frozenset({"objects"})
    may_use: ClassVar[frozenset[str]] = frozenset({"camera_path"})
    options: ClassVar[frozenset[str]] = frozenset({"intrinsics"})
    variants: ClassVar[tuple[str, ...]] = ("v1", "v2")
    code_licence: ClassVar[str] = "CC-BY-4.0"
    packages: ClassVar[tuple[Package, ...]] = (
        Package(module="torch", install="pip install torch", licence="BSD-3-Clause"),
        Package(module="transformers", install="pip install transformers", licence="Apache-2.0"),
    )

    def __init__(self, settings: OrientAnythingSettings | None = None, variant: Variant | None = None) -> None:
        settings = settings or OrientAnythingSettings()
        self.settings = replace(settings, variant=variant or settings.variant)
        self.weight_names = (f"orient-anything-{self.settings.variant}",)
        self._where: dict[str, Any] = {}

    def environment(self) -> Environment | None:
        """Interpreter (this one, unless another is set) and checkout of V2. Raises `SetupProblem`."""
        if self.settings.variant == "v1":
            return None
        return environment(_V2, packages=_V2_PACKAGES, checkout=_V2_CHECKOUT, python=sys.executable)

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> Any:
        """V1: the network. V2: the worker, loaded."""
        (name,) = self.weight_names
        checkpoint = None if files is None else files[name] / WEIGHTS[name].files[0].name
        if self.settings.variant == "v2":
            return self._worker(checkpoint, placement)
        from experts.objects.dinov2_orientation import WIDTHS, load_network, make_network

        if checkpoint is None:
            return make_network(WIDTHS[self.settings.size], _RANDOM_OUTPUTS).to(placement.device)
        return load_network(checkpoint).to(placement.device)

    def _worker(self, checkpoint: Path | None, placement: Placement) -> Worker:
        other = self.environment()
        assert other is not None
        script, variable = Path(worker_script.__file__), f"SPATIAL_ENGINE_PYTHON_{_V2.upper()}"
        worker = Worker(other.python, script, self.settings.timeout_s, variable=variable)
        self._where = {
            "upstream": str(other.upstream),
            "weights": None if checkpoint is None else str(checkpoint),
            "device": placement.device,
            "dtype": placement.dtype,
            "seed": 0,
        }
        worker.load(self._where)
        return worker

    def close(self) -> None:
        """See `ModelExpert.close`."""
        if self.settings.variant == "v2" and self.model is not None:
            self.model.close()
        super().close()

    @property
    def batch_size(self) -> int:
        """See `experts.runtime.per_image.PerImageExpert`."""
        return self.settings.batch

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"object_orientation": ObjectOrientation}`; `NoEstimate` without objects that are whole and large enough."""
        return call_one(cast(PerImageExpert, self), clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[ObjectView, Picture]]:
        """(view, crop at the model's size); empty if there are no objects.

        As in upstream's demos: V1 on black at 256, cropped to the central 224; V2 on white at 518.
        """
        objects = signals["objects"]
        if not isinstance(objects, Objects):
            return
        first = self.settings.variant == "v1"
        chosen = object_views(clip, objects, self.settings.crops)
        for view, square in crops(clip, objects, chosen, self.settings.crops, background=0 if first else 255):
            yield view, _resized(square, 256)[16:240, 16:240] if first else _resized(square, 518)

    def infer(self, pictures: Sequence[Picture]) -> list[Logits]:
        """The head's outputs for each crop."""
        if self.settings.variant == "v2":
            _, arrays = self.model.call(self._where, {"pictures": np.stack(pictures)})
            return list(arrays["logits"])
        import torch

        kind, dtype = self.placement.device.partition(":")[0], self.placement.torch_dtype
        pixels = sent(np.stack(pictures), self.placement.device).on_device().float() / 255
        normal = (pixels - pixels.new_tensor(_MEAN)) / pixels.new_tensor(_STD)
        with torch.no_grad(), torch.autocast(kind, dtype=dtype, enabled=dtype != torch.float32):
            logits = self.model(normal.permute(0, 3, 1, 2))
        return list(logits.float().cpu().numpy())

    def finish(
        self, clip: Clip, signals: Signals, raw: Mapping[ObjectView, Logits]
    ) -> Mapping[str, Signal | NoEstimate]:
        """The signal, or why there is none."""
        return {"object_orientation": self._orientation(clip, signals, raw)}

    def _orientation(
        self, clip: Clip, signals: Signals, raw: Mapping[ObjectView, Logits]
    ) -> ObjectOrientation | NoEstimate:
        objects = signals["objects"]
        if not isinstance(objects, Objects):
            return NoEstimate(reason="no objects", detail=getattr(objects, "reason", ""))
        if not raw:
            detail = f"{len(objects.labels)} objects in {len(objects.frames)} frames"
            return NoEstimate(reason="no object is visible whole and large enough", detail=detail)
        angles = {view: angles_from_logits(logits, self.settings.angles) for view, logits in raw.items()}
        if all(own.fronts == -1 for own in angles.values()):
            return NoEstimate(reason="front is unknown for every object", detail=f"{len(raw)} views")
        return self._signal(clip, signals, objects, angles)

    def _signal(
        self, clip: Clip, signals: Signals, objects: Objects, angles: Mapping[ObjectView, ObjectAngles]
    ) -> ObjectOrientation:
        camera, path = _camera(clip, signals), signals.get("camera_path")
        frames = np.unique([view.frame for view in angles]).astype(np.int64)
        shape = len(frames), len(objects.labels)
        azimuth, polar, rotation = (np.full(shape, np.nan) for _ in range(3))
        sigma = np.full((*shape, 3), np.inf)
        cam_from_object, ray_cam = np.full((*shape, 3, 3), np.nan), np.full((*shape, 3), np.nan)
        fronts = np.full(shape, -1, dtype=np.int32)
        for view, own in angles.items():
            at = int(np.searchsorted(frames, view.frame)), view.item
            azimuth[at], polar[at], rotation[at] = own.azimuth_rad, own.polar_rad, own.rotation_rad
            sigma[at], fronts[at] = own.sigma_rad, own.fronts
            if camera is not None:
                along = _seen_along(camera, view.middle_px(clip, objects))
                cam_from_object[at], ray_cam[at] = along @ own.rotation, along[:, 2]
        seen = ObjectOrientation(
            frames=frames,
            azimuth_rad=azimuth,
            polar_rad=polar,
            rotation_rad=rotation,
            sigma_rad=sigma,
            cam_from_object=cam_from_object,
            fronts=fronts,
            provenance=self.provenance(sigma_is_raw=True),
            outlier_probability=self._outliers(frames, path, cam_from_object, ray_cam, sigma[..., 0]),
        )
        return joined(clip, objects, path, seen, self.settings.agreement) if isinstance(path, CameraPath) else seen

    def _outliers(
        self,
        frames: Int64[np.ndarray, "n"],
        path: Signal | NoEstimate | None,
        cam_from_object: Float64[np.ndarray, "n k 3 3"],
        ray_cam: Float64[np.ndarray, "n k 3"],
        sigma_rad: Float64[np.ndarray, "n k"],
    ) -> Float64[np.ndarray, "n k"]:
        """By agreement between views; without a camera path, none is confirmed."""
        if not isinstance(path, CameraPath):
            return np.full(sigma_rad.shape, self.settings.agreement.unconfirmed)
        world_from_cam = rotations_of(path, frames)
        front, ray = (np.einsum("nij,nkj->nki", world_from_cam, each) for each in (cam_from_object[..., 0], ray_cam))
        return front_outliers(front, ray, sigma_rad, self.settings.agreement)


def _camera(clip: Clip, signals: Signals) -> Intrinsics | None:
    """The camera of the path, or the user's. None: rays are unknown, and so are rotations in camera axes."""
    path = signals.get("camera_path")
    if isinstance(path, CameraPath):
        return path.intrinsics
    user = clip.options.intrinsics
    return None if user is None else user.scaled(clip.width_px, clip.height_px)


def _seen_along(camera: Intrinsics, xy_px: Float64[np.ndarray, "2"]) -> Float64[np.ndarray, "3 3"]:
    return look_along(camera.rays(xy_px))


def _resized(square: Square, side_px: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.fromarray(square).resize((side_px, side_px), Image.Resampling.BICUBIC), dtype=np.uint8)
