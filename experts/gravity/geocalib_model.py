"""Runs GeoCalib's network and optimiser on batches of pictures. Torch and upstream are imported by the constructor."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experts.checkpoints.weights import load_state
from experts.clip import Picture
from experts.expert import SetupProblem
from experts.gravity.tilt import Tilt
from experts.runtime.transfer import sent

_SEED = 0


class GeoCalibModel:
    """Upstream's class calibrates one picture per call, or several of one camera. Its network and optimiser, which this
    class calls, process batches of independent pictures."""

    def __init__(self, checkpoint: Path | None, device: str, *, distorted: bool) -> None:
        """Loads a checkpoint; None: random weights. In float32, which the optimiser needs. Raises `SetupProblem`."""
        import logging

        from geocalib import GeoCalib

        logging.getLogger("geocalib").setLevel(logging.ERROR)  # `Tilt.step_rad` shows non-convergence per picture
        self.device, self.distorted = device, distorted
        with tempfile.TemporaryDirectory() as folder:
            path = _random_weights(Path(folder)) if checkpoint is None else _checked(checkpoint)
            self.upstream = GeoCalib(weights=str(path)).to(device).eval()
        _use_one_seed(self.upstream.model)

    def calibrated(self, pictures: Sequence[Picture], focal_px: Sequence[float] | None) -> list[Tilt]:
        """Calibrates pictures of one size. `focal_px`: their focal lengths in pixels of these pictures, if known."""
        import torch

        network, optimizer = self.upstream.model, self.upstream.model.optimizer
        # With a known focal length, upstream's optimiser confuses k1 with roll: such pictures come undistorted.
        radial = self.distorted and focal_px is None
        optimizer.set_camera_model("simple_radial" if radial else "pinhole")
        optimizer.shared_intrinsics = False
        optimizer.conf.early_stop = len(pictures) == 1  # else a result would depend on the other pictures of its batch
        pixels = sent(np.stack(pictures), self.device).on_device()
        with torch.no_grad():
            data = self.upstream.image_processor(pixels.permute(0, 3, 1, 2).float() / 255)
            if focal_px is not None:
                data["prior_focal"] = torch.tensor(focal_px).to(data["image"]) * data["scales"][1]
            try:
                out = network(data)
                step_rad = _next_step_rad(optimizer, out)
            except torch.linalg.LinAlgError:  # constant fields give a singular matrix
                if len(pictures) > 1:
                    each = [None] * len(pictures) if focal_px is None else [[known] for known in focal_px]
                    return [self.calibrated([p], known)[0] for p, known in zip(pictures, each, strict=True)]
                return [_unknown(pictures[0])]
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
                focal_known=focal_px is not None,
                confidence=float(sure[i]),
                step_rad=float(step_rad[i]),
            )
            for i, picture in enumerate(pictures)
        ]


def _use_one_seed(network: Any) -> None:
    """Makes results reproducible. Upstream starts a matrix factorisation at random, differently for each call and each
    row of the batch; here every picture has the same start."""
    import torch

    for module in network.modules():
        if (build := getattr(module, "_build_bases", None)) is None:
            continue

        def build_seeded(count: int, *args: Any, build: Any = build, **named: Any) -> Any:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(_SEED)
                return build(1, *args, **named).repeat(count, 1, 1)

        module._build_bases = build_seeded


def _next_step_rad(optimizer: Any, out: Mapping[str, Any]) -> Any:
    """Change of each picture's result by one more step, in radians. Upstream reports only when the last picture of a
    batch stopped."""
    import torch

    fields = {name: out[name] for name in ("up_field", "latitude_field", "up_confidence", "latitude_confidence")}
    steps, optimizer.num_steps = optimizer.num_steps, 1
    try:
        camera, gravity, _ = optimizer.optimize(fields, out["camera"], out["gravity"])
    finally:
        optimizer.num_steps = steps
    rotation = (gravity.vec3d - out["gravity"].vec3d).norm(dim=-1)
    return torch.maximum(rotation, (camera.f[:, 1] / out["camera"].f[:, 1]).log().abs())


def _unknown(picture: Picture) -> Tilt:
    nan, (height, width) = float("nan"), picture.shape[:2]
    return Tilt(
        up_cam=np.full(3, nan), width_px=width, height_px=height, focal_px=nan, k1=nan, covariance=np.full((3, 3), nan),
        scale=nan, focal_known=False, confidence=nan, step_rad=nan,
    )  # fmt: skip


def _checked(checkpoint: Path) -> Path:
    """The checkpoint, if it holds arrays only: upstream reads it with torch's default, which may allow code."""
    state = load_state(checkpoint)
    if not isinstance(state, Mapping) or not isinstance(state.get("model"), Mapping):
        raise SetupProblem(f"{checkpoint} holds no weights of GeoCalib", "it is not loaded: use another file")
    return checkpoint


def _random_weights(folder: Path) -> Path:
    """Writes a checkpoint with random weights, as upstream's class only reads files."""
    import torch
    from geocalib.geocalib import GeoCalib as Network

    torch.save({"model": Network().state_dict()}, folder / "random.tar")
    return folder / "random.tar"


def _double(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)
