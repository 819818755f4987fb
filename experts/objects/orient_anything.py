"""Which way objects face, by a network on crops (Orient Anything V1; V2 in a worker process; both CC BY 4.0).

V1 also says whether an object has a front at all, V2 how many. Their distributions are wide by design, and no accuracy
per angle is published: σ goes out raw. Both want one whole object, and know nothing of what is around it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
from jaxtyping import Float32, Float64

import experts.runtime.workers.orient_anything_v2 as v2_child
from experts.checkpoints.weights import WEIGHTS
from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from experts.objects.object_angles import AngleSettings, ObjectAngles, angles_from_logits, look_along
from experts.objects.object_crops import CropSettings, Sighting, Square, crops, sightings
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package
from experts.runtime.per_image import PerImageExpert, call_one
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
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, as DINOv2's processor has it


@dataclass(frozen=True, kw_only=True)
class OrientAnythingSettings:
    """What is looked at, and when to believe it."""

    variant: Variant = "v1"
    """v1 runs here; v2 in another process, from a checkout of its code. The constructor sets it."""
    size: Literal["small", "base", "large"] = "large"
    """Of V1's network with random weights; a checkpoint brings its own."""
    batch: int = 16
    """Crops at once on a GPU; halved where memory runs out."""
    timeout_s: float = 300.0
    """V2: no answer to a batch within this counts as a hang."""
    crops: CropSettings = field(default_factory=CropSettings)
    """Which views."""
    angles: AngleSettings = field(default_factory=AngleSettings)
    """Gates and floor."""


class OrientAnythingExpert(ModelExpert):
    """Expert "orient_anything": provides "object_orientation" for the objects that somebody else found."""

    name: ClassVar[str] = "orient_anything"
    version: ClassVar[str] = "1"
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
        """Interpreter (this one, unless another is named) and checkout of V2. Raises `SetupProblem`."""
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
        script, variable = Path(v2_child.__file__), f"SPATIAL_ENGINE_PYTHON_{_V2.upper()}"
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
        """`{"object_orientation": ObjectOrientation}`; abstains without objects that are seen whole and large."""
        return call_one(cast(PerImageExpert, self), clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[Sighting, Picture]]:
        """(what is seen, crop at the model's size); nothing where there are no objects.

        As upstream's demos have it: V1 on black at 256, of which the middle 224 are kept, V2 on white at 518.
        """
        objects = signals["objects"]
        if not isinstance(objects, Objects):
            return
        first = self.settings.variant == "v1"
        chosen = sightings(clip, objects, self.settings.crops)
        for sighting, square in crops(clip, objects, chosen, self.settings.crops, background=0 if first else 255):
            yield sighting, _resized(square, 256)[16:240, 16:240] if first else _resized(square, 518)

    def infer(self, pictures: Sequence[Picture]) -> list[Logits]:
        """The head's outputs for each crop."""
        if self.settings.variant == "v2":
            _, arrays = self.model.call(self._where, {"pictures": np.stack(pictures)})
            return list(arrays["logits"])
        import torch

        kind, dtype = self.placement.device.partition(":")[0], self.placement.torch_dtype
        pixels = torch.from_numpy(np.stack(pictures)).to(self.placement.device).float() / 255
        normal = (pixels - pixels.new_tensor(_MEAN)) / pixels.new_tensor(_STD)
        with torch.no_grad(), torch.autocast(kind, dtype=dtype, enabled=dtype != torch.float32):
            logits = self.model(normal.permute(0, 3, 1, 2))
        return list(logits.float().cpu().numpy())

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[Sighting, Logits]) -> Mapping[str, Signal | NoEstimate]:
        """The signal, or why there is none."""
        return {"object_orientation": self._orientation(clip, signals, raw)}

    def _orientation(
        self, clip: Clip, signals: Signals, raw: Mapping[Sighting, Logits]
    ) -> ObjectOrientation | NoEstimate:
        objects = signals["objects"]
        if not isinstance(objects, Objects):
            return NoEstimate(reason="no objects", detail=getattr(objects, "reason", ""))
        if not raw:
            detail = f"{len(objects.labels)} objects in {len(objects.frames)} frames"
            return NoEstimate(reason="no object is seen whole and large enough", detail=detail)
        angles = {sighting: angles_from_logits(logits, self.settings.angles) for sighting, logits in raw.items()}
        if all(own.fronts == -1 for own in angles.values()):
            return NoEstimate(reason="no object's front is decided", detail=f"{len(raw)} views")
        return self._signal(clip, objects, angles, _camera(clip, signals))

    def _signal(
        self, clip: Clip, objects: Objects, angles: Mapping[Sighting, ObjectAngles], camera: Intrinsics | None
    ) -> ObjectOrientation:
        frames = np.unique([sighting.frame for sighting in angles]).astype(np.int64)
        shape = len(frames), len(objects.labels)
        azimuth, polar, rotation = (np.full(shape, np.nan) for _ in range(3))
        sigma = np.full((*shape, 3), np.inf)
        turned = np.full((*shape, 3, 3), np.nan)
        fronts = np.full(shape, -1, dtype=np.int32)
        for sighting, own in angles.items():
            at = int(np.searchsorted(frames, sighting.frame)), sighting.thing
            azimuth[at], polar[at], rotation[at] = own.azimuth_rad, own.polar_rad, own.rotation_rad
            sigma[at], fronts[at] = own.sigma_rad, own.fronts
            if camera is not None:
                turned[at] = _seen_along(camera, sighting.middle_px(clip, objects)) @ own.rotation
        return ObjectOrientation(
            frames=frames,
            azimuth_rad=azimuth,
            polar_rad=polar,
            rotation_rad=rotation,
            sigma_rad=sigma,
            cam_from_object=turned,
            fronts=fronts,
            provenance=self.provenance(sigma_is_raw=True),
        )


def _camera(clip: Clip, signals: Signals) -> Intrinsics | None:
    """The path's camera, or the user's; None: rays are not known, and rotations in camera axes neither."""
    path = signals.get("camera_path")
    if isinstance(path, CameraPath):
        return path.intrinsics
    given = clip.options.intrinsics
    return None if given is None else given.scaled(clip.width_px, clip.height_px)


def _seen_along(camera: Intrinsics, xy_px: Float64[np.ndarray, "2"]) -> Float64[np.ndarray, "3 3"]:
    return look_along(camera.rays(xy_px))


def _resized(square: Square, side_px: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.fromarray(square).resize((side_px, side_px), Image.Resampling.BICUBIC), dtype=np.uint8)
