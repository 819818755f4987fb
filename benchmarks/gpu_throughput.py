"""Throughput of the models that process clips window by window, beside the bare loop that upstream suggests.

    python -m benchmarks.gpu_throughput                              # on a GPU, at real sizes
    python -m benchmarks.gpu_throughput --device cpu                 # tiny sizes: the script itself, and the overhead
    python -m benchmarks.gpu_throughput --models tapir --frames 300 --batch-frames 120

With random weights: speed does not depend on them. Cameras of Depth Anything 3 are replaced by plausible ones, and the
trackers keep every track, as otherwise experts would end early. The bare loop decodes a clip, calls upstream window by
window, and copies the results to the host; both sides decode. `ratio` is the time of the bare loop over ours (1: no
overhead; target: at least 0.95): the median of alternating runs, with the lowest and the highest. `idle` is the share
of time in which no kernel runs on the GPU, in a run of ours under torch's profiler. Small windows of several clips
share calls; on a CPU they do not, and times for `ratio` are CPU seconds, because other programs share the cores.
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

from experts.clip import Clip, Picture
from experts.depth.da3_upstream import Variant
from experts.depth.depth_anything_3 import DepthAnything3Expert, DepthAnything3Settings
from experts.expert import SetupProblem
from experts.runtime.device import place
from experts.runtime.model_expert import missing_package
from experts.runtime.per_window import PerWindowExpert, call_many
from experts.runtime.windows import WindowSettings, rolling
from experts.signals import NoEstimate
from experts.tracking.cotracker import CoTrackerExpert, CoTrackerSettings
from experts.tracking.image_tracker import ImageTracker
from experts.tracking.learned_tracks import FollowSettings
from experts.tracking.tapir import TapirExpert, TapirSettings
from spatial_engine.rendering import write_video
from spatial_engine.rendering.rooms import random_room
from spatial_engine.sources import VideoFile, open_clips

MODELS = ("depth_anything_3", "tapir", "cotracker")
VARIANTS = ("depth_anything_3:relative", "depth_anything_3:metric", "depth_anything_3:nested", "cotracker:online")
Bare = Callable[[Clip], None]


def main(words: Sequence[str] | None = None) -> None:
    """Prints one line per model."""
    options = _options(words)
    with tempfile.TemporaryDirectory() as folder:
        clip = _video(Path(folder) / "clip.mp4", options)
        size = f"clips: {options.clips} of {len(clip.frames)} frames, {clip.width_px} x {clip.height_px} px"
        print(f"{size}, windows of {options.window} frames, on {_device(options.device)}")
        for name in options.models:
            print(f"{name}: {_measured(name, clip, options)}", flush=True)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="auto, cuda, cuda:1 or cpu")
    parser.add_argument("--models", nargs="+", choices=MODELS + VARIANTS, default=MODELS)
    parser.add_argument("--frames", type=int, help="of each clip; default 256, on a CPU 12")
    parser.add_argument("--clips", type=int, help="default 8, on a CPU 1")
    parser.add_argument("--window", type=int, help="largest number of frames per window; default 60, on a CPU 8")
    parser.add_argument("--batch-frames", type=int, default=32, help="frames per call that several windows may make up")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(words)
    try:
        options.device = place(options.device).device
    except SetupProblem as problem:
        raise SystemExit(str(problem)) from problem
    options.tiny = options.device == "cpu"
    options.frames = options.frames or (12 if options.tiny else 256)
    options.clips = options.clips or (1 if options.tiny else 8)
    options.window = options.window or (8 if options.tiny else 60)
    return options


def _video(path: Path, options: argparse.Namespace) -> Clip:
    """A rendered walk as a video file, ten frames per second: every model uses each frame."""
    width = 160 if options.tiny else 640
    room = random_room(
        np.random.default_rng(0), frames=options.frames, width_px=width, height_px=width * 3 // 4, fps=10.0
    )
    write_video(room, path)
    (clip,) = open_clips(VideoFile(path=path, name=path.name))
    return clip.with_options(intrinsics=room.intrinsics)


def _device(device: str) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device != "cpu" else "cpu: tiny sizes, no statement about a GPU"


def _measured(name: str, clip: Clip, options: argparse.Namespace) -> str:
    expert, bare = _made(name, options)
    if missing := missing_package(expert.packages):
        return f"not run: {missing}"
    try:
        expert.load("random", options.device)
    except SetupProblem as problem:
        return f"not run: {problem}"
    if not isinstance(expert, ImageTracker):
        _plausible_cameras(expert.model.upstream.model)
    clips, loop = [clip] * options.clips, bare(expert, clip)
    ours, theirs = (lambda: _ours(expert, clips)), (lambda: _each(loop, clips))
    pairs = [(_timed(ours), _timed(theirs)) for _ in range(options.repeats + 1)][1:]  # the first warms up
    ours_s = statistics.median(ours.wall_s for ours, _ in pairs)
    ratios = [b.cpu_s / a.cpu_s if options.device == "cpu" else b.wall_s / a.wall_s for a, b in pairs]
    idle, peak = _idle(ours, options.device), _peak(options.device)
    expert.close()
    frames = options.clips * len(clip.frames)
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return f"{frames / ours_s:.3g} frames/s, ratio {ratio}, idle {idle}, peak {peak}"


def _made(name: str, options: argparse.Namespace) -> tuple[PerWindowExpert, Callable[[Any, Clip], Bare]]:
    """The expert, and what makes its bare loop."""
    plain, _, variant = name.partition(":")
    following = FollowSettings(
        window_frames=options.window, overlap_frames=min(8, options.window // 2), memory_share=1e9,
        min_window_frames=min(8, options.window), batch_frames=options.batch_frames,
        start_px=np.inf, agree_px=np.inf, **({"points": 4} if options.tiny else {}),
    )  # fmt: skip
    if plain == "tapir":
        tiny = {"side_px": 64, "initial_px": 64} if options.tiny else {}
        return TapirExpert(TapirSettings(following=following, min_confidence=0.0, **tiny)), _bare_tracker
    if plain == "cotracker":
        size_px = (128, 96) if options.tiny else CoTrackerSettings().size_px
        settings = CoTrackerSettings(following=following, min_confidence=0.0, size_px=size_px)
        return CoTrackerExpert(settings, variant or "offline"), _bare_tracker
    windows = WindowSettings(
        frames=options.window, overlap=min(16, options.window // 4), memory_share=1e9, max_residual=1.0,
        batch_frames=options.batch_frames,
    )  # fmt: skip
    expert = DepthAnything3Expert(
        DepthAnything3Settings(windows=windows, process_res=112 if options.tiny else 504), variant or "base"
    )
    if options.tiny:
        expert.networks = _small(expert.networks)
    return expert, _bare_depth


def _small(networks: Variant) -> Variant:
    """Networks for a CPU. Upstream has no small metric network, so it is left out beside another one."""
    return replace(networks, anyview="da3-small", metric=None) if networks.anyview else networks


def _plausible_cameras(network: Any) -> None:
    """Replaces the estimated cameras: one focal length, and a step to the right per frame."""
    import torch

    anyview = getattr(network, "da3", network)
    if anyview.cam_dec is None:
        return

    def camera(feats: Any, height: int, width: int, output: Any) -> Any:
        windows, count = feats[-1][1].shape[:2]
        for name in ("ray", "ray_conf"):
            output.pop(name, None)
        device = output.depth.device
        output.extrinsics = torch.eye(4, device=device)[:3].repeat(windows, count, 1, 1)
        step = -0.02 * output.depth.flatten(1).median(dim=1).values
        output.extrinsics[:, :, 0, 3] = step[:, None] * torch.arange(count, device=device)
        k = torch.tensor([[width * 1.0, 0, width / 2], [0, width * 1.0, height / 2], [0, 0, 1]], device=device)
        output.intrinsics = k.repeat(windows, count, 1, 1)
        return output

    anyview._process_camera_estimation = camera


def _ours(expert: PerWindowExpert, clips: Sequence[Clip]) -> None:
    for outcome in call_many(expert, [(clip, {}) for clip in clips]):
        if isinstance(outcome, BaseException):
            raise outcome
        if isinstance(refused := outcome.get("camera_path") or next(iter(outcome.values())), NoEstimate):
            raise RuntimeError(f"no estimate, so there was less to do: {refused.reason} ({refused.detail})")


def _bare_depth(expert: DepthAnything3Expert, clip: Clip) -> Bare:
    """Decodes all frames, calls upstream's `inference` for each window."""
    s, upstream = expert.settings, expert.model.upstream
    overlap = s.windows.overlap if expert.networks.anyview else 0

    def loop(clip: Clip) -> None:
        def window(pictures: Sequence[Picture]) -> Any:
            return upstream.inference(list(pictures), process_res=s.process_res, ref_view_strategy="middle")

        for _ in rolling((rgb for _, rgb in clip.read()), window, s.windows.frames, overlap):
            pass

    return loop


