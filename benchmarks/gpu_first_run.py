"""What only weights and a GPU can show: each model's conventions on rendered rooms, precision, and speed, in one table.

    python -m benchmarks.gpu_first_run                                  # every model that can run here
    python -m benchmarks.gpu_first_run geocalib depth_anything_3:metric
    python -m benchmarks.gpu_first_run --device cpu --random-weights    # the script itself: its numbers mean nothing

The table is written anew after each model, so that a run that is cut off leaves what it has. Speed: clips per second
of `annotate` beyond the first ones, so that loading and the start of the workers do not count.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import spatial_engine as se
from benchmarks.first_run_checks import Row, difference
from benchmarks.first_run_rooms import Probe, Sizes, probes
from experts.depth.depth_anything_3 import DepthAnything3Settings
from experts.expert import Expert, SetupProblem
from experts.footage.encoding import write_mp4
from experts.objects.open_vocabulary import OpenVocabularySettings
from experts.objects.orient_anything import OrientAnythingSettings
from experts.registry import EXPERTS
from experts.runtime.model_expert import hindrance
from spatial_engine.annotation.licences import licence_problem
from spatial_engine.errors import SpatialEngineError
from spatial_engine.rendering import RenderedScene
from spatial_engine.rendering.rooms import random_room

NAMES = (
    "geocalib", "depth_anything_3", "depth_anything_3:metric", "open_vocabulary", "open_vocabulary:owlv2",
    "orient_anything", "orient_anything:v2", "tapir", "cotracker", "spatial_tracker",
)  # fmt: skip
_READS = {"orient_anything": "open_vocabulary", "spatial_tracker": "depth_anything_3"}
"""Experts that others need beside them in `annotate`."""
_SMALL: dict[str, Any] = {
    "depth_anything_3": lambda: DepthAnything3Settings(process_res=112),
    "open_vocabulary": lambda: OpenVocabularySettings(sides_px=(256, 427), frames=2),
    "orient_anything": lambda: OrientAnythingSettings(size="small"),
}
"""Settings for a CPU."""
_VERDICTS = {True: "holds", False: "**fails**", None: ""}


def main(words: Sequence[str] | None = None) -> None:
    """Writes the table."""
    options = _options(words)
    sizes = Sizes(side_px=320, frames=4) if options.small else Sizes()
    rows: list[tuple[str, Row]] = []
    for name in options.experts:
        for row in _tried(name, sizes, options):
            rows.append((name, row))
            print(f"{name}: {row.check}: {row.measured} {_VERDICTS[row.holds]}", flush=True)
        options.out.write_text(table(rows, options), encoding="utf-8")
    print(f"-> {options.out}")


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experts", nargs="*", default=list(NAMES), help=f"default: {' '.join(NAMES)}")
    parser.add_argument("--out", type=Path, default=Path("gpu_first_run.md"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--random-weights", action="store_true")
    parser.add_argument("--allow-noncommercial", action="store_true")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4], help="processes whose speed is measured")
    options = parser.parse_args(words)
    options.small = options.device == "cpu"
    options.models = se.ModelOptions(
        random_weights=options.random_weights, device=options.device, allow_noncommercial=options.allow_noncommercial
    )
    return options


def table(rows: Sequence[tuple[str, Row]], options: argparse.Namespace) -> str:
    """The page: what it was measured on, and one line per row."""
    lines = ["# First run of the models", "", f"Device: {_device(options.device)}.", ""]
    if options.random_weights:
        lines += ["**Weights are random: no number here means anything.**", ""]
    lines += ["| expert | check | expected | measured | verdict |", "|---|---|---|---|---|"]
    for name, row in rows:
        cells = (name, row.check, row.expected, row.measured, _VERDICTS[row.holds])
        lines.append("| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _device(device: str) -> str:
    try:
        import torch
    except ImportError:
        return f"{device}, without torch"
    on_gpu = device != "cpu" and torch.cuda.is_available()
    return f"{torch.cuda.get_device_name(device) if on_gpu else device}, torch {torch.__version__}"


def _tried(name: str, sizes: Sizes, options: argparse.Namespace) -> Iterator[Row]:
    """All rows of one expert. An error costs the part that raised it, and never the table."""
    expert = made(name, options.small)
    problem = hindrance(expert, options.models.weights) or licence_problem(expert, options.models)
    if problem is not None:
        yield Row(check="runs", expected="", measured=f"not run: {problem.cause}; {problem.remedy}")
        return
    plain = name if name == "depth_anything_3:metric" else name.partition(":")[0]
    try:
        footage = probes(plain, sizes)
        yield from _conventions(expert, footage, options)
        yield from _precision(expert, footage[0], options)
    except Exception as error:
        expert.close()
        if isinstance(error, SetupProblem):
            yield Row(check="runs", expected="", measured=f"not run: {error}")
            return
        yield Row(check="runs", expected="without an error", measured=f"{type(error).__name__}: {error}", holds=False)
    for workers in options.workers:
        yield _speed(name, workers, sizes, options)


def made(name: str, small: bool) -> Expert:
    """The expert; with small inputs for a CPU."""
    plain, _, variant = name.partition(":")
    settings = {"settings": _SMALL[plain]()} if small and plain in _SMALL else {}
    make: Any = EXPERTS.load(plain)
    expert: Expert = make(**settings, **({"variant": variant} if variant else {}))
    return expert


def _conventions(expert: Expert, footage: Sequence[Probe], options: argparse.Namespace) -> Iterator[Row]:
    started = time.perf_counter()
    expert.load(options.models.weights, options.device)
    yield Row(check="loads", expected="", measured=f"{time.perf_counter() - started:.0f} s", holds=True)
    for probe in footage:
        for row in probe.judge(expert(probe.clip, probe.signals)):
            yield replace(row, holds=None) if options.random_weights else row
    expert.close()


def _precision(expert: Expert, probe: Probe, options: argparse.Namespace) -> Iterator[Row]:
    found = []
    for dtype in ("float32", "bfloat16"):
        expert.load(options.models.weights, options.device, dtype)
        found.append(expert(probe.clip, probe.signals))
        expert.close()
    yield Row(check="float32 against bfloat16", expected="", measured=difference(*found))


def _speed(name: str, workers: int, sizes: Sizes, options: argparse.Namespace) -> Row:
    check, (few, more) = f"clips per second, {workers} workers", (workers, 3 * workers)
    names = [*([_READS[plain]] if (plain := name.partition(":")[0]) in _READS else []), name]
    with tempfile.TemporaryDirectory() as folder:
        try:
            seconds = [_annotated(Path(folder) / str(n), n, names, workers, sizes, options) for n in (few, more)]
        except (SpatialEngineError, RuntimeError) as error:
            return Row(check=check, expected="every clip", measured=f"{type(error).__name__}: {error}", holds=False)
    between = seconds[1] - seconds[0]
    rate = f"{(more - few) / between:.3g}" if between > 0 else "too fast to tell"
    return Row(check=check, expected="", measured=f"{rate} ({sizes.frames} frames of {sizes.side_px} px each)")


def _annotated(
    folder: Path, clips: int, names: Sequence[str], workers: int, sizes: Sizes, options: argparse.Namespace
) -> float:
    """Seconds that `annotate` takes for clips that differ. Raises RuntimeError if an expert failed on one."""
    scene, pictures = _room(sizes)
    camera = scene.intrinsics
    (folder / "videos").mkdir(parents=True)
    for clip in range(clips):
        moved = [np.roll(picture, 4 * clip, axis=1) for picture in pictures]
        times_s = np.arange(len(pictures)) / scene.fps
        write_mp4(folder / "videos" / f"{clip}.mp4", moved, times_s.tolist(), fps=scene.fps, preset="ultrafast")
    started = time.perf_counter()
    store = se.annotate(
        folder / "videos",
        folder / "store",
        experts=[made(name, options.small) for name in names],
        workers=workers,
        random_weights=options.random_weights,
        device=options.device,
        allow_noncommercial=options.allow_noncommercial,
        intrinsics=(camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px),
    )
    seconds = time.perf_counter() - started
    failures = [failure.error for clip_id in store.clip_ids() for failure in store.present_failures(clip_id)]
    if failures or len(store.clip_ids()) != clips:
        raise RuntimeError(f"{len(failures)} failures in {len(store.clip_ids())} clips: {'; '.join(failures[:1])}")
    return seconds


@cache
def _room(sizes: Sizes) -> tuple[RenderedScene, list[np.ndarray]]:
    height = sizes.side_px * 3 // 4 // 2 * 2
    scene = random_room(np.random.default_rng(1), frames=sizes.frames, width_px=sizes.side_px, height_px=height)
    return scene, [scene.picture(frame) for frame in range(sizes.frames)]


if __name__ == "__main__":
    main()
