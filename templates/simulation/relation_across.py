"""L3/Causal Reasoning/Relation: how two points lie to each other that no photo shows together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Columns, Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.compared import AXES, VISIBLE_RISE, in_words
from templates.scene.elsewhere import Elsewhere, elsewhere, on_mover
from templates.scene.intervals import places
from templates.scene.marks import Frame, markable
from templates.scene.misleading import mixed
from templates.scene.past_edge import beyond_rad, in_axes_of
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.scene.surface import Surface
from templates.template import Template

_PLACES = 14
_TRIED = 150
"""Pairs of points that are drawn for each that is asked for."""
_ASIDE_RAD, _MOST_ASIDE_RAD = np.radians(15), np.radians(140)
"""Least and largest angle by which the second point lies to the left or right of the first one."""
_LOG_RANGE = np.log(1.3)
"""Least |ln| of the ratio of two distances."""
_OUTSIDE_RAD = np.radians(2)
"""Least angle between a point and the photo that does not show it."""
_CLAIMS = dict(
    zip(
        [word for words in AXES for word in words],
        ("to the left of", "to the right of", "higher than", "lower than", "nearer than", "farther away than"),
        strict=True,
    )
)
"""Statements in sentences."""
_OTHER_FORMAT = "asked in the other format"


@dataclass(frozen=True, kw_only=True)
class PointsApart(Facts):
    """A point of each of two photos, and what is said of the second as compared with the first: three statements, one
    of which is true, or a single one."""

    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    frame_other: Int64[np.ndarray, "n"]
    other_px: Float64[np.ndarray, "n 2"]
    sideways: Texts
    height: Texts
    distance: Texts
    """ "" where nothing is said of it."""

    @property
    def said(self) -> np.ndarray:
        """The statements: (n, 3)."""
        return np.column_stack([self.sideways, self.height, self.distance]).astype(np.str_)

    @property
    def is_single(self) -> Bool[np.ndarray, "n"]:
        """Whether only one thing is said."""
        return np.asarray((self.said != "").sum(axis=1) == 1)


@dataclass(frozen=True, kw_only=True)
class _Across(Columns):
    """How the second of two points differs from the first, along each of `AXES`."""

    value: Float64[np.ndarray, "n 3"]
    """> 0: the second of the two words holds: the angle to the right; how much lower, as a share of the larger
    distance; ln of the ratio of the distances."""
    sigma: Float64[np.ndarray, "n 3"]
    beyond: Float64[np.ndarray, "n 2"]
    """By what angle the photos do not show the point of the other one, ..."""
    beyond_sigma: Float64[np.ndarray, "n 2"]
    """... and its σ."""


@dataclass(frozen=True, kw_only=True)
class RelationAcross(Template):
    """Where a point of photo 2 lies as compared with one of photo 1, for the camera of photo 1. Measures the angle to
    the right (rad), how much lower it lies (of the larger distance), and ln of the ratio of their distances."""

    name: str = "relation_across"
    version: str = "1"
    ability: str = "L3/Causal Reasoning/Relation"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = PointsApart
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity", "image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointsApart:
        """Points of photos that share their view, each out of view of the other photo; half of the facts are single
        statements, half of these true. About half the photos, side by side, mislead."""
        frame, point_px, other, other_px = _drawn(scene, rng, _TRIED * count)
        nothing = np.full(len(frame), "", dtype="<U12")
        facts = PointsApart(
            frame=frame, point_px=point_px, frame_other=other, other_px=other_px,
            sideways=nothing, height=nothing, distance=nothing,
        )  # fmt: skip
        across, _, _ = _across(scene, facts)
        true, false = in_words(across.value > 0), in_words(~(across.value > 0))
        single = rng.random(len(facts)) < 0.5
        axis = rng.integers(len(AXES), size=len(facts))[:, None] == np.arange(len(AXES))
        right = rng.random(len(facts)) < 0.5
        said = np.where(axis & (~single | right)[:, None], true, false)
        said = np.where(single[:, None] & ~axis, "", said)
        facts = PointsApart(
            frame=frame, point_px=point_px, frame_other=other, other_px=other_px,
            sideways=said[:, 0], height=said[:, 1], distance=said[:, 2],
        )  # fmt: skip
        measured = self.measure(facts, scene)
        known = measured.why == ""
        misled = ((in_words(_pictured(facts)) == said) != (true == said)).any(axis=1)
        facts, measured, misled = facts.take(known), measured.take(known), misled[known]
        half = (count + 1) // 2
        each = [mixed(misled, [self.answer(format, facts, measured)], half, rng) for format in self.formats]
        return facts.take(rng.permutation(np.concatenate(each))[:count])

    def measure(self, facts: PointsApart, scene: Scene) -> Measured:
        """The true statement, or whether the only one is true; σ from both places, both poses and gravity."""
        across, outliers, moves = _across(scene, facts)
        said, single = facts.said, facts.is_single
        about, true = said != "", in_words(across.value > 0)
        least = np.array([_ASIDE_RAD, VISIBLE_RISE, _LOG_RANGE])
        clear = np.abs(across.value) >= least
        clear[:, 0] &= np.abs(across.value[:, 0]) <= _MOST_ASIDE_RAD
        right = about & (said == true)
        cases = {
            "the place of a point, or up, is not known": ~np.isfinite(across.value + across.sigma).all(axis=1),
            "a marked point moves": moves,
            "a photo may show both points": ~(across.beyond >= _OUTSIDE_RAD).all(axis=1),
            "the points are about equally far to the side": (about & ~clear)[:, 0],
            "the points are about equally high": (about & ~clear)[:, 1],
            "the points are about equally far": (about & ~clear)[:, 2],
            "more or less than one statement is true": ~single & (right.sum(axis=1) != 1),
        }
        row = np.arange(len(facts))
        one = said[row, right.argmax(axis=1)]
        steps = np.column_stack([np.where(about, np.abs(across.value), 1.0), across.beyond])
        spread = np.column_stack([np.where(about, across.sigma, 1e-9), across.beyond_sigma])
        return Measured(
            why=first_reason(len(facts), cases),
            value=across.value,
            sigma=across.sigma,
            label=np.where(single, np.where(right.any(axis=1), "yes", "no"), one),
            margin=margin_of_all(steps, spread),
            outlier_probability=outliers,
            evidence={name: across.value[:, k].round(3) for k, name in enumerate(("right", "lower", "farther"))},
            traps={
                "as the photos lie side by side": _mistaken(in_words(_pictured(facts)), said, single, right),
                "seen from the camera of photo 2": _mistaken(
                    in_words(_from_other(scene, facts) > 0), said, single, right
                ),
            },
        )

    def answer(self, format: FormatName, facts: PointsApart, measured: Measured) -> Answers:
        """The statement; or yes or no."""
        other = facts.is_single != (format == "yes_no")
        return Answers.of(measured.as_label(), np.where(other, _OTHER_FORMAT, ""))

    def offer(self, format: FormatName, facts: PointsApart, answers: Answers, chance: Chance) -> Offer | None:
        """The three statements."""
        if format != "choice":
            return None
        right = facts.said == answers.labels()[:, None]
        why = np.where(right.any(axis=1), "", "the answer is none of the options")
        return Offer(why=why, options=facts.said, right=right.argmax(axis=1))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos with a point each."""
        marked = {"P": (fact["frame"], fact["point_px"]), "Q": (fact["frame_other"], fact["other_px"])}
        media = tuple(Photo.marked(frame, {letter: xy_px}) for letter, (frame, xy_px) in marked.items())
        if format == "choice":
            return Phrasing(media=media)
        (claim,) = (fact[name] for name in ("sideways", "height", "distance") if fact[name])
        return Phrasing(media=media, values={"claim": _CLAIMS[claim]})

    def placed(self, facts: PointsApart, scene: Scene) -> Facts:
        """As they are: what is said of the points would no longer be so."""
        return facts


