"""A rendered walk on the disk, with the manifest that describes it."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import RenderedScene
from tests.spatial_engine.sequences.layouts import millimetres, save, write

FRAMES = 14


@cache
def walk(seed: int = 8) -> RenderedScene:
    """Sideways and forward, with a turn."""
    return random_room(
        np.random.default_rng(seed),
        frames=FRAMES,
        path=lambda n, start: camera_paths.performed([(n, {"truck": 0.7, "dolly": 0.4, "pan": 0.25})], start),
    )


def write_set(folder: Path, seed: int = 8) -> Path:
    """images, depth, poses.txt, sequence.yaml."""
    scene = walk(seed)
    for frame in range(FRAMES):
        save(folder / f"images/{frame:04d}.png", scene.picture(frame)[..., ::-1])
        save(folder / f"depth/{frame:04d}.png", millimetres(scene, frame))
    write(folder / "poses.txt", scene.world_from_cam.reshape(-1, 16))
    (folder / "sequence.yaml").write_text(yaml.safe_dump(manifest()), encoding="utf-8")
    return folder


def manifest() -> dict[str, Any]:
    """As a user would write it."""
    camera = walk().intrinsics
    return {
        "name": "walk",
        "images": "images/*.png",
        "upright": True,
        "camera": {"fx": camera.fx_px, "fy": camera.fy_px, "cx": camera.cx_px, "cy": camera.cy_px},
        "poses": {"file": "poses.txt", "form": "matrices", "rotation_sigma_deg": 0.1, "direction_sigma_deg": 0.5},
        "depth": {"images": "depth/*.png", "unit_m": 0.001},
        "gravity": {"up_world": [0, 0, 1]},
        "scale": {"kind": "metric", "source": "renderer"},
    }


def changed(**parts: dict[str, Any]) -> dict[str, Any]:
    """The manifest with some keys of some parts changed."""
    stated = manifest()
    for part, values in parts.items():
        stated[part] = {**stated[part], **values}
    return stated
