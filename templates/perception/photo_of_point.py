"""L1/Relation/Correspondence: in which of four other photos is a marked point seen?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.correspondence import corresponding_points
from templates.scene.intervals import places
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, inside, spaced
from templates.scene.out_of_view import out_of_view
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.template import Template
from templates.unanswerable import UNDETERMINED

_OTHERS = ("2", "3", "4", "5")
_WRONG = len(_OTHERS) - 1
_PLACES = 20
"""Frames of the path among which the photos that do not show the point are chosen."""
_MATCHES_PER_PAIR = 20
"""Most of them do not leave three other photos."""
_TRIED = 4
"""Matches tried for each fact that is proposed."""
_MIN_DISTANCE = 0.05
"""Least distance between points of one pair of photos, as a share of the diagonal."""
_OUTSIDE = 0.03
"""Least distance of the point from the edge of a photo that does not show it, as a share of the diagonal."""
_SURE = 3.0
"""Least distance from it in σ at which a fact is proposed."""
_BY_SHARE = (
    "shows most of what photo 1 shows",
    "shows less of what photo 1 shows",
    "shows least of what photo 1 shows",
)
"""The photos that do not show the point, by the share of photo 1 that they show."""


@dataclass(frozen=True, kw_only=True)
class PointAndPhotos(Facts):
    """A point of photo a, and four other photos."""

    frame_a: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]
    frames_others: Int64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class PhotoOfPoint(Template):
    """The only one of four photos that shows a point marked in photo 1; the point is proven to lie outside the others.
    Measures its pixel in that photo."""

    name: str = "photo_of_point"
    version: str = "2"
    ability: str = "L1/Relation/Correspondence"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = PointAndPhotos
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _OTHERS}
    needs: frozenset[str] = frozenset({"matches", "camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "matches", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointAndPhotos:
        """Confirmed matches, each with the three photos that show most of photo 1 but not the point, and with any
        three. First those of which one shows more of photo 1 than the photo with the point does."""
        frame_a, a_px, frame_b = _some_matches(scene, rng, count)
        others = places(scene, _PLACES)
        if not len(frame_a) or len(others) < len(_OTHERS):
            return PointAndPhotos.none()
        away = _all_out_of_view(scene, frame_a, a_px, others)
        away &= (others != frame_a[:, None]) & (others != frame_b[:, None])
        known = np.unique(np.concatenate([frame_a, frame_b, others]))
        share, a = shared_views(scene, known).share, np.searchsorted(known, frame_a)
        shown = share[a[:, None], np.searchsorted(known, others)]
        by_share, by_chance = (
            np.argsort(np.where(away, -key, np.inf), axis=1) for key in (shown, rng.random(away.shape))
        )
        enough = away.sum(axis=1)
        match = np.concatenate([np.flatnonzero(enough >= _WRONG), np.flatnonzero(enough > _WRONG)])
        chosen = np.concatenate([by_share[enough >= _WRONG], by_chance[enough > _WRONG]])[:, :_WRONG]
        alike = shown[match[:, None], chosen].max(axis=1) > share[a, np.searchsorted(known, frame_b)][match]
        rows = np.argsort(~alike, kind="stable")[:count]
        photos = rng.permuted(np.column_stack([frame_b[match], others[chosen]])[rows], axis=1)
        return PointAndPhotos(frame_a=frame_a[match[rows]], a_px=a_px[match[rows]], frames_others=photos)

    def measure(self, facts: PointAndPhotos, scene: Scene) -> Measured:
        """By a confirmed match or dense depth, and by the edges of the other photos.

        The margin is the least distance from any edge, in σ: from inside in one photo, from outside in the others.
        """
        count, choices = len(facts), len(_OTHERS)
        a, a_px = np.repeat(facts.frame_a, choices), np.repeat(facts.a_px, choices, axis=0)
        points = corresponding_points(scene, a, a_px, facts.frames_others.ravel())
        assert points.label is not None and points.margin is not None
        outside = (points.why == "") & (points.label == UNDETERMINED)
        outside_px = np.asarray(points.evidence.get("outside_px", np.full(len(a), np.nan)))
        away = (outside & (outside_px >= _OUTSIDE * scene.diagonal_px)).reshape(count, choices)
        seen = ((points.why == "") & ~outside & inside(scene.clip, points.value)).reshape(count, choices)
        sigma = points.sigma.max(axis=1)
        margin = np.where(outside, points.margin, _inside_px(scene, points.value) / sigma).reshape(count, choices)
        right = seen.argmax(axis=1)
        rows = np.arange(count) * choices + right
        cases = {
            "a photo may or may not show the point": ~(away | seen).all(axis=1),
            "no photo shows the point": ~seen.any(axis=1),
            "several photos show the point": seen.sum(axis=1) > 1,
        }
        labels = np.array(_OTHERS)
        return Measured(
            why=first_reason(count, cases),
            value=points.value[rows],
            sigma=points.sigma[rows],
            label=labels[right],
            margin=margin.min(axis=1),
            outlier_probability=_either(points.outliers.reshape(count, choices), seen),
            evidence={"outside_px": np.where(away, outside_px.reshape(count, choices), np.inf).min(axis=1)},
            traps=dict(zip(_BY_SHARE, labels[_wrong_by_share(scene, facts, right)].T, strict=True)),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Five photos; the first has the mark."""
        others = tuple(Photo(frame=frame) for frame in fact["frames_others"])
        return Phrasing(media=(Photo.marked(fact["frame_a"], {"P": fact["a_px"]}), *others))