def _mistaken(words: np.ndarray, said: np.ndarray, single: Bool[np.ndarray, "n"], right: np.ndarray) -> Texts:
    """What is answered by someone to whom these words seem true."""
    agrees = (words == said) & (said != "")
    wrong = agrees & ~right
    chosen = np.where(wrong.any(axis=1), said[np.arange(len(said)), wrong.argmax(axis=1)], "")
    return np.where(single, np.where(agrees.any(axis=1), "yes", "no"), chosen)


def _pictured(facts: PointsApart) -> Bool[np.ndarray, "n 3"]:
    """The second words as the pixels of both photos suggest them: what is lower in a photo is lower and nearer."""
    right, lower = (facts.other_px - facts.point_px > 0).T
    return np.column_stack([right, lower, ~lower])


def _from_other(scene: Scene, facts: PointsApart) -> Float64[np.ndarray, "n 3"]:
    """The differences for the camera of photo 2."""
    a, b = scene.surface(facts.frame, facts.point_px), scene.surface(facts.frame_other, facts.other_px)
    first, second = (
        _seen(scene, frame, facts.frame_other, surface) for frame, surface in ((facts.frame, a), (facts.frame_other, b))
    )
    return _differences(first, second)


def _seen(scene: Scene, frame: Frame, seen_from: Frame, surface: Surface, *, level: bool = True) -> Elsewhere:
    range_sigma = surface.range * surface.range_relative_sigma
    return elsewhere(scene, frame, seen_from, surface.xyz_cam, 0 * range_sigma, range_sigma, level=level)


