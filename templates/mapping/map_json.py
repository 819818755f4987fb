"""L2/Memory/Cognitive Map: a map of named objects that no single photo shows together."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Shaped

from templates.answers import Answer, FloorMap
from templates.answers.floor_map import LAST
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.four_objects import MARKS, FourObjects, plans, propose_four
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.named import may_be_called
from templates.scene.object_boxes import Row
from templates.scene.objects import UNNAMED
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_LEAST_CELLS, _LEAST_RAD = 0.5, np.radians(8)
"""Least difference between the two offsets of a pair, in cells, and least angle from the diagonals: the larger one is
seen."""
_LEAST_PAIRS = 2
"""Least number of pairs that differ more along the map, and least number of those that differ more across it: a row of
objects is an order, and no map."""
_SURE = 0.99
"""Least P(right) of a map that is proposed."""


@dataclass(frozen=True, kw_only=True)
class MapJson(Template):
    """The places of four objects on a map of 10 × 10 cells, on which the camera of photo 1 faces up. Measures x to the
    right and y down of each, in cells."""

    name: str = "map_json"
    version: str = "2"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("map",)
    facts: ClassVar[type[Facts]] = FourObjects
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = SURFACE | {"gravity", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FourObjects:
        """Fours whose directions from each other are clear."""
        facts, objects = propose_four(scene, rng)
        measured = _measured(scene, facts, objects)
        known = np.flatnonzero(measured.why == "")
        sure = self.answer("map", facts.take(known), measured.take(known)).p_right() >= _SURE
        return facts.take(known[sure][:count])

    def measure(self, facts: FourObjects, scene: Scene) -> Measured:
        """The places, where every pair is told apart; σ: the places of the objects, the poses of their photos, and
        gravity."""
        return _measured(scene, facts, facts.found(scene))

    def answer(self, format: FormatName, facts: FourObjects, measured: Measured) -> Answer:
        """The map. It is right if every object lies on the right side of every other one."""
        return FloorMap(
            names=_keys(facts.names),
            xy=measured.value.reshape(len(facts), len(MARKS), 2),
            sigma=measured.sigma[:, ::2],
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos in order of time, with a box for each object."""
        refs = dict(zip(MARKS, (fact[key] for key in ("first", "second", "third", "fourth")), strict=True))
        keys = zip(answer.to_json().answer, MARKS, strict=True)
        *others, last = (f'"{key}" (box {mark})' for key, mark in keys)
        return Phrasing(media=Photo.all_boxed(refs), values={"objects": f"{', '.join(others)} and {last}"})


def _measured(scene: Scene, facts: FourObjects, objects: list[Row]) -> Measured:
    plan = plans(scene, facts, objects)
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = LAST * plan.sigma / plan.extent[:, None]
    xy = LAST / 2 + LAST * plan.in_units * [1, -1]
    a, b = np.triu_indices(len(MARKS), 1)
    offset = np.abs(xy[:, b] - xy[:, a])
    clear, sideways = np.abs(np.diff(offset, axis=2)[..., 0]), (offset[..., 0] > offset[..., 1]).sum(axis=1)
    with np.errstate(invalid="ignore"):
        too_close = (clear < _LEAST_CELLS) | (clear / np.sqrt(2) < np.sin(_LEAST_RAD) * np.linalg.norm(offset, axis=2))
    cases = {
        "the direction between two objects is too close to call": too_close.any(axis=1),
        "the objects stand in a row": np.minimum(sideways, len(a) - sideways) < _LEAST_PAIRS,
    }
    why = np.where(plan.why == "", first_reason(len(facts), cases), plan.why)
    return Measured(
        why=why,
        value=xy.reshape(len(facts), 2 * len(MARKS)),
        sigma=np.repeat(sigma, 2, axis=1),
        outlier_probability=plan.outlier_probability,
        evidence={"largest_sigma_cells": sigma.max(axis=1).round(3), "right_ahead": plan.xy.round(2)},
    )


def _keys(names: Shaped[np.ndarray, "n 4"]) -> Shaped[np.ndarray, "n 4"]:
    """What the map calls the objects of each row: by their names, with the numbers of their boxes where these do not
    tell them apart."""
    numbered = np.char.add(np.char.add(names, " "), MARKS)
    return np.where(_alike(names)[:, None], numbered, names)


def _alike(names: Shaped[np.ndarray, "n 4"]) -> Bool[np.ndarray, "n"]:
    """Whether a name of each row is not sure, or may mean another one, too."""
    known = {
        pair: pair[0] == pair[1] or UNNAMED in pair or may_be_called(pair[0], [pair[1]])
        for pair in {pair for row in np.unique(names, axis=0).tolist() for pair in combinations(row, 2)}
    }
    return np.array([any(known[pair] for pair in combinations(row, 2)) for row in names.tolist()], dtype=bool)