def _some_matches(
    scene: Scene, rng: np.random.Generator, count: int
) -> tuple[Int64[np.ndarray, "m"], Float64[np.ndarray, "m 2"], Int64[np.ndarray, "m"]]:
    """Confirmed matches to try: frame and pixel, and the other frame."""
    matches, chosen = scene.matches, []
    if matches is None:
        return np.empty(0, dtype=np.int64), np.empty((0, 2)), np.empty(0, dtype=np.int64)
    sure = (matches.outlier_probability < MAX_OUTLIER_PROBABILITY) & inside(scene.clip, matches.xy_a_px)
    sure &= inside(scene.clip, matches.xy_b_px)
    for k in rng.permutation(len(matches.pairs)):
        rows = rng.permutation(np.flatnonzero(sure & (matches.pair == k)))
        chosen += spaced(rows, matches.xy_a_px, _MIN_DISTANCE * scene.diagonal_px, _MATCHES_PER_PAIR)
        if len(chosen) >= _TRIED * count:
            break
    a, b = matches.pairs[matches.pair[chosen]].T
    return a, matches.xy_a_px[chosen].round(1), b


def _all_out_of_view(
    scene: Scene, frame_a: Int64[np.ndarray, "m"], a_px: Float64[np.ndarray, "m 2"], others: Int64[np.ndarray, "f"]
) -> Bool[np.ndarray, "m f"]:
    """Whether each point certainly lies outside each of the other photos."""
    shape = (len(frame_a), len(others))
    each = out_of_view(
        scene, np.repeat(frame_a, shape[1]), np.repeat(a_px, shape[1], axis=0), np.tile(others, shape[0])
    )
    far = np.asarray(each.evidence.get("outside_px", np.full(len(each), np.nan))) >= _OUTSIDE * scene.diagonal_px
    assert each.margin is not None
    sure = (each.why == "") & (each.outliers < MAX_OUTLIER_PROBABILITY) & (each.margin >= _SURE)
    return (sure & far).reshape(shape)


def _inside_px(scene: Scene, xy_px: Float64[np.ndarray, "k 2"]) -> Float64[np.ndarray, "k"]:
    """Distance of pixels from the nearest edge of the photo."""
    last = np.array([scene.clip.width_px - 1, scene.clip.height_px - 1])
    return np.asarray(np.minimum(xy_px, last - xy_px).min(axis=1))


def _either(outliers: Float64[np.ndarray, "n 4"], seen: Bool[np.ndarray, "n 4"]) -> Float64[np.ndarray, "n"]:
    """Probability that the match, or the range by which the other photos are ruled out, is an outlier."""
    match, away = (np.where(which, outliers, 0.0).max(axis=1) for which in (seen, ~seen))
    return np.asarray(1 - (1 - match) * (1 - away))


def _wrong_by_share(scene: Scene, facts: PointAndPhotos, right: Int64[np.ndarray, "n"]) -> Int64[np.ndarray, "n 3"]:
    """The photos without the point, from the one that shows most of photo 1 to the one that shows least."""
    known = np.unique(np.column_stack([facts.frame_a, facts.frames_others]))
    a, others = (np.searchsorted(known, frames) for frames in (facts.frame_a, facts.frames_others))
    share = shared_views(scene, known).share[a[:, None], others] if len(known) else np.empty((0, len(_OTHERS)))
    share[np.arange(len(right)), right] = -1.0
    return np.argsort(-share, axis=1, kind="stable")[:, :-1]