def _bare_tracker(expert: ImageTracker, clip: Clip) -> Bare:
    """Decodes and resizes all frames, calls upstream for each window with the queries that we have there."""
    import torch

    recorded = _Recording(expert.model)
    expert.model, network = recorded, expert.model
    _ours(expert, [clip])
    expert.model, following = network, expert.settings.following

    def loop(clip: Clip) -> None:
        queries = iter(recorded.queries)

        def window(pictures: Sequence[Picture]) -> Any:
            device = expert.placement.device
            with torch.inference_mode():
                video = torch.from_numpy(np.stack(pictures)).to(device)[None].float()
                points = torch.from_numpy(network.encoded(next(queries))).to(device)[None]
                return [part.cpu() for part in network.tracked(video, points, None)]

        pictures = (cv2.resize(rgb, expert.settings.size_px, interpolation=cv2.INTER_AREA) for _, rgb in clip.read())
        for _ in rolling(pictures, window, following.window_frames, following.overlap_frames):
            pass

    return loop


@dataclass
class _Recording:
    """A network that writes down the queries of a clip's windows."""

    network: Any

    def __post_init__(self) -> None:
        self.queries: list[np.ndarray] = []
        self.infer, self.received = self.network.infer, self.network.received

    def prepared(self, window: Any, *, padded: bool) -> Any:
        self.queries.append(window.queries)
        return self.network.prepared(window, padded=padded)