def _differences(first: Elsewhere, second: Elsewhere) -> Float64[np.ndarray, "n 3"]:
    """As `_Across.value`, for the camera to which both belong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        length, other = (each.ground / np.cos(each.elevation_rad) for each in (first, second))
        lower = first.ground * np.tan(first.elevation_rad) - second.ground * np.tan(second.elevation_rad)
        to_right = (second.azimuth_rad - first.azimuth_rad + np.pi) % (2 * np.pi) - np.pi
        return np.column_stack([to_right, lower / np.fmax(length, other), np.log(other / length)])


def _across(scene: Scene, facts: PointsApart) -> tuple[_Across, Float64[np.ndarray, "n"], Bool[np.ndarray, "n"]]:
    """The differences for the camera of photo 1; the outlier probability of both points; whether one moves."""
    if scene.path is None:
        nan = np.full((len(facts), 3), np.nan)
        unknown = _Across(value=nan, sigma=nan, beyond=nan[:, :2], beyond_sigma=nan[:, :2])
        return unknown, nan[:, 0], np.zeros(len(facts), dtype=bool)
    frame, other = facts.frame, facts.frame_other
    a, b = scene.surface(frame, facts.point_px), scene.surface(other, facts.other_px)
    first, second = _seen(scene, frame, frame, a), _seen(scene, other, frame, b)
    up_sigma = scene.up_cam(frame)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = [each.ground / np.cos(each.elevation_rad) for each in (first, second)]
        larger = np.fmax(*lengths)
        own_height = a.range * a.range_relative_sigma * np.sin(first.elevation_rad)
        apart = first.ground + second.ground
        sigma = np.column_stack(
            [
                np.hypot(first.sigma_rad, second.sigma_rad),
                np.sqrt(second.place_sigma**2 + own_height**2 + (apart * up_sigma) ** 2) / larger,
                np.hypot(a.range_relative_sigma, second.place_sigma / lengths[1]),
            ]
        )
    ways = in_axes_of(scene, frame, other, b.xyz_cam[:, None]), in_axes_of(scene, other, frame, a.xyz_cam[:, None])
    spread = [
        _seen(scene, *pair, surface, level=False).from_axis_sigma_rad
        for pair, surface in (((other, frame), b), ((frame, other), a))
    ]
    found = _Across(
        value=_differences(first, second),
        sigma=sigma,
        beyond=np.column_stack([beyond_rad(scene, each) for each in ways]),
        beyond_sigma=np.column_stack(spread),
    )
    doubt = 1 - (1 - a.outlier_probability) * (1 - b.outlier_probability)
    return found, doubt, on_mover(scene, frame, facts.point_px) | on_mover(scene, other, facts.other_px)


def _drawn(
    scene: Scene, rng: np.random.Generator, count: int
) -> tuple[Int64[np.ndarray, "n"], Float64[np.ndarray, "n 2"], Int64[np.ndarray, "n"], Float64[np.ndarray, "n 2"]]:
    """Random markable points of two photos that share their view, each out of view of the other one."""
    frames = places(scene, _PLACES)
    frame, xy = markable(scene, frames.tolist())
    mutual = shared_views(scene, frames).mutual & ~np.eye(len(frames), dtype=bool)
    if scene.path is None or len(frame) < 2 or not mutual.any():
        return np.empty(0, dtype=np.int64), np.empty((0, 2)), np.empty(0, dtype=np.int64), np.empty((0, 2))
    a, b = rng.integers(len(frame), size=(2, count))
    near = mutual[np.searchsorted(frames, frame[a]), np.searchsorted(frames, frame[b])]
    a, b = a[near], b[near]
    hidden = np.ones(len(a), dtype=bool)
    for one, other in ((a, b), (b, a)):
        seen = scene.surface(frame[one], xy[one]).xyz_cam[:, None]
        with np.errstate(invalid="ignore"):
            hidden &= beyond_rad(scene, in_axes_of(scene, frame[other], frame[one], seen)) >= _OUTSIDE_RAD
    a, b = a[hidden], b[hidden]
    return frame[a], xy[a], frame[b], xy[b]
