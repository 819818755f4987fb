"""L4/Open-world Exploration/Knowledge Acquisition: do some photos together show all objects of a name?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import taking_turns
from templates.scene.named_in_videos import named_in_videos
from templates.scene.scene import Scene
from templates.scene.sightings import object_names, sightings
from templates.template import Template

_PHOTOS = (2, 3, 4)
_TRIED = 12
"""Sets of photos that are drawn for each that is asked about."""
_CLEARLY = 10.0
"""Margin in σ: each object is seen clearly, or not at all."""
_LEAST, _MOST = 2, 9
"""Numbers of objects that are asked about."""


@dataclass(frozen=True, kw_only=True)
class AllOfName(Facts):
    """A name, how many objects have it, and some photos."""

    frames: Int64[np.ndarray, "n k"]
    name: Texts
    number: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class EnoughSeen(Template):
    """Whether photos together show all objects of a name. Measures how many different ones they show."""

    name: str = "enough_seen"
    version: str = "1"
    ability: str = "L4/Open-world Exploration/Knowledge Acquisition"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[Facts]] = AllOfName
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> AllOfName:
        """Sets of photos that show some objects of a name; of each name and number of photos, as many show all of them
        as do not."""
        frames, numbers = sightings(scene).frames, _numbers(scene)
        names = sorted(name for name, number in numbers.items() if _LEAST <= number <= _MOST)
        if not names or len(frames) < max(_PHOTOS):
            return AllOfName.none()
        rows = []
        for name in rng.choice(names, _TRIED * count).tolist():
            shown = np.sort(rng.choice(frames, rng.choice(_PHOTOS), replace=False))
            rows.append({"frames": shown.tolist(), "name": name, "number": numbers[name]})
        facts = AllOfName.from_json(rows).distinct()
        found = self.measure(facts, scene)
        assert found.label is not None
        sure = np.flatnonzero(found.why == "")
        photos = (facts.frames >= 0).sum(axis=1).astype(np.str_)
        kinds = np.char.add(np.char.add(facts.name, " "), photos)[sure]
        pairs = [pair for kind in np.unique(kinds) for pair in _pairs(found, sure[kinds == kind])]
        order = rng.permutation(len(pairs))
        order = order[taking_turns(np.array([facts.name[pairs[k][0]] for k in order], dtype=np.str_))]
        kept = np.array([row for k in order for row in pairs[k]], dtype=np.int64)
        return facts.take(rng.permutation(kept[:count]))

    def measure(self, facts: AllOfName, scene: Scene) -> Measured:
        """The number of objects seen, where each is seen clearly or not at all."""
        found, numbers = named_in_videos(scene, facts.frames, facts.name), _numbers(scene)
        seen, known = (
            found.shown.sum(axis=1),
            np.array([numbers.get(name, -1) for name in facts.name.tolist()], dtype=int),
        )
        cases = {"another number of objects has this name": known != facts.number}
        return Measured(
            why=np.where(found.why == "", first_reason(len(facts), cases), found.why),
            value=seen.astype(float)[:, None],
            sigma=np.zeros((len(facts), 1)),
            label=np.where(seen == facts.number, "yes", "no"),
            margin=np.full(len(facts), _CLEARLY),
            evidence={"name": facts.name, "seen": seen},
            traps={
                "counted again in every photo": np.where(found.total >= facts.number, "yes", "no"),
                "most in one photo": np.where(found.most >= facts.number, "yes", "no"),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """Yes or no."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos in order of time."""
        media = tuple(Photo(frame=frame) for frame in fact["frames"])
        return Phrasing(media=media, values={"name": fact["name"], "number": str(fact["number"])})


def _pairs(found: Measured, rows: Int64[np.ndarray, "k"]) -> list[tuple[int, int]]:
    """A set of photos that shows all objects, and one that does not; first such in which the objects, counted again in
    every photo, seem to be enough."""
    assert found.label is not None
    yes, no = (rows[found.label[rows] == label] for label in ("yes", "no"))
    fooled = found.traps["counted again in every photo"][no] == "yes"
    return [*zip(yes.tolist(), [*no[fooled].tolist(), *no[~fooled].tolist()], strict=False)]


def _numbers(scene: Scene) -> dict[str, int]:
    """How many objects of each name any photo of the scene shows; computed once per scene."""
    return scene.once("objects of each name", lambda: _counted(scene))


def _counted(scene: Scene) -> dict[str, int]:
    names, shown = object_names(scene), (sightings(scene).area != 0).any(axis=0)
    return {str(name): int((shown & (names == name)).sum()) for name in np.unique(names) if name}
