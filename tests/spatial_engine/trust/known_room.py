"""A rendered walk as a sequence on disk, and a dataset about it whose answers are exact."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from experts.provenance import Provenance
from experts.signals import Signal
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.rendering import demo_scene
from spatial_engine.rendering.camera_paths import Stance, walk
from spatial_engine.sequences import Sequence, open_sequence
from templates.generate import ask_clip
from templates.registry import create_templates
from templates.settings import AskSettings

COUNT = 14
EXPERT = Provenance(expert="a good one", version="1")
_START = Stance(at_m=(1.75, 0.45, 1.4), pitch_rad=float(np.deg2rad(-19)))
_TURN_RAD = 0.9
"""Enough for a path with a bend, which a map needs."""
_MANIFEST = """\
name: known room
images: images/*.png
licence: Apache-2.0
upright: true
times: {{fps: 10}}
camera: {{fx: {fx}, fy: {fy}, cx: {cx}, cy: {cy}}}
poses: {{file: poses.txt, form: matrices, rotation_sigma_deg: 0.05, direction_sigma_deg: 0.1}}
depth: {{images: depth/*.npy, unit_m: 1.0, relative_sigma: 0.001}}
gravity: {{up_world: [0, 0, 1], sigma_deg: 0.1}}
scale: {{kind: metric, relative_sigma: 0.001, source: renderer}}
{more}"""


def write_room(folder: Path, more: str = "") -> Path:
    """Pictures, depth, poses and a manifest; returns the folder."""
    scene = replace(
        demo_scene(200, 150), moving_boxes=(), supersampling=1, world_from_cam=walk(COUNT, _START, turn_rad=_TURN_RAD)
    )
    for name in ("images", "depth"):
        (folder / name).mkdir(parents=True)
    for k in range(COUNT):
        Image.fromarray(scene.picture(k)).save(folder / "images" / f"{k:03}.png")
        np.save(folder / "depth" / f"{k:03}.npy", scene.depth(k))
    write_poses(folder, scene.world_from_cam)
    camera = scene.intrinsics
    stated = _MANIFEST.format(fx=camera.fx_px, fy=camera.fy_px, cx=camera.cx_px, cy=camera.cy_px, more=more)
    (folder / "sequence.yaml").write_text(stated)
    return folder


def write_poses(folder: Path, world_from_cam: np.ndarray) -> None:
    """One row a picture."""
    np.savetxt(folder / "poses.txt", world_from_cam.reshape(-1, 16))


def read_poses(folder: Path) -> np.ndarray:
    """Their inverse."""
    return np.loadtxt(folder / "poses.txt").reshape(-1, 4, 4)


def measured(sequence: Sequence) -> dict[str, Signal]:
    """What an expert that is right would say, with σ as experts state them."""
    exact = sequence.truth.signals(sequence.clip, range(COUNT))
    path, depth = exact["camera_path"], exact["depth"]
    return {
        "camera_path": replace(
            path,
            rotation_sigma_rad=np.full(COUNT, np.radians(0.1)),
            direction_sigma_rad=float(np.radians(2.0)),
            position_sigma=np.full(COUNT, 0.002),
            provenance=EXPERT,
            focal_relative_sigma=0.01,
        ),
        "gravity": replace(exact["gravity"], sigma_rad=np.full(COUNT, np.radians(1.0)), provenance=EXPERT),
        "depth": replace(depth, relative_sigma=np.full_like(depth.relative_sigma, 0.02), provenance=EXPERT),
    }


def write_labels(sequence: Sequence, path: Path) -> Dataset:
    """Everything that is asked of these signals."""
    templates = list(create_templates().values())
    asked = ask_clip(sequence.clip, measured(sequence), templates, AskSettings(facts_per_template=3), 0)
    return write_dataset(path, [asked], lambda _: sequence.clip, seed=0)


def opened(folder: Path) -> Sequence:
    """The room as its manifest says."""
    (sequence,) = open_sequence(folder)
    return sequence
