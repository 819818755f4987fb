"""L2/Understanding/Relation Understanding: whether one object rides on another one in a video."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.carried_along import BESIDE, CARRIES, MANNERS, OWN_WAY, RIDES, carried_along
from templates.scene.encounters import Encounter
from templates.scene.moving_objects import moving
from templates.scene.named import all_listed
from templates.scene.named_in_videos import found_throughout, seen_throughout, singled_out
from templates.scene.scene import Scene
from templates.scene.sightings import object_names, one_identity, sightings, videos_of_objects
from templates.template import Template

_VIDEOS = 60
"""Videos in which objects are looked for."""
_SENTENCES = {
    RIDES: "The {b} carries the {a} along",
    CARRIES: "The {a} carries the {b} along",
    BESIDE: "Both move together, but neither carries the other",
    OWN_WAY: "The {a} and the {b} do not move together",
}


@dataclass(frozen=True, kw_only=True)
class TwoInVideo(Facts):
    """Two objects of different names in the frames of a video."""

    frames: Int64[np.ndarray, "n v"]
    a: Texts
    b: Texts


@dataclass(frozen=True, kw_only=True)
class MovesAlong(Template):
    """Whether one object carries another one along, they move side by side, or not together. Measures, in path units,
    the way of the one that moves less where both move as one, else of the other one."""

    name: str = "moves_along"
    version: str = "3"
    ability: str = "L2/Understanding/Relation Understanding"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = TwoInVideo
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MANNERS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "parts", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoInVideo:
        """Pairs of which one moves in the clip; those that move in different manners come first."""
        rows = list(_pairs(scene, rng))
        rows = [rows[k] for k in rng.permutation(len(rows))]
        kinds = [kind for _, kind in rows]
        order = sorted(range(len(rows)), key=lambda k: kinds[:k].count(kinds[k]))
        return TwoInVideo.from_json([rows[k][0] for k in order[:count]])

    def measure(self, facts: TwoInVideo, scene: Scene) -> Measured:
        """The label is one of `MANNERS`."""
        found = [_measured(scene, fact) for fact in facts.to_json()]
        way = np.array([one.change for one in found], dtype=np.float64).reshape(-1, 1)
        return Measured(
            why=np.array([one.why for one in found], dtype=np.str_),
            value=way,
            sigma=np.zeros_like(way),
            label=np.array([one.code for one in found], dtype=np.str_),
            margin=np.array([one.margin for one in found], dtype=np.float64),
            evidence={"way": way[:, 0].round(3), "length_unit": np.full(len(facts), scene.length_unit)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and four sentences."""
        assert offer is not None
        options = tuple(_SENTENCES[code].format(a=fact["a"], b=fact["b"]) for code in offer.values(0))
        values = {"a": fact["a"], "b": fact["b"]}
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), options=options, values=values)


def _pairs(scene: Scene, rng: np.random.Generator) -> Iterator[tuple[dict[str, Json], str]]:
    """Facts that are decided in random videos, each with its manner."""
    names, movers = object_names(scene), {*moving(scene).object.tolist()}
    if not one_identity(scene) or not movers:
        return
    listed = all_listed(scene, names)
    for frames in videos_of_objects(scene, rng, _VIDEOS):
        shown = sightings(scene).of(frames)
        clear = seen_throughout(shown)
        objects = [k for k in sorted(singled_out(names, shown).values()) if clear[k] and listed[k]]
        for pair in combinations(objects, 2):
            a, b = (pair[k] for k in rng.permutation(2))
            if movers & {a, b} and not (found := carried_along(scene, frames[frames >= 0], a, b)).why:
                yield {"frames": frames[frames >= 0].tolist(), "a": names[a].item(), "b": names[b].item()}, found.code


def _measured(scene: Scene, fact: Mapping[str, Json]) -> Encounter:
    frames = np.array(fact["frames"], dtype=np.int64)
    rows, why = found_throughout(scene, frames, (fact["a"], fact["b"]))
    return Encounter(why=why) if why else carried_along(scene, frames, *rows)
