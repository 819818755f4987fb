"""Findings that concern some frames, and those that are left."""

from collections.abc import Iterator, Sequence

from experts.signals import CameraPath
from spatial_engine.sequences import partly
from spatial_engine.sequences.finding import Finding


def of_some(
    path: CameraPath, bad: set[partly.Pair2], good: set[partly.Pair2], what: str, apart: set[int]
) -> Iterator[Finding]:
    """Severe for the frames that do not go with the others; for all, where they are more than half."""
    frames = partly.samples(path)
    if not apart:
        return
    named = partly.between(path, frames, apart)
    number = f"{len(bad)} of {len(bad) + len(good)} pairs contradict the pictures by more than three of their sigmas"
    yield Finding(
        what=what,
        number=f"{number}: {_ranges(named)}",
        remedy="mend their poses or depth, or leave them out",
        severe=True,
        frames=() if 2 * len(apart) > len(frames) else named,
    )


def _ranges(frames: tuple[int, ...]) -> str:
    """ "frames 3-7, 12"."""
    parts: list[list[int]] = []
    for frame in frames:
        if parts and parts[-1][1] == frame - 1:
            parts[-1][1] = frame
        else:
            parts.append([frame, frame])
    return "frames " + ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def sound_frames(path: CameraPath, found: Sequence[Finding]) -> set[int]:
    """Frames against which nothing severe was found."""
    severe = [finding for finding in found if finding.severe]
    if any(not finding.frames for finding in severe):
        return set()
    return {int(frame) for frame in path.frames} - {frame for finding in severe for frame in finding.frames}
