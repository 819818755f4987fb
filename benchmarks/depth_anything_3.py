"""Overhead of the Depth Anything 3 adapter over upstream's own loop: wall time, decoding included on both sides.

    python -m benchmarks.depth_anything_3                    # small network, CPU, a few minutes
    python -m benchmarks.depth_anything_3 --device cuda      # every variant at its real size, with its peak of memory

Uses random weights. Upstream's cameras are replaced by plausible ones on a line, because random ones are refused at
once and the adapter would skip its joins, checks and masks. "Bare": decode the frames with PyAV and call `inference` on
the same windows, once in the adapter's precision, and once in upstream's (half precision on a CPU, which is slow).
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Clip
from experts.depth.da3_upstream import VARIANTS, Variant
from experts.depth.depth_anything_3 import DepthAnything3Expert, DepthAnything3Settings
from experts.runtime.windows import WindowSettings, rolling
from experts.signals import Depth, NoEstimate
from spatial_engine.rendering import write_video
from spatial_engine.rendering.rooms import random_room
from spatial_engine.sources import VideoFile, open_clips


def main() -> None:
    options = _options()
    if options.device == "cpu":
        from experts.runtime.model_expert import import_torchvision

        import_torchvision()
    variants = options.variants or (["small-alone"] if options.device == "cpu" else list(VARIANTS))
    print(f"{options.frames} frames of {options.width} x {options.width * 3 // 4}, processed at {options.side} px")
    with tempfile.TemporaryDirectory() as folder:
        clip = _video(Path(folder) / "clip.mp4", options)
        for variant in variants:
            _compare(variant, clip, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--variants", nargs="*", choices=["small-alone", *VARIANTS], help="default: all, on a GPU")
    parser.add_argument("--side", type=int, help="longer processed side; default 504, on a CPU 252")
    parser.add_argument("--width", type=int, default=640, help="of the video")
    parser.add_argument("--frames", type=int, help="default 128, on a CPU 16")
    parser.add_argument("--window", type=int, help="frames at once; default 64, on a CPU 16")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    cpu = options.device == "cpu"
    options.side = options.side or (252 if cpu else 504)
    options.frames = options.frames or (16 if cpu else 128)
    options.window = options.window or (16 if cpu else 64)
    return options


def _video(path: Path, options: argparse.Namespace) -> Clip:
    """A rendered walk as a video file, for both sides."""
    room = random_room(
        np.random.default_rng(0), frames=options.frames, width_px=options.width, height_px=options.width * 3 // 4
    )
    write_video(room, path)
    (clip,) = open_clips(VideoFile(path=path, name=path.name))
    return clip


def _compare(variant: str, clip: Clip, options: argparse.Namespace) -> None:
    """Prints one line."""
    expert = _expert(variant, options)
    expert.load("random", device=options.device)
    model, size = expert.model, options.window
    _plausible_cameras(getattr(model.model, "da3", model.model))
    windows = [list(w) for _, _, w in rolling(clip.frames.tolist(), list, size, _overlap(variant, options))]
    sides: dict[str, Callable[[], None]] = {
        "ours": lambda: _check(expert(_with_camera(clip, variant), {})),
        "bare": lambda: _bare(model, clip, windows, options.side),
        "bare, upstream's precision": lambda: _upstream(model, clip, windows, options.side),
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    busy: dict[str, list[float]] = {name: [] for name in sides}
    for repeat in range(options.repeats + 1):
        for name, call in sides.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            if repeat:  # the first warms up
                seconds[name].append(time.perf_counter() - wall)
                busy[name].append(time.process_time() - cpu)
    middle = statistics.median(seconds["ours"])
    print(f"{variant}: {len(clip.frames) / middle:.2f} frames/s{_peak(options.device, sides['ours'])}")
    for name in list(sides)[1:]:
        ratios = [a / b for a, b in zip(seconds["ours"], seconds[name], strict=True)]
        print(
            f"  {middle:.2f} s ours, {statistics.median(seconds[name]):.2f} s {name}: "
            f"ratio {statistics.median(ratios):.3f}, median of {len(ratios)} pairs "
            f"({min(ratios):.3f} to {max(ratios):.3f}); of CPU seconds "
            f"{statistics.median(a / b for a, b in zip(busy['ours'], busy[name], strict=True)):.3f}",
            flush=True,
        )
    expert.close()


def _expert(variant: str, options: argparse.Namespace) -> DepthAnything3Expert:
    overlap = min(16, options.window // 4)
    windows = WindowSettings(frames=options.window, overlap=overlap, memory_share=1e9, max_residual=1.0)
    settings = DepthAnything3Settings(process_res=options.side, windows=windows)
    if variant != "small-alone":
        return DepthAnything3Expert(settings, variant)
    expert = DepthAnything3Expert(settings, "relative")
    expert.networks = Variant(anyview="da3-small", weights=())
    return expert


def _overlap(variant: str, options: argparse.Namespace) -> int:
    return 0 if variant == "metric" else min(16, options.window // 4)


def _with_camera(clip: Clip, variant: str) -> Clip:
    """The metric network alone needs a focal length."""
    camera = random_room(
        np.random.default_rng(0), frames=1, width_px=clip.width_px, height_px=clip.height_px
    ).intrinsics
    return clip.with_options(intrinsics=camera) if variant == "metric" else clip


def _plausible_cameras(anyview: Any) -> None:
    """Replaces the estimated cameras: one focal length, and a step to the right per frame."""
    import torch

    def camera(feats: Any, height: int, width: int, output: Any) -> Any:
        count = feats[-1][1].shape[1]
        for name in ("ray", "ray_conf"):
            output.pop(name, None)
        device = output.depth.device
        output.extrinsics = torch.eye(4, device=device)[:3].repeat(1, count, 1, 1)
        output.extrinsics[0, :, 0, 3] = -0.02 * float(output.depth.median()) * torch.arange(count, device=device)
        k = torch.tensor([[width * 1.0, 0, width / 2], [0, width * 1.0, height / 2], [0, 0, 1]], device=device)
        output.intrinsics = k.repeat(1, count, 1, 1)
        return output

    anyview._process_camera_estimation = camera


def _bare(model: Any, clip: Clip, windows: list[list[int]], side: int) -> None:
    """Upstream's loop: decodes, calls the model, keeps the results."""
    pictures = dict(clip.read())
    kept = [model.inference([pictures[f] for f in frames], process_res=side) for frames in windows]
    assert sum(len(p.depth) for p in kept) >= len(clip.frames)


def _upstream(model: Any, clip: Clip, windows: list[list[int]], side: int) -> None:
    """The same, with upstream's own `forward`, which chooses the precision."""
    model.forward = super(type(model), model).forward
    try:
        _bare(model, clip, windows, side)
    finally:
        del model.forward


def _check(results: Any) -> None:
    """Prints refused signals, for which the adapter did less work than intended."""
    for name, signal in results.items():
        if isinstance(signal, NoEstimate):
            print(f"  {name} has no estimate: {signal.reason} ({signal.detail})", file=sys.stderr)
    assert "depth" in results and isinstance(results["depth"], Depth | NoEstimate)


def _peak(device: str, call: Callable[[], None]) -> str:
    """Peak memory of one more call on a GPU."""
    if not device.startswith("cuda"):
        return ""
    import torch

    torch.cuda.reset_peak_memory_stats(device)
    call()
    return f"   peak {torch.cuda.max_memory_allocated(device) / 2**30:.1f} GiB"


if __name__ == "__main__":
    main()
