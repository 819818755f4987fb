"""L2/Memory/Memory Retrieval: how many objects of a name a whole video shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from experts.objects.object_names import folded
from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Video
from templates.offer import Offer
from templates.perception.object_count import Counted
from templates.question import FormatName, Phrasing
from templates.scene.named import may_be_called
from templates.scene.scene import Scene
from templates.scene.sightings import object_names, one_identity, sightings, videos_of_objects

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
    version: str = "1"
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
        every, names, n = sightings(scene), object_names(scene), len(facts)
        count, most, total = np.zeros(n), np.zeros(n), np.zeros(n)
        unknown, doubtful, ambiguous = (np.zeros(n, dtype=bool) for _ in range(3))
        lacking = np.full(n, not one_identity(scene))
        for row, name in enumerate(facts.name.tolist()):
            try:
                shown = every.of(facts.frames[row])
            except LookupError:
                lacking[row] = True
                continue
            mine = names == name
            seen, clear = shown.area[:, mine] != 0, shown.clear[:, mine].any(axis=0)
            count[row], most[row], total[row] = clear.sum(), seen.sum(axis=1).max(initial=0), seen.sum()
            unknown[row] = np.isnan(shown.area[:, mine]).any()
            doubtful[row] = (seen.any(axis=0) & ~clear).any()
            ambiguous[row] = may_be_called(name, {*names[(shown.area != 0).any(axis=0)].tolist()})
        objects = scene.objects
        listed = {folded(name) if name != "*" else name for name in (() if objects is None else objects.complete)}
        cases = {
            "objects are not surely the same in all frames": lacking,
            "not every object of this name is listed": ~np.isin(facts.name, [*listed]) & ("*" not in listed),
            "what is visible of an object is not known": unknown,
            "an object may be too small or too little visible": doubtful,
            "another name may mean the same kind": ambiguous,
            "the video shows no object of this name": count == 0,
        }
        return Measured(
            why=first_reason(n, cases),
            value=count[:, None],
            sigma=np.zeros((n, 1)),
            evidence={"name": facts.name},
            traps={"most in one frame": most, "counted again in every frame": total},
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), values={"name": fact["name"]})
