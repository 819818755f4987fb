"""L2/Memory/Memory Retrieval: how many objects of a name a whole video shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Video
from templates.offer import Offer
from templates.perception.object_count import Counted
from templates.question import FormatName, Phrasing
from templates.scene.named_in_videos import named_in_videos
from templates.scene.scene import Scene
from templates.scene.sightings import object_names, videos_of_objects

_VIDEOS = 12
"""Videos in which names are counted."""
_NOT_IN_ONE_PHOTO, _TOGETHER = 0.5, 4
"""Least share of facts whose objects no single photo shows together, where there are more than a few others."""


@dataclass(frozen=True, kw_only=True)
class NamedInVideo(Facts):
    """All objects of a name in the frames of a video."""

    frames: Int64[np.ndarray, "n v"]
    name: Texts


@dataclass(frozen=True, kw_only=True)
class HowMany(Counted):
    """Objects of a name, each counted once, in a video: of the frames that it shows. Measures their number."""

    name: str = "how_many"
    version: str = "2"
    ability: str = "L2/Memory/Memory Retrieval"
    facts: ClassVar[type[Facts]] = NamedInVideo

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedInVideo:
        """Names in random videos; first those of which no single photo shows all, as far as there are enough."""
        names = np.unique(object_names(scene))
        rows = [
            {"frames": frames[frames >= 0].tolist(), "name": str(name)}
            for frames in videos_of_objects(scene, rng, _VIDEOS)
            for name in names[names != ""]
        ]
        facts = NamedInVideo.from_json(rows).distinct() if rows else NamedInVideo.none()
        measured = self.measure(facts, scene)
        known = rng.permutation(np.flatnonzero((measured.why == "") & (measured.value[:, 0] > 1)))
        spread = measured.traps["most in one frame"][known] < measured.value[known, 0]
        several, together = known[spread], known[~spread]
        most_together = max(_TOGETHER, round(len(several) * (1 / _NOT_IN_ONE_PHOTO - 1)))
        return facts.take(rng.permutation(np.concatenate([several, together[:most_together]]))[:count])

    def measure(self, facts: NamedInVideo, scene: Scene) -> Measured:
        """The count, where every object of the name is seen clearly in some frame or not at all."""
        found = named_in_videos(scene, facts.frames, facts.name)
        return Measured(
            why=found.why,
            value=found.shown.sum(axis=1, dtype=float)[:, None],
            sigma=np.zeros((len(facts), 1)),
            evidence={"name": facts.name, "most_in_one_frame": found.most, "sights": found.total},
            traps={"most in one frame": found.most, "counted again in every frame": found.total},
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), values={"name": fact["name"]})
