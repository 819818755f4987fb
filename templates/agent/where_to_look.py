"""L4/Open-world Exploration/Knowledge Acquisition: which turn of the camera shows what its photo does not?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import on_mover
from templates.scene.intervals import places
from templates.scene.marks import markable
from templates.scene.misleading import taking_turns
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.scene.view_edges import inside_view_rad
from templates.template import Template

_PLACES = 20
_MIN_SHARE = 0.2
"""Least share of each photo that the other one shows: with less, nobody sees how they lie to each other."""
_CLEAR_RAD = np.radians(5.0)
"""By so much the marked point is in view after the right turn, and out of it before and after every other one."""
_TRIED = 60
"""Points and turns that are looked at for each that is asked for."""
_ONE_SIZE_DEG = (20, 25, 30, 35, 40, 45, 50, 60)
"""Angles of turns to all four sides, ..."""
_TWO_SIZES_DEG = ((15, 50), (20, 60), (25, 75), (30, 90), (40, 110), (15, 80), (30, 120))
"""... and of small and large ones to two sides."""
_SIDES = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}
"""Signs of pan and tilt."""


@dataclass(frozen=True, kw_only=True)
class Turns(Facts):
    """A point that one photo does not show and another one does, and four turns."""

    frame: Int64[np.ndarray, "n"]
    """The photo from which the camera turns."""
    frame_shown: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    """In the photo that shows it."""
    pan_deg: Float64[np.ndarray, "n 4"]
    """To the right; negative to the left."""
    tilt_deg: Float64[np.ndarray, "n 4"]
    """Up; negative down."""


@dataclass(frozen=True, kw_only=True)
class WhereToLook(Template):
    """The turn that shows a point which photo 2 shows and photo 1 does not. Measures by how many degrees the point is
    in view before, and after each turn; negative out of view."""

    name: str = "where_to_look"
    version: str = "1"
    ability: str = "L4/Open-world Exploration/Knowledge Acquisition"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Turns
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Turns:
        """Pairs of frames that share part of their views, with points and turns; the answers take turns, and so do
        four sides and two sizes."""
        frames = places(scene, _PLACES)
        mutual = shared_views(scene, frames).share >= _MIN_SHARE
        frame_shown, xy = markable(scene, frames.tolist())
        pairs = np.argwhere(mutual & mutual.T & ~np.eye(len(frames), dtype=bool))
        if not len(pairs) or not len(xy):
            return Turns.none()
        a, b = frames[pairs[rng.integers(len(pairs), size=_TRIED * count)]].T
        first, end = (np.searchsorted(frame_shown, b, side) for side in ("left", "right"))
        row = np.minimum(rng.integers(first, np.maximum(end, first + 1)), len(xy) - 1)
        pan, tilt = _turns(rng, len(row))
        facts = Turns(frame=a, frame_shown=b, point_px=xy[row], pan_deg=pan, tilt_deg=tilt).take(end > first)
        found = self.measure(facts, scene)
        assert found.label is not None and found.margin is not None
        rows = np.flatnonzero((found.why == "") & (found.margin >= 3.0))
        right = (_names(facts) == found.label[:, None]).argmax(axis=1)
        side, four = _sides(facts)[np.arange(len(facts)), right], facts.tilt_deg.any(axis=1)
        kind = np.char.add(side, np.where(four, " of four", " of two"))[rows]
        return facts.take(rng.permutation(rows[taking_turns(kind)][:count]))

    def measure(self, facts: Turns, scene: Scene) -> Measured:
        """σ of the direction of the point from photo 1 = rotation ⊕ (offset ⊕ range of the point) over its distance."""
        frames = np.column_stack([facts.frame, facts.frame_shown])
        poses, seen = scene.world_from_cam(frames), scene.surface(facts.frame_shown, facts.point_px)
        world = np.einsum("nij,nj->ni", poses[:, 1, :3, :3], seen.xyz_cam) + poses[:, 1, :3, 3] - poses[:, 0, :3, 3]
        direction = np.einsum("nji,nj->ni", poses[:, 0, :3, :3], world)
        offset, distance = offsets(scene, frames), np.linalg.norm(direction, axis=1)
        moved = offset.shift_sigma
        with np.errstate(invalid="ignore", divide="ignore"):
            parallax = np.hypot(moved, seen.range_relative_sigma * seen.range) / distance
            sigma = np.hypot(scene.relative_rotation_sigma_rad(frames), parallax)
        inside = _inside(scene, facts, direction)
        shown = inside > 0
        right = inside[:, 1:].argmax(axis=1)
        sure = np.where(np.arange(5) == 1 + right[:, None], inside, -inside)
        cases = {
            POSITION_UNKNOWN: np.isnan(poses).any(axis=(1, 2, 3)),
            "point not triangulated": ~np.isfinite(direction + sigma[:, None]).all(axis=1),
            "a marked point moves": on_mover(scene, facts.frame_shown, facts.point_px),
            "photo 1 may show the point": ~(inside[:, 0] <= -_CLEAR_RAD),
            "not exactly one turn shows the point": shown[:, 1:].sum(axis=1) != 1,
            "the point is too near to the edge of the view": (sure < _CLEAR_RAD).any(axis=1),
        }
        names = _names(facts)
        label = np.take_along_axis(names, right[:, None], axis=1)[:, 0]
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.degrees(inside),
            sigma=np.repeat(np.degrees(sigma)[:, None], 5, axis=1),
            label=label,
            margin=margin_of_all(sure, np.repeat(sigma[:, None], 5, axis=1)),
            outlier_probability=seen.outlier_probability,
            evidence={"inside_deg": np.degrees(inside).round(1), "turns": names},
            traps={"takes the side on which photo 2 shows it": _side_in_photo(scene, facts, names, right)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The turn."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Turns, answers: Answers, chance: Chance) -> Offer:
        """The right turn, and the three others of the fact."""
        names, labels = _names(facts), answers.labels()
        right = (names == labels[:, None]).argmax(axis=1)[:, None]
        order = np.argsort(np.arange(4) != right, axis=1, kind="stable")
        pan, tilt = (np.take_along_axis(each, order, axis=1) for each in (facts.pan_deg, facts.tilt_deg))
        same_side = (np.sign(pan) == np.sign(pan[:, :1])) & (np.sign(tilt) == np.sign(tilt[:, :1]))
        opposite = (np.sign(pan) == -np.sign(pan[:, :1])) & (np.sign(tilt) == -np.sign(tilt[:, :1]))
        mistakes = np.where(
            opposite, "opposite direction", np.where(same_side, "too far or not far enough", "another axis")
        )
        mistakes[:, 0] = ""
        return Offer.first_right(np.take_along_axis(names, order, axis=1), mistakes=mistakes)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photo 1 as it is, photo 2 with the mark."""
        assert offer is not None
        media = (Photo(frame=fact["frame"]), Photo.marked(fact["frame_shown"], {"P": fact["point_px"]}))
        texts = []
        for name in offer.values(0):
            side, angle = name.split()
            texts.append(f"{'Tilt' if side in ('up', 'down') else 'Turn'} {side} by {angle}°")
        return Phrasing(media=media, options=tuple(texts))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """A marked corner, another frame, and four turns."""
        drawn = pictures.points(rng, 1)
        if drawn is None or len(pictures.clip.frames) < 2:
            return None
        pan, tilt = _turns(rng, 1)
        return {
            "frame": pictures.other_frame(drawn[0], rng),
            "frame_shown": drawn[0],
            "point_px": drawn[1][0],
            "pan_deg": pan[0].tolist(),
            "tilt_deg": tilt[0].tolist(),
        }


