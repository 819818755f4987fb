"""L1/Geometry/Shape: which drawn line runs along the edge of an object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Mark, Photo, Segment
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, first_of, margin, nearest, right_and_others
from templates.question import FormatName, Phrasing
from templates.scene.edges import border_distance_px, mask_pixel_px, sides_of, straight_edges
from templates.scene.object_boxes import outliers
from templates.scene.objects import found_again, seen_objects
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_EXACT_PX, _ESTIMATED_PX = 0.7, 1.5
"""σ of the border of a mask in pixels of the mask: of a dataset, and of a detector."""
_LEAST_STEP, _MOST_STEP = 0.03, 0.06
"""Distance of mistaken lines from the edge, as shares of the diagonal."""
_LEAST_DIFFERENCE = 0.02
"""Least difference between the distances of the nearest two lines from the edge, as a share of the diagonal."""
_LARGEST_DISTANCE_PX = 1.5
"""Of the right line from the edge, in pixels of the mask or at 640 px width, whichever is larger."""
_TRIES = 3
"""Edges drawn for each that is proposed: there may be no room beside one."""


@dataclass(frozen=True, kw_only=True)
class EdgeLines(Facts):
    """An object of a photo with four lines."""

    object: ObjectRefs
    lines_px: Float64[np.ndarray, "n 4 2 2"]
    """Both ends of each."""


@dataclass(frozen=True, kw_only=True)
class EdgeLine(Template):
    """Which of four drawn lines runs along the edge of an object. Measures the mean distance of each line from the
    border of the object's mask, as a share of the photo's diagonal."""

    name: str = "edge_line"
    version: str = "1"
    ability: str = "L1/Geometry/Shape"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = EdgeLines
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"depth", "objects"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> EdgeLines:
        """Straight edges of objects that are not small, each with three lines beside it, in random order."""
        edges, seen = straight_edges(scene), seen_objects(scene)
        if not len(edges):
            return EdgeLines.none()
        edges = edges.take(rng.integers(0, len(edges), _TRIES * count))
        lines = _candidates(edges.ends_px, edges.outward, scene.diagonal_px, rng)
        size = np.array([scene.clip.width_px, scene.clip.height_px])
        apart = _apart(lines) >= _LEAST_DIFFERENCE * scene.diagonal_px
        m = range(lines.shape[1])
        apart[:, m, m] = ((lines > 0.02 * size) & (lines < 0.98 * size)).all(axis=(2, 3))
        rows, chosen = right_and_others(apart, rng)
        objects = seen.take(edges.seen[rows[:count]]).refs()
        return EdgeLines(object=objects, lines_px=lines[rows[:, None], chosen][:count])

    def measure(self, facts: EdgeLines, scene: Scene) -> Measured:
        """The line nearest to the border; σ of an estimated mask includes where depth has its step."""
        frame, diagonal = facts.object.frame, scene.diagonal_px
        object, pixel = found_again(scene, facts.object), mask_pixel_px(scene)
        if scene.objects is None:
            return Measured.none(len(facts), "objects not measured", len(MARKS))
        distance = border_distance_px(scene, frame, object, facts.lines_px, 2 * _MOST_STEP * diagonal)
        best = distance.argmin(axis=1)
        line = facts.lines_px[np.arange(len(best)), best]
        sides = sides_of(scene, frame, object, line, _LEAST_STEP * diagonal)
        sigma = np.full(len(best), pixel * _EXACT_PX)
        if scene.exact_objects is None:
            sigma = np.nan_to_num(np.hypot(pixel * _ESTIMATED_PX, sides.depth_off_px), nan=np.inf)
        most = _LARGEST_DISTANCE_PX * max(pixel, scene.pixel_scale)
        label, cases = nearest(distance, most, _LEAST_DIFFERENCE * diagonal)
        sigma = np.tile(sigma[:, None], len(MARKS))
        return Measured(
            why=first_reason(
                len(facts),
                {
                    "the object is not found again": object < 0,
                    **cases,
                    "behind the edge there is nothing farther away": ~sides.is_own,
                },
            ),
            value=distance / diagonal,
            sigma=sigma / diagonal,
            label=label,
            margin=margin(distance, sigma),
            outlier_probability=outliers(scene, object),
            evidence={"line_off_by_px": distance.min(axis=1).round(1), "lines_off_px": distance.round(1)},
            traps=_mistakes(facts, best),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the line."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a point on the object and four numbered lines."""
        ends = [tuple(map(tuple, line)) for line in fact["lines_px"]]
        lines = tuple(Segment(text=text, points_px=line) for text, line in zip(MARKS, ends, strict=True))
        point = Mark(text="P", xy_px=tuple(fact["object"]["inside_px"]))
        photo = Photo(frame=fact["object"]["frame"], marks=(point, *lines))
        return Phrasing(media=(photo,), values={"name": fact["object"]["name"]})

    def placed(self, facts: Facts, scene: Scene) -> Facts:
        """The facts as they are: lines are drawn anywhere."""
        return facts


