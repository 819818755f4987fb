"""Videos of a camera whose motion is decided, part by part: what questions about it have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Video
from templates.scene.camera_story import Story, axes_of, camera_story
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_VIDEOS = 160
"""Random intervals of a clip whose motion is looked at."""
_SHORTEST_S, _LONGEST_S = 1.4, 12.0
_LEAST_FRAMES, _MOST_FRAMES = 8, (32, 64)
"""Frames of a video: every other one may have more."""
NONE = "why: "
"""Before the reason why a story gives no label."""
_DECIDED = 2.5
"""Least margin of a story that is proposed, in σ."""


@dataclass(frozen=True, kw_only=True)
class FilmedPath(Facts):
    """A video, and the axes in which the motion of its camera is named: "level" or "camera"."""

    frames: Int64[np.ndarray, "n k"]
    axes: Texts


@dataclass(frozen=True, kw_only=True)
class AboutPath(Template):
    """Common base of questions about the motion of the camera in a video."""

    version: str = "1"
    ability: str = "L2/Understanding/Motion Understanding"
    facts: ClassVar[type[Facts]] = FilmedPath
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"gravity"}

    def told(self, scene: Scene, rng: np.random.Generator) -> list[tuple[Int64[np.ndarray, "k"], Story]]:
        """Videos with a decided story, in random order; the first ones have different stories."""
        found = scene.once("videos with stories", lambda: _videos(scene))
        order = [found[k] for k in rng.permutation(len(found))]
        seen: dict[str, int] = {}
        nth = [seen.update({story.code: seen.get(story.code, 0) + 1}) or seen[story.code] for _, story in order]
        return [order[k] for k in np.argsort(nth, kind="stable")]

    def stories(self, facts: FilmedPath, scene: Scene) -> list[Story]:
        """The story of each video."""
        rows = zip(facts.frames, facts.axes.tolist(), strict=True)
        return [camera_story(scene, frames, axes) for frames, axes in rows]

    def measured(self, stories: Sequence[Story], labels: Sequence[str]) -> Measured:
        """Labels that the stories decide; a label may be the reason why there is none, after "why: "."""
        why = [label.removeprefix(NONE) if label.startswith(NONE) else "" for label in labels]
        return Measured(
            why=np.array([story.why or reason for story, reason in zip(stories, why, strict=True)], dtype=np.str_),
            value=np.array([[float(len(story.parts))] for story in stories]).reshape(-1, 1),
            sigma=np.zeros((len(stories), 1)),
            label=np.array(labels, dtype=np.str_),
            margin=np.array([story.margin for story in stories], dtype=np.float64),
            evidence={"story": np.array([_told(story) for story in stories], dtype=np.str_)},
        )


def _told(story: Story) -> str:
    """When each part begins and ends, and its motions."""
    spans = zip(story.times_s, story.times_s[1:], story.parts, strict=False)
    return "; ".join(f"{start:.1f} to {end:.1f} s {' with '.join(part)}" for start, end, part in spans)


def video_of(fact: Mapping[str, Json]) -> tuple[Video]:
    """The only medium of a recorded fact."""
    return (Video(frames=tuple(fact["frames"])),)


def _videos(scene: Scene) -> list[tuple[Int64[np.ndarray, "k"], Story]]:
    """Those of the random videos that have a story."""
    found = [(frames, camera_story(scene, frames, axes_of(scene))) for frames in timed_videos(scene)]
    return [(frames, story) for frames, story in found if not story.why and story.margin >= _DECIDED]


def timed_videos(scene: Scene) -> list[Int64[np.ndarray, "k"]]:
    """Videos of random intervals between registered frames."""
    clip = scene.clip
    if scene.path is None or clip.times_s is None:
        return []
    known = np.flatnonzero(np.isin(clip.frames, scene.path.frames[scene.path.registered]))
    if len(known) < 2:
        return []
    times_s, rng = clip.times_s[known], np.random.default_rng(0)
    span_s = min(_LONGEST_S, times_s[-1] - times_s[0])
    found = []
    for (share, shift), most in zip(rng.random((_VIDEOS, 2)).tolist(), cycle(_MOST_FRAMES), strict=False):
        length_s = _SHORTEST_S * (max(span_s, _SHORTEST_S) / _SHORTEST_S) ** share
        start_s = times_s[0] + shift * max(times_s[-1] - times_s[0] - length_s, 0.0)
        first, last = known[np.clip(np.searchsorted(times_s, [start_s, start_s + length_s]), 0, len(known) - 1)]
        places = np.unique(np.linspace(first, last, most).round().astype(np.int64))
        if len(places) >= _LEAST_FRAMES:
            found.append(clip.frames[places])
    return found
