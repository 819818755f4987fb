"""L1/Motion/Ego: the point of photo 1 towards which the camera moves, its focus of expansion."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Point
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.distractors import offered_points
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import intervals
from templates.scene.marks import inside, known_pixels
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene, angle_between_rad
from templates.scene.shared_view import scene_distance
from templates.settings import MaxTolerances
from templates.template import Template

_MAX_TURN_RAD = np.radians(10.0)
"""A camera that turns by more between the photos makes the picture flow elsewhere."""
_MIN_TRAVEL = 0.05
"""Least translation that is seen, as a share of the distance of what photo 1 shows."""
_NEAR, _FAR = 0.06, 0.16
"""Least and largest tolerance of a choice, as shares of the diagonal. Wrong points are twice as far from the right one,
and twice the least from each other."""
_SIGMAS = 3.1
"""A pixel whose error has this σ per axis lies within so many of them in 99.2 % of cases."""
_NO_DISTANCE, _LITTLE = "the distance of the scene is not known", "the camera moves too little"
_POINTS = 4
_TRIES = 8
"""Pairs of photos that are drawn for each one that is asked for: often the camera does not move towards the picture."""


@dataclass(frozen=True, kw_only=True)
class Headings(Facts):
    """Two photos in order of time."""

    frame: Int64[np.ndarray, "n"]
    frame_later: Int64[np.ndarray, "n"]
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photos."""
    looks_px: Float64[np.ndarray, "n 2"]
    """Where the camera of the later photo points, in the first one; NaN outside. A wrong point, as the next."""
    nearest_px: Float64[np.ndarray, "n 2"]
    """The nearest surface that the first photo shows; NaN if not known."""


@dataclass(frozen=True, kw_only=True)
class HeadingPoint(Template):
    """The pixel of photo 1 towards which the camera moves until photo 2, in full-size pixels."""

    name: str = "heading_point"
    version: str = "1"
    ability: str = "L1/Motion/Ego"
    formats: tuple[FormatName, ...] = ("choice", "point")
    facts: ClassVar[type[Facts]] = Headings
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_NO_DISTANCE, _LITTLE})
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Headings:
        """Random pairs of photos; first those between which the camera moves towards something in the picture."""
        pairs = intervals(scene, rng, _TRIES * count, 2)
        seen = _at(pairs, scene)
        good = self.measure(seen, scene).why == ""
        facts = seen.take(np.concatenate([np.flatnonzero(good), np.flatnonzero(~good)])[:count])
        return _with_decoys(facts, scene)

    def measure(self, facts: Headings, scene: Scene) -> Measured:
        """The epipole. σ of the direction, over the cosine of its angle to the optical axis: twice along the radius."""
        pairs = np.column_stack([facts.frame, facts.frame_later])
        offset = offsets(scene, pairs)
        first, later = (scene.world_from_cam(frames)[:, :3, :3] for frames in pairs.T)
        turn = angle_between_rad(first, later)
        xy_px, sigma_px = _pixel(scene, offset.direction, offset.sigma_rad)
        travel = offset.length / scene_distance(scene, facts.frame)
        with np.errstate(invalid="ignore"):
            cases = {
                POSITION_UNKNOWN: np.isnan(offset.length),
                "the camera turns too far between the photos": turn > _MAX_TURN_RAD,
                "the camera does not move towards anything in the picture": ~inside(scene.clip, xy_px),
                _NO_DISTANCE: np.isnan(travel),
                _LITTLE: travel < _MIN_TRAVEL,
            }
        return Measured(
            why=first_reason(len(facts), cases),
            value=xy_px,
            sigma=np.column_stack([sigma_px, sigma_px]),
            evidence={
                "direction_sigma_deg": np.degrees(offset.sigma_rad).round(2),
                "turn_deg": np.degrees(turn).round(1),
                "travel_over_distance": travel.round(3),
                "right_deg": np.degrees(np.arctan2(offset.direction[:, 0], offset.direction[:, 2])).round(1),
                "down_deg": np.degrees(np.arcsin(np.clip(offset.direction[:, 1], -1, 1))).round(1),
            },
        )

    def answer(self, format: FormatName, facts: Headings, measured: Measured) -> Answers:
        """The pixel. Tolerance: 2 % of the diagonal; for a choice, half the way to the nearest wrong point."""
        sigma, diagonal = measured.sigma.max(axis=1), np.hypot(*facts.size.T.astype(np.float64))
        if format == "choice":
            tolerance = np.clip(_SIGMAS * sigma, _NEAR * diagonal, _FAR * diagonal)
        else:
            tolerance = np.floor(self.max_tolerances.point_diagonal * diagonal)
        return Answers.of(Point(xy_px=measured.value, sigma_px=sigma, tolerance_px=tolerance), measured.why)

    def offer(self, format: FormatName, facts: Headings, answers: Answers, chance: Chance) -> Offer | None:
        """Four points of photo 1 in random order."""
        if format != "choice":
            return None
        right = answers.column(Point, "xy_px", np.full((len(facts), 2), np.nan))
        tolerance = answers.column(Point, "tolerance_px", np.full(len(facts), np.nan))
        spacing = 2 * np.column_stack([tolerance, np.fmin(tolerance, _NEAR * np.hypot(*facts.size.T))])
        last = facts.size - 1.0
        mirrored, flipped = right * [-1, 1] + last * [1, 0], right * [1, -1] + last * [0, 1]
        mistakes_px = {
            "middle of the photo": last / 2,
            "where the camera points at last": facts.looks_px,
            "nearest surface": facts.nearest_px,
            "mirrored left to right": mirrored,
            "mirrored top to bottom": flipped,
        }
        return offered_points(right, mistakes_px, spacing, facts.size, chance, _POINTS)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photo 1, with four numbered marks for a choice, and photo 2."""
        marks = {} if offer is None else {str(k): xy_px for k, xy_px in enumerate(offer.values(0), start=1)}
        media = (Photo.marked(fact["frame"], marks), Photo(frame=fact["frame_later"]))
        values = {} if offer else dict(zip(("width", "height"), fact["size"], strict=True))
        return Phrasing(media=media, values=values)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two photos."""
        frames = pictures.interval(rng, 2)
        if frames is None:
            return None
        size = [pictures.clip.width_px, pictures.clip.height_px]
        return {"frame": frames[0], "frame_later": frames[1], "size": size, "looks_px": None, "nearest_px": None}

    def placed(self, facts: Facts, scene: Scene) -> Facts:
        """As drawn: what is asked about is not drawn as a pixel."""
        return facts