def _each(loop: Bare, clips: Sequence[Clip]) -> None:
    for clip in clips:
        loop(clip)


class _Times(NamedTuple):
    wall_s: float
    cpu_s: float


def _timed(call: Callable[[], None]) -> _Times:
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    call()
    return _Times(time.perf_counter() - wall_s, time.process_time() - cpu_s)


def _idle(call: Callable[[], None], device: str) -> str:
    """Share of the time of a call in which no kernel runs."""
    if device == "cpu":
        return "not measured (no GPU)"
    import torch
    from torch.autograd import DeviceType

    torch.cuda.reset_peak_memory_stats(device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        seconds = _timed(call).wall_s
    kernels = [event.time_range for event in profile.events() if event.device_type == DeviceType.CUDA]
    return f"{1 - busy_s([(kernel.start, kernel.end) for kernel in kernels]) / seconds:.0%}"


def busy_s(spans_us: Sequence[tuple[float, float]]) -> float:
    """Seconds that at least one of the spans (start, end; microseconds) covers."""
    covered = until = 0.0
    for start, end in sorted(spans_us):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered / 1e6


def _peak(device: str) -> str:
    """Largest allocated memory of the GPU in the last call; on a CPU the largest of the process so far."""
    if device == "cpu":
        return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB (of the process)"
    import torch

    return f"{torch.cuda.max_memory_allocated(device) / 2**30:.1f} GiB"


if __name__ == "__main__":
    main()