def _candidates(
    ends: Float64[np.ndarray, "n 2 2"], outward: Float64[np.ndarray, "n 2"], diagonal: float, rng: np.random.Generator
) -> Float64[np.ndarray, "n 7 2 2"]:
    """The edge; lines inside and outside the object, two of each; and lines through an end that lean to either side."""
    steps = rng.uniform(_LEAST_STEP, _MOST_STEP, (len(ends), 4)) + _LEAST_STEP * np.array([0, 1, 0, 1])
    steps *= diagonal * np.array([1, 1, -1, -1])
    beside = ends[:, None] + (steps[..., None] * outward[:, None])[:, :, None]
    leaning = np.repeat(ends[:, None], 2, axis=1)
    moved = (
        diagonal
        * 2
        * rng.uniform(_LEAST_DIFFERENCE, _LEAST_STEP + _LEAST_DIFFERENCE, (len(ends), 2))
        * np.array([1, -1])
    )
    leaning[np.arange(len(ends)), :, rng.integers(0, 2, len(ends))] += moved[..., None] * outward[:, None]
    return np.concatenate([ends[:, None], beside, leaning], axis=1)


def _apart(lines: Float64[np.ndarray, "n m 2 2"]) -> Float64[np.ndarray, "n m m"]:
    """Mean distance between the ends of lines."""
    return np.linalg.norm(lines[:, :, None] - lines[:, None], axis=-1).mean(axis=-1)


def _mistakes(facts: EdgeLines, best: Int64[np.ndarray, "n"]) -> dict[str, np.ndarray]:
    """By how a line differs from the right one, the first and the second that does."""
    right = facts.lines_px[np.arange(len(best)), best][:, None]
    along = right[:, :, 1] - right[:, :, 0]
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1) / np.linalg.norm(along, axis=-1, keepdims=True)
    inwards = np.sign(np.sum((facts.object.inside_px[:, None] - right.mean(axis=2)) * across, axis=-1))
    at = np.einsum("nlei,nli->nle", facts.lines_px - right.mean(axis=2, keepdims=True), across) * inwards[..., None]
    parallel = np.abs(at[..., 0] - at[..., 1]) < 0.5 * np.abs(at).max(axis=-1)
    wrong = np.arange(len(MARKS)) != best[:, None]
    kinds = {
        "inside the object": parallel & (at.mean(axis=-1) > 0) & wrong,
        "outside the object": parallel & (at.mean(axis=-1) < 0) & wrong,
        "leaning into the object": ~parallel & (at.mean(axis=-1) > 0) & wrong,
        "leaning out of the object": ~parallel & (at.mean(axis=-1) < 0) & wrong,
    }
    found = {name: first_of(which) for name, which in kinds.items()}
    again = {
        f"farther {name}": first_of(kinds[name] & (np.array(MARKS) != found[name][:, None]))
        for name in ("inside the object", "outside the object")
    }
    return found | again