def _at(pairs: Int64[np.ndarray, "n 2"], scene: Scene) -> Headings:
    """Facts without wrong points."""
    unknown = np.full((len(pairs), 2), np.nan)
    size = np.tile([scene.clip.width_px, scene.clip.height_px], (len(pairs), 1))
    return Headings(frame=pairs[:, 0], frame_later=pairs[:, 1], size=size, looks_px=unknown, nearest_px=unknown)


def _with_decoys(facts: Headings, scene: Scene) -> Headings:
    """Where the camera points at last, and the nearest surface."""
    first, later = (scene.world_from_cam(frames)[:, :3, :3] for frames in (facts.frame, facts.frame_later))
    ahead = np.einsum("nji,nj->ni", first, later[:, :, 2])
    looks, _ = _pixel(scene, ahead, np.zeros(len(facts)))
    nearest = {int(frame): _nearest_px(scene, int(frame)) for frame in np.unique(facts.frame)}
    nearest_px = np.array([nearest[frame] for frame in facts.frame.tolist()]).reshape(-1, 2)
    return replace(facts, looks_px=looks, nearest_px=nearest_px)


def _pixel(
    scene: Scene, direction: Float64[np.ndarray, "n 3"], sigma_rad: Float64[np.ndarray, "n"]
) -> tuple[Float64[np.ndarray, "n 2"], Float64[np.ndarray, "n"]]:
    """The pixels in which directions lie, and their σ; NaN for those behind the camera."""
    if scene.path is None:
        return np.full((len(direction), 2), np.nan), np.full(len(direction), np.nan)
    camera = scene.path.intrinsics
    with np.errstate(divide="ignore", invalid="ignore"):
        return camera.project(direction), max(camera.fx_px, camera.fy_px) * sigma_rad / direction[:, 2] ** 2


def _nearest_px(scene: Scene, frame: int) -> Float64[np.ndarray, "2"]:
    """The pixel of a frame with the nearest surface; NaN where none is known."""
    xy_px = known_pixels(scene, frame)
    xy_px = xy_px[inside(scene.clip, xy_px)]
    ranges = scene.surface(frame, xy_px).range
    known = np.isfinite(ranges)
    return xy_px[known][ranges[known].argmin()].round(1) if known.any() else np.full(2, np.nan)
