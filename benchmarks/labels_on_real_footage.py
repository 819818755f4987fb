"""Compares labels made from pixels alone with ground truth.

    SPATIAL_ENGINE_DATA=... python -m benchmarks.labels_on_real_footage OUT [SET ...]

Runs the default experts on each set (stores and data sets stay in OUT, which is not for committing), then prints
per set and leaf the number of right, wrong and undecidable answers, and the reasons of facts that were not asked. The
ground truth is that of each set; its README states the σ below.
"""

import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

import spatial_engine as se
from benchmarks.footage import load
from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, Gravity, Scale, Signal
from spatial_engine.sources import clip_from_json
from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.truth import judge


@dataclass(frozen=True, kw_only=True)
class TruthQuality:
    """σ of a set's ground truth."""

    folder: str
    rotation_deg: float
    direction_deg: float
    upright: bool = False
    """Whether `--upright` is true of the footage."""
    up_world: tuple[float, float, float] | None = None
    up_deg: float = 1.0


SETS = {
    "sevenscenes_rgbd": TruthQuality(folder="sevenscenes_rgbd", rotation_deg=0.5, direction_deg=3.0, upright=True),
    "fox_ngp": TruthQuality(
        folder="fox_ngp", rotation_deg=0.2, direction_deg=0.3, upright=True, up_world=(0, 0, 1), up_deg=3.0
    ),
    "kitti_odom_a": TruthQuality(folder="kitti_odom_a", rotation_deg=0.1, direction_deg=0.5, upright=True),
    "hololens_indoor": TruthQuality(
        folder="hololens_indoor", rotation_deg=0.3, direction_deg=1.0, upright=True, up_world=(0, 1, 0)
    ),
    "mobilebrick": TruthQuality(folder="mobilebrick", rotation_deg=0.4, direction_deg=2.0),
    "strecha_fountain": TruthQuality(folder="strecha_fountain", rotation_deg=0.1, direction_deg=0.2),
    "videos_plain": TruthQuality(folder="videos_plain", rotation_deg=0.0, direction_deg=0.0, upright=True),
}


def true_scene(root: Path, name: str, clip: Clip) -> Scene | None:
    """The ground truth of the set as a scene of that clip; None if it has none."""
    if name == "videos_plain":
        return None
    footage, quality = load(root, name), SETS[name]
    world_from_cam, focal = footage.true_world_from_cam, footage.true_focal_px
    assert world_from_cam is not None and focal is not None and len(world_from_cam) == len(clip.frames)
    camera = Intrinsics.centred(clip.width_px, clip.height_px, focal)
    source, n = Provenance(expert=name, version="truth"), len(clip.frames)
    step = np.linalg.norm(np.diff(world_from_cam[:, :3, 3], axis=0), axis=1)
    signals: dict[str, Signal] = {
        "camera_path": CameraPath(
            frames=clip.frames,
            world_from_cam=world_from_cam,
            registered=np.ones(n, dtype=bool),
            keyframe=np.ones(n, dtype=bool),
            intrinsics=camera,
            focal_relative_sigma=0.005,
            motion="general",
            rotation_sigma_rad=np.full(n, np.radians(quality.rotation_deg)),
            position_sigma=np.full(n, 0.05 * float(np.median(step))),
            direction_sigma_rad=float(np.radians(quality.direction_deg)),
            scale=Scale(kind="metric" if name != "fox_ngp" else "relative", relative_sigma=0.02, source=name),
            provenance=source,
        )
    }
    if quality.up_world is not None:
        up_cam = np.einsum("nij,i->nj", world_from_cam[:, :3, :3], np.array(quality.up_world, dtype=float))
        sigma = np.full(n, np.radians(quality.up_deg))
        signals["gravity"] = Gravity(
            frames=clip.frames, up_cam=up_cam, sigma_rad=sigma, decided_by="data set", provenance=source
        )
    if name == "hololens_indoor":
        signals["depth"] = _hololens_depth(root, clip, source)
    (scene,) = scenes_of(clip, signals)
    return scene


def _hololens_depth(root: Path, clip: Clip, source: Provenance) -> Depth:
    files = sorted((root / "hololens_indoor/depth").glob("*.png"))
    z = np.stack([np.asarray(Image.open(f)).astype(np.float32) for f in files]) / 1000
    scale = Scale(kind="metric", relative_sigma=0.02, source="hololens_indoor")
    return Depth(
        frames=clip.frames,
        z=np.where(z > 0, z, np.float32("nan")),
        relative_sigma=np.full(z.shape, 0.01, dtype=np.float32),
        scale=scale,
        provenance=source,
    )


def main(out: Path, names: list[str]) -> None:
    """Prints one block of lines per set."""
    root = Path(os.environ["SPATIAL_ENGINE_DATA"])
    templates = create_templates()
    for name in names or list(SETS):
        dataset = se.run(root / SETS[name].folder, out / name, upright=SETS[name].upright)
        store = se.open_store(out / name / "store")
        scenes = {}
        for clip_id in store.clip_ids():
            clip = clip_from_json(store.record(clip_id).clip)
            scenes[clip_id] = true_scene(root, name, clip)
        verdicts: Counter[tuple[str, str]] = Counter()
        for q in dataset.questions:
            truth = scenes[q.clip]
            right = None if truth is None else judge(q, templates[q.template], truth)
            verdicts[q.ability, {True: "right", False: "wrong", None: "undecidable"}[right]] += 1
            if right is False:
                print("  WRONG", q.template, q.format, q.fact, q.value, q.sigma, q.margin, dict(q.evidence))
        print(f"\n{name}: {sum(verdicts.values())} questions")
        for (ability, word), count in sorted(verdicts.items()):
            print(f"  {ability:36} {word:12} {count}")
        for ability, reasons in dataset.audit["refused"].items():
            print(f"  not asked: {ability}: {reasons}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
