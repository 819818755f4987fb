"""L2/Understanding/Motion Understanding: the motion of the camera in a video, described in free words."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from templates.answers import Answer, Text
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.filmed_path import NONE, AboutPath, FilmedPath, video_of
from templates.mapping.story_words import atomic_claims, sentence
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_story import axes_of, parts_of
from templates.scene.scene import Scene

_LEAST_CLAIMS = 2


@dataclass(frozen=True, kw_only=True)
class CameraCaption(AboutPath):
    """A caption of the motion of the camera in a video, with the claims that it makes. Measures the number of parts."""

    name: str = "camera_caption"
    formats: tuple[FormatName, ...] = ("text",)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FilmedPath:
        """Videos of which at least two claims can be made."""
        told = [frames.tolist() for frames, story in self.told(scene, rng) if _enough(story.code)][:count]
        return FilmedPath.from_json([{"frames": frames, "axes": axes_of(scene)} for frames in told])

    def measure(self, facts: FilmedPath, scene: Scene) -> Measured:
        """The story as text."""
        stories = self.stories(facts, scene)
        return self.measured(stories, [s.code if _enough(s.code) else f"{NONE}a single motion" for s in stories])

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The caption and its claims."""
        label = measured.as_label()
        stories = [parts_of(code) for code in np.asarray(label.text).tolist()]
        return Text(
            text=np.array([sentence(parts, "the camera") for parts in stories], dtype=np.str_),
            claims=np.array(["\n".join(atomic_claims(parts)) for parts in stories], dtype=np.str_),
            margin=label.margin,
            outlier_probability=label.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        return Phrasing(media=video_of(fact), wording=f"{format}.{fact['axes']}")


def _enough(code: str) -> bool:
    return bool(code) and len(atomic_claims(parts_of(code))) >= _LEAST_CLAIMS
