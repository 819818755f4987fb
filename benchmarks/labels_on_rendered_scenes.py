"""Compares labels made from pixels alone with the renderer's exact truth, room by room.

    python -m benchmarks.labels_on_rendered_scenes OUT [ROOMS] [SEED]

Furniture, camera, path, moving object, noise, blur and exposure of each room are drawn by seed. Prints every wrong
answer with its evidence, then the verdicts per template. OUT is not for committing.
"""

import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

import spatial_engine as se
from spatial_engine.rendering import Effects, RenderedScene, camera_paths, true_signals, write_video
from spatial_engine.rendering.rooms import random_room
from spatial_engine.sources import clip_from_json
from templates.registry import create_templates
from templates.scene.scenes import scenes_of
from templates.truth import judge

PATHS = {
    "walk": camera_paths.walk,
    "forward": partial(camera_paths.forward_drive, length_m=1.3),
    "truck": lambda n, start: camera_paths.primitive("truck", 1.0, n, start),
    "pedestal": lambda n, start: camera_paths.primitive("pedestal", -0.6, n, start),
    "turn": camera_paths.pure_rotation,
    "tilt": lambda n, start: camera_paths.primitive("tilt", 0.4, n, start),
    "roll": lambda n, start: camera_paths.primitive("roll", 0.4, n, start),
    "static": camera_paths.static,
}


def room(seed: int) -> tuple[str, RenderedScene]:
    """The room of a seed: the name of its path, and the scene."""
    rng = np.random.default_rng(seed)
    name = list(PATHS)[seed % len(PATHS)]
    effects = Effects(
        noise_grey=float(rng.uniform(0, 4)),
        blur_px=float(rng.uniform(0, 0.7)),
        exposure_drift=float(rng.uniform(0, 0.2)),
    )
    scene = random_room(
        rng,
        frames=48,
        width_px=480,
        height_px=360,
        fps=12,
        path=PATHS[name],
        moving_object=bool(rng.integers(2)),
        effects=effects,
    )
    return name, scene


def main(out: Path, rooms: int, first_seed: int) -> None:
    """Prints one line per room, then the table."""
    templates = create_templates()
    table: Counter[tuple[str, str]] = Counter()
    out.mkdir(parents=True, exist_ok=True)
    for seed in range(first_seed, first_seed + rooms):
        name, scene = room(seed)
        video = out / f"{seed:04d}_{name}.mp4"
        if not video.exists():
            write_video(scene, video)
        dataset = se.run(video, out / f"{seed:04d}", upright=True)
        store = se.open_store(out / f"{seed:04d}" / "store")
        verdicts: Counter[str] = Counter()
        questions = list(dataset.questions)
        for clip_id in store.clip_ids():
            clip = clip_from_json(store.record(clip_id).clip)
            own = [q for q in questions if q.clip == clip_id]
            shown = sorted({frame for q in own for medium in q.media for frame in medium.get("frames", [])})
            if not shown:
                continue
            (truth,) = scenes_of(clip, true_signals(scene, clip, shown))
            for q in own:
                right = judge(q, templates[q.template], truth)
                word = {True: "right", False: "wrong", None: "undecidable"}[right]
                verdicts[word] += 1
                table[q.template, word] += 1
                if right is False:
                    print("  WRONG", seed, q.template, q.format, q.fact, q.value, q.sigma, q.margin, dict(q.evidence))
        kind = getattr(store.signals(store.clip_ids()[0]).get("camera_path"), "motion", "none")
        print(f"{seed:4d} {name:9} {kind:13} {dict(verdicts)}", flush=True)
    for (template, word), count in sorted(table.items()):
        print(f"{template:18} {word:12} {count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8, int(sys.argv[3]) if len(sys.argv) > 3 else 0)
