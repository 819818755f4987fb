"""L2/Understanding/Spatial Caption: which of four photos a caption describes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.captions import (
    MARKS,
    PAIRS,
    SURE,
    THINGS,
    Threes,
    caption,
    compared,
    doubt,
    photo_of,
    sets_of_claims,
    some_points,
    told,
)
from templates.measured import Measured, first_reason, margin_of_all
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.compared import AXES, SIDEWAYS
from templates.scene.misleading import misleading_first
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_PHOTOS = ("1", "2", "3", "4")
_STATEMENTS, _LEAST_FALSE = 3, 2
"""Statements of a caption, and how many of them are false in every other photo."""
_CANDIDATES = 2400
"""Groups of three points, among which photos are chosen."""
_TRIES = 4
"""Draws for each caption."""
_CHANCE = 0.5
"""Largest probability that false statements become true if a point that all of them are about lies elsewhere."""
_SURE_ANSWER, _MISLEADING = 0.99, 0.3
"""Least P(right) of an answer that is proposed, and least share of captions for which the pictures suggest another
photo, or none."""
_TRAP = "as the pictures suggest"
_OF_ANOTHER = "the caption may be true of another photo"


@dataclass(frozen=True, kw_only=True)
class CaptionedPhotos(Facts):
    """Four photos, each with three points of its own, and a caption."""

    frames: Int64[np.ndarray, "n 4"]
    points_px: Float64[np.ndarray, "n 4 3 2"]
    claims: Int64[np.ndarray, "n 3 4"]
    """Of each statement: which of the points it is about, with which of them it compares that one, and row and column
    of its word in `AXES`."""


@dataclass(frozen=True, kw_only=True)
class CaptionedPhoto(Template):
    """The photo of which all statements are true; in every other one two or more are false. Measures, of each photo and
    statement, how much the first of the two words of its axis fails to hold (`Compared.value`)."""

    name: str = "captioned_photo"
    version: str = "2"
    ability: str = "L2/Understanding/Spatial Caption"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = CaptionedPhotos
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _PHOTOS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_OF_ANOTHER})
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity", "image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> CaptionedPhotos:
        """Four photos of different groups of points, of which one alone fits three statements."""
        rows = [*_drawn(scene, some_points(scene, rng, _CANDIDATES), rng, _TRIES * count)]
        if not rows:
            return CaptionedPhotos.none()
        frames, points_px, claims = (np.stack(column) for column in zip(*rows, strict=True))
        facts = CaptionedPhotos(frames=frames, points_px=points_px, claims=claims).distinct()
        measured = self.measure(facts, scene)
        sure = np.flatnonzero(Answers.of(measured.as_label(), measured.why).p_right >= _SURE_ANSWER)
        misled = np.asarray(measured.label != measured.traps[_TRAP])[sure]
        return facts.take(sure[misleading_first(misled, rng, _MISLEADING)[:count]])

    def measure(self, facts: CaptionedPhotos, scene: Scene) -> Measured:
        """The photo in which all statements are clearly true."""
        n, photos = len(facts), len(_PHOTOS)
        threes = Threes.of_points(facts.frames.ravel(), facts.points_px.reshape(-1, THINGS, 2))
        found, column = (
            told(scene, threes, np.repeat(facts.claims[..., :3], photos, axis=0)),
            facts.claims[:, None, :, 3],
        )
        value, sigma, clear, second, pictured = (
            getattr(found, name).reshape(n, photos, _STATEMENTS)
            for name in ("value", "sigma", "clear", "second", "pictured")
        )
        holds, fails = clear & (second == (column > 0)), clear & (second != (column > 0))
        with np.errstate(invalid="ignore", divide="ignore"):
            margin = np.nan_to_num(np.abs(value) / sigma)
        fits, right = holds.all(axis=2), holds.all(axis=2).argmax(axis=1)
        seems = (pictured == (column > 0)).all(axis=2)
        others = np.arange(photos) != right[:, None]
        cases = {
            "the caption is not surely true of exactly one photo": fits.sum(axis=1) != 1,
            _OF_ANOTHER: (others & (fails.sum(axis=2) < _LEAST_FALSE)).any(axis=1),
        }
        denied = np.where(others, np.where(fails, margin, 0.0).max(axis=2), np.inf)
        apart = np.column_stack([margin[np.arange(n), right], denied])
        matters = np.where(others[..., None], _CHANCE * _turns_all(facts.claims, fails), 1.0)
        return Measured(
            why=first_reason(n, cases),
            value=value.reshape(n, photos * _STATEMENTS),
            sigma=sigma.reshape(n, photos * _STATEMENTS),
            label=np.array(_PHOTOS)[right],
            margin=margin_of_all(apart, np.ones_like(apart)),
            evidence={"differences": value.round(2)},
            outlier_probability=1 - np.prod(1 - matters * doubt(scene, threes).reshape(matters.shape), axis=(1, 2)),
            traps={_TRAP: np.where(seems.sum(axis=1) == 1, np.array(_PHOTOS)[seems.argmax(axis=1)], "")},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Four photos with three marks each, and the caption."""
        words = [AXES[axis][column] for _, _, axis, column in fact["claims"]]
        each = [{"frame": f, "points_px": xy} for f, xy in zip(fact["frames"], fact["points_px"], strict=True)]
        written = caption([f"point {mark}" for mark in MARKS], fact["claims"], words)
        return Phrasing(media=tuple(map(photo_of, each)), values={"caption": written})


def _turns_all(claims: Int64[np.ndarray, "n 3 4"], fails: Bool[np.ndarray, "n 4 3"]) -> Bool[np.ndarray, "n 4 3"]:
    """Whether all false statements about a photo concern each of its points."""
    concerned = (claims[:, :, :2, None] == np.arange(THINGS)).any(axis=2)
    return np.asarray((~fails[..., None] | concerned[:, None]).all(axis=2))


def _drawn(
    scene: Scene, threes: Threes, rng: np.random.Generator, tries: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Frames and points of four photos in order of time, and three statements that are sure of one of them, while two
    or more are surely false of each of the others."""
    shape, sets = (len(threes), len(PAIRS), len(AXES)), sets_of_claims(_STATEMENTS)
    sets = sets[(sets[..., 1] != SIDEWAYS).all(axis=1)]
    found = compared(scene, threes, np.tile(PAIRS, (len(threes), 1, 1)))
    with np.errstate(invalid="ignore"):
        sure = (found.clear & (np.abs(found.value) >= SURE * found.sigma)).reshape(shape)
    second = (found.value > 0).reshape(shape)
    for _ in range(tries):
        pair, axis = sets[rng.integers(len(sets))].T
        able, said = sure[:, pair, axis], second[:, pair, axis]
        if not len(complete := np.flatnonzero(able.all(axis=1))):
            continue
        right = int(rng.choice(complete))
        false = rng.permutation(np.flatnonzero((able & (said != said[right])).sum(axis=1) >= _LEAST_FALSE))
        false = false[threes.frame[false] != threes.frame[right]]
        _, first = np.unique(threes.frame[false], return_index=True)  # one of each photo
        chosen = np.append(false[rng.permutation(first)[: len(_PHOTOS) - 1]], right)
        if len(chosen) < len(_PHOTOS):
            continue
        chosen = chosen[threes.frame[chosen].argsort()]
        turned = rng.random(_STATEMENTS) < 0.5
        ends = np.where(turned[:, None], PAIRS[pair][:, ::-1], PAIRS[pair])
        claims = rng.permutation(np.column_stack([ends, axis, said[right] ^ turned]))
        yield threes.frame[chosen], threes.points_px[chosen], claims