def _turns(rng: np.random.Generator, count: int) -> tuple[Float64[np.ndarray, "n 4"], Float64[np.ndarray, "n 4"]]:
    """Pan and tilt: to all four sides by one angle, or to two by two angles."""
    every = rng.choice(_ONE_SIZE_DEG, (count, 1)) * np.array([*_SIDES.values()], dtype=float).T[:, None]
    small, large = np.array(_TWO_SIZES_DEG, dtype=float)[rng.integers(len(_TWO_SIZES_DEG), size=count)].T
    two = np.column_stack([-small, small, -large, large])
    four = rng.integers(2, size=(count, 1)) == 0
    return np.where(four, every[0], two), np.where(four, every[1], 0.0)


def _inside(scene: Scene, facts: Turns, direction: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 5"]:
    """By how much the direction is in view before any turn, and after each."""
    if scene.path is None:
        return np.full((len(facts), 5), np.nan)
    pan, tilt = (np.insert(each, 0, 0.0, axis=1) for each in (facts.pan_deg, facts.tilt_deg))
    angles = np.stack([pan, tilt], axis=-1).reshape(-1, 2)
    turns = Rotation.from_euler("YX", angles, degrees=True).as_matrix().reshape(*pan.shape, 3, 3)
    return inside_view_rad(scene.path.intrinsics, np.einsum("nkji,nj->nki", turns, direction))


def _sides(facts: Turns) -> np.ndarray:
    pan = np.where(facts.pan_deg < 0, "left", "right")
    return np.where(facts.tilt_deg > 0, "up", np.where(facts.tilt_deg < 0, "down", pan))


def _names(facts: Turns) -> np.ndarray:
    """Of the four turns: "left 30"."""
    angle = np.abs(facts.pan_deg + facts.tilt_deg).astype(np.int64).astype(np.str_)
    return np.char.add(np.char.add(_sides(facts), " "), angle)


def _side_in_photo(scene: Scene, facts: Turns, names: np.ndarray, right: Int64[np.ndarray, "n"]) -> Texts:
    """The turn to the half of photo 2 in which the point is, by as much as the right one; "" where there is none."""
    angle = np.abs(facts.pan_deg + facts.tilt_deg)
    side = np.where(facts.point_px[:, 0] < scene.clip.width_px / 2, "left", "right")
    same = (angle == np.take_along_axis(angle, right[:, None], axis=1)) & (_sides(facts) == side[:, None])
    wanted = np.take_along_axis(names, same.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(same.any(axis=1), wanted, "")
