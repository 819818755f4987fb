"""GeoCalib's own network and optimiser on batches of pictures. Torch and upstream are imported when it is made."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experts.checkpoints.weights import load_state
from experts.clip import Picture
from experts.expert import SetupProblem
from experts.gravity.tilt import Tilt

_SEED = 0


class GeoCalibModel:
    """Upstream's class does one picture a call, or several that share their tilt's camera; its parts do batches."""

    def __init__(self, checkpoint: Path | None, device: str, *, distorted: bool) -> None:
        """Loads; None: random weights. float32 throughout: the optimiser needs it. Raises `SetupProblem`."""
        import logging

        from geocalib import GeoCalib

        logging.getLogger("geocalib").setLevel(logging.ERROR)  # non-convergence is told picture by picture
        self.device, self.distorted = device, distorted
        with tempfile.TemporaryDirectory() as folder:
            path = _random_weights(Path(folder)) if checkpoint is None else _checked(checkpoint)
            self.upstream = GeoCalib(weights=str(path)).to(device).eval()
        _draw_alike(self.upstream.model)

    def calibrated(self, pictures: Sequence[Picture], focal_px: Sequence[float] | None) -> list[Tilt]:
        """Pictures of one size, their focal lengths (pixels of these pictures) if all are known."""
        import torch

        network, optimizer = self.upstream.model, self.upstream.model.optimizer
        # With a focal length to keep, upstream's optimiser takes k1 for roll: such a picture comes without distortion.
        radial = self.distorted and focal_px is None
        optimizer.set_camera_model("simple_radial" if radial else "pinhole")
        optimizer.shared_intrinsics = False
        optimizer.conf.early_stop = len(pictures) == 1  # a batch would stop as one: results would depend on company
        pixels = torch.from_numpy(np.stack(pictures)).to(self.device)
        with torch.no_grad():
            data = self.upstream.image_processor(pixels.permute(0, 3, 1, 2).float() / 255)
            if focal_px is not None:
                data["prior_focal"] = torch.tensor(focal_px).to(data["image"]) * data["scales"][1]
            try:
                out = network(data)
                moved_rad = _one_step_more(optimizer, out)
            except torch.linalg.LinAlgError:  # fields without any slope leave nothing to invert
                if len(pictures) > 1:
                    each = [None] * len(pictures) if focal_px is None else [[known] for known in focal_px]
                    return [self.calibrated([p], known)[0] for p, known in zip(pictures, each, strict=True)]
                return [_nothing(pictures[0])]
            fitted_px = out["camera"].undo_scale_crop(data).f[:, 1]
            sure = (out["up_confidence"].flatten(1).mean(1) + out["latitude_confidence"].flatten(1).mean(1)) / 2
        return [
            Tilt(
                up_cam=_double(out["gravity"].vec3d[i]),
                width_px=picture.shape[1],
                height_px=picture.shape[0],
                focal_px=float(fitted_px[i]),
                k1=float(out["camera"].k1[i]) if radial else 0.0,
                covariance=_double(out["covariance"][i]),
                scale=float(data["scales"][1]),
                focal_given=focal_px is not None,
                confidence=float(sure[i]),
                moved_rad=float(moved_rad[i]),
            )
            for i, picture in enumerate(pictures)
        ]


def _draw_alike(network: Any) -> None:
    """Upstream draws the start of a matrix factorisation by chance, at every call and for every place in the batch.
    Here each picture gets the same draw."""
    import torch

    for module in network.modules():
        if (draw := getattr(module, "_build_bases", None)) is None:
            continue

        def drawn_once(count: int, *args: Any, draw: Any = draw, **named: Any) -> Any:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(_SEED)
                return draw(1, *args, **named).repeat(count, 1, 1)

        module._build_bases = drawn_once


def _one_step_more(optimizer: Any, out: Mapping[str, Any]) -> Any:
    """How far each picture is from convergence, in radians. Upstream says only when the last of a batch stopped, by
    equality of costs in float32."""
    import torch

    fields = {name: out[name] for name in ("up_field", "latitude_field", "up_confidence", "latitude_confidence")}
    steps, optimizer.num_steps = optimizer.num_steps, 1
    try:
        camera, gravity, _ = optimizer.optimize(fields, out["camera"], out["gravity"])
    finally:
        optimizer.num_steps = steps
    turned = (gravity.vec3d - out["gravity"].vec3d).norm(dim=-1)
    return torch.maximum(turned, (camera.f[:, 1] / out["camera"].f[:, 1]).log().abs())


def _nothing(picture: Picture) -> Tilt:
    nan, (height, width) = float("nan"), picture.shape[:2]
    return Tilt(
        up_cam=np.full(3, nan), width_px=width, height_px=height, focal_px=nan, k1=nan, covariance=np.full((3, 3), nan),
        scale=nan, focal_given=False, confidence=nan, moved_rad=nan,
    )  # fmt: skip


def _checked(checkpoint: Path) -> Path:
    """The checkpoint, once it is known to hold arrays only: upstream reads it as the torch at hand does by default."""
    state = load_state(checkpoint)
    if not isinstance(state, Mapping) or not isinstance(state.get("model"), Mapping):
        raise SetupProblem(f"{checkpoint} holds no weights of GeoCalib", "it is not loaded: use another file")
    return checkpoint


def _random_weights(folder: Path) -> Path:
    """A checkpoint drawn by chance: upstream's class reads nothing else."""
    import torch
    from geocalib.geocalib import GeoCalib as Network

    torch.save({"model": Network().state_dict()}, folder / "random.tar")
    return folder / "random.tar"


def _double(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)
