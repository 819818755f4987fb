"""L1/Relation: the same point in another photo, and where one photo's place lies seen from another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from templates.abstention import OPTION, abstains
from templates.answer import Answer, Label, Numbers, Point
from templates.correspondence import corresponding_point
from templates.distractors import point_distractors
from templates.fact import Fact
from templates.marks import listed, spread_frames
from templates.measured import Measured, Undecided
from templates.out_of_view import pixels_left_out
from templates.question import Format, Mark, Photo, Phrasing
from templates.scene import Scene, inside
from templates.settings import Caps

_MATCHES_PER_PAIR = 3
_MIN_APART = 0.08
_BORDER = 0.06
_OUTSIDE = 0.06
"""A point that photo 2 leaves out lies so far outside, of the diagonal: as far as wrong points from the right one."""
_ASKED_BETWEEN = 4
"""After so many facts that can be answered one that cannot: more than the balance keeps of those that are asked."""
_PLACES = 14
_MAX_ELEVATION_RAD = np.radians(35)
"""Beyond this a place lies above or below rather than in a direction on the ground plane of the photo."""
_MAY_BE_OUTSIDE = " If photo 2 does not show it, that cannot be determined."
DIRECTIONS = (
    "ahead",
    "ahead and to the right",
    "to the right",
    "behind and to the right",
    "behind",
    "behind and to the left",
    "to the left",
    "ahead and to the left",
)
"""Clockwise from straight ahead, 45° each."""


@dataclass(frozen=True, kw_only=True)
class SamePoint:
    """Where a marked point of photo 1 lies in photo 2. Measures its pixel there, or that it lies outside."""

    name: str = "same_point"
    version: str = "1"
    ability: str = "L1/Relation/Correspondence"
    formats: tuple[Format, ...] = ("choice", "point")
    needs: frozenset[str] = frozenset({"matches"})
    reads: frozenset[str] = frozenset({"matches", "camera_path", "sparse_points", "depth", "tracks", "image_tracks"})
    number_names: tuple[str, ...] = ()
    caps: Caps = field(default_factory=Caps)
    abstention: bool = False
    """Whether choices have the option that it cannot be determined, and points that photo 2 leaves out are asked."""

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Confirmed matches of every pair of frames, apart from each other and from the frame's edges; among them, with
        `abstention`, points that photo 2 of a matched pair leaves out, and a point ("decoy") that it shows instead."""
        matches = scene.matches
        if matches is None:
            return []
        good = (matches.p_gross < 0.01) & inside(scene.clip, matches.xy_a_px, _BORDER)
        good &= inside(scene.clip, matches.xy_b_px, _BORDER)
        facts = []
        for pair in rng.permutation(len(matches.pairs)):
            rows = rng.permutation(np.flatnonzero(good & (matches.pair == pair)))
            for row in _thin(rows, matches.xy_a_px, _MIN_APART * scene.diagonal_px, _MATCHES_PER_PAIR):
                frame_a, frame_b = (int(f) for f in matches.pairs[pair])
                params = {
                    "frame_a": frame_a,
                    "xy_a": listed(matches.xy_a_px[row]),
                    "frame_b": frame_b,
                    "size": [scene.clip.width_px, scene.clip.height_px],
                }
                facts.append(Fact(template=self.name, params=params))
        return _mixed(facts, self._left_out(scene, good, rng)) if self.abstention else facts

    def _left_out(self, scene: Scene, good: np.ndarray, rng: np.random.Generator) -> list[Fact]:
        """Of photos that are matched, as those that can be answered are: the pair gives nothing away."""
        assert scene.matches is not None
        matches, facts = scene.matches, []
        for pair in rng.permutation(len(matches.pairs)):
            shown = np.flatnonzero(good & (matches.pair == pair))
            frame_a, frame_b = (int(f) for f in matches.pairs[pair])
            xy = pixels_left_out(scene, frame_a, frame_b, _OUTSIDE * scene.diagonal_px) if len(shown) else np.empty(0)
            for row in _thin(rng.permutation(len(xy)), xy, _MIN_APART * scene.diagonal_px, _MATCHES_PER_PAIR):
                params = {
                    "frame_a": frame_a,
                    "xy_a": listed(xy[row]),
                    "frame_b": frame_b,
                    "size": [scene.clip.width_px, scene.clip.height_px],
                    "decoy": listed(matches.xy_b_px[rng.choice(shown)]),
                }
                facts.append(Fact(template=self.name, params=params))
        return facts

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """The pixel in photo 2, by confirmed matches or by dense geometry; a label where it is outside the photo."""
        return [
            corresponding_point(
                scene, f.params["frame_a"], np.array(f.params["xy_a"], dtype=float), f.params["frame_b"]
            )
            for f in facts
        ]

    def answer(self, format: Format, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The pixel within 2 % of the diagonal, or that it cannot be determined."""
        if measured.label is not None:
            assert measured.margin is not None
            return Label(text=measured.label, margin=measured.margin, p_gross=measured.p_gross)
        return Point(
            xy_px=measured.value,
            sigma_px=float(measured.sigma.max()),
            tolerance_px=self._tolerance_px(fact),
            p_gross=measured.p_gross,
        )

    def _tolerance_px(self, fact: Fact) -> float:
        return float(np.floor(self.caps.point_diagonal * np.hypot(*fact.params["size"])))

    def phrase(self, format: Format, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """A mark in photo 1; in photo 2 four numbered marks, or none."""
        p = fact.params
        first = Photo(frame=p["frame_a"], marks=(Mark(text="A", xy_px=tuple(p["xy_a"])),))
        if abstains(answer):
            if format != "choice" or "decoy" not in p:
                return Undecided(reason="point leaves the picture")
            shown = np.array(p["decoy"], dtype=float)
        else:
            assert isinstance(answer, Point)
            shown = answer.xy_px
        tolerance_px = self._tolerance_px(fact)
        if format == "point":
            return Phrasing(
                prompt=(
                    "Point A is marked in photo 1. Where is the same point of the scene in photo 2? Answer with its "
                    f"pixel [x, y] in photo 2, which is {p['size'][0]} pixels wide and {p['size'][1]} pixels high "
                    f"(x to the right, y down). Within {tolerance_px:g} pixels counts as right."
                ),
                media=(first, Photo(frame=p["frame_b"])),
                answer=listed(shown),
                unit="px",
            )
        wrong = point_distractors(shown, tolerance_px, np.array(p["xy_a"], dtype=float), np.array(p["size"]), rng)
        if len(wrong) < 3:
            return Undecided(reason="no room for distinct wrong points")
        may_be_outside = self.abstention or abstains(answer)
        points = [shown, *wrong[:3]]
        order = rng.permutation(4)
        marks = tuple(Mark(text=str(i + 1), xy_px=_pixel(points[k])) for i, k in enumerate(order))
        return Phrasing(
            prompt=(
                "Point A is marked in photo 1. Which of the numbered points in photo 2 is the same point of the scene?"
                + (_MAY_BE_OUTSIDE if may_be_outside else "")
            ),
            media=(first, Photo(frame=p["frame_b"], marks=marks)),
            options=(*(f"Point {i + 1}" for i in range(4)), *((OPTION,) if may_be_outside else ())),
            answer=4 if abstains(answer) else int(np.flatnonzero(order == 0)[0]),
            scorer_params={"option_xy_px": [list(mark.xy_px) for mark in marks]},
        )


@dataclass(frozen=True, kw_only=True)
class PlaceDirection:
    """Where photo 1 was taken, seen from photo 2. Measures the unit direction in photo 2's camera axes."""

    name: str = "place_direction"
    version: str = "1"
    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[Format, ...] = ("choice", "numeric")
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path"})
    number_names: tuple[str, ...] = ("azimuth",)
    caps: Caps = field(default_factory=Caps)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Ordered pairs of places spread over the path."""
        if scene.path is None or scene.path.motion != "general":
            return []
        frames = spread_frames(scene.path.frames[scene.path.registered & scene.path.keyframe], _PLACES)
        pairs = [(a, b) for a in frames for b in frames if a != b]
        return [
            Fact(template=self.name, params={"from": pairs[k][0], "seen_from": pairs[k][1]})
            for k in rng.permutation(len(pairs))[:60]
        ]

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Unit directions; σ = systematic ⊕ turn between the photos ⊕ positions over the baseline."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = [fact.params["from"], fact.params["seen_from"]]
        first, second = scene.world_from_cam(frames)
        if scene.path is None or not (np.isfinite(first).all() and np.isfinite(second).all()):
            return Undecided(reason="place of a photo is not known")
        offset = second[:3, :3].T @ (first[:3, 3] - second[:3, 3])
        baseline = float(np.linalg.norm(offset))
        if baseline < 1e-9:
            return Undecided(reason="both photos were taken at the same place")
        formal = float(np.hypot(*scene.position_sigma(frames))) / baseline
        rotation = scene.turn_sigma_rad(frames)
        sigma = float(np.linalg.norm([scene.path.direction_sigma_rad, rotation, formal]))
        return Measured(
            value=offset / baseline,
            sigma=np.full(3, sigma),
            evidence={"direction_sigma_deg": round(float(np.degrees(sigma)), 2)},
        )

    def answer(self, format: Format, fact: Fact, measured: Measured) -> Answer | Undecided:
        """Azimuth (clockwise from ahead) in degrees within 15°, or one of eight directions."""
        x, y, z = measured.value / np.linalg.norm(measured.value)
        elevation = np.arcsin(np.clip(-y, -1, 1))
        if abs(elevation) > _MAX_ELEVATION_RAD:
            return Undecided(reason="the place lies above or below rather than around")
        azimuth = float(np.degrees(np.arctan2(x, z)))
        sigma = float(np.degrees(measured.sigma.max()) / np.cos(elevation))
        if format == "choice":
            sector = round(azimuth / 45)
            margin = (22.5 - abs(azimuth - 45 * sector)) / sigma
            return Label(text=DIRECTIONS[sector % 8], margin=margin, p_gross=measured.p_gross)
        return Numbers(
            names=self.number_names,
            value=np.array([azimuth]),
            sigma=np.array([sigma]),
            tolerance=np.array([self.caps.direction_deg]),
            unit="deg",
            period=360.0,
            decimals=0,
            p_gross=measured.p_gross,
        )

    def phrase(self, format: Format, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Two photos; directions are those of photo 2's own axes."""
        media = (Photo(frame=fact.params["from"]), Photo(frame=fact.params["seen_from"]))
        setting = (
            "Photos 1 and 2 were taken by the same camera at different places. Seen from the camera of photo 2 "
            "(ahead is where photo 2 looks, right is towards its right edge), "
        )
        if isinstance(answer, Label):
            at = DIRECTIONS.index(answer.text)
            wrong = [DIRECTIONS[(at + k) % 8] for k in (4, *rng.permutation([2, 3, 5, 6])[:2].tolist())]
            return Phrasing(
                prompt=setting + "where is the place from which photo 1 was taken?",
                media=media,
                options=(answer.text.capitalize(), *(w.capitalize() for w in wrong)),
                answer=0,
            )
        assert isinstance(answer, Numbers)
        return Phrasing(
            prompt=setting
            + (
                "in which direction is the place from which photo 1 was taken? Answer with an angle in degrees, "
                "clockwise as seen from above: 0 is straight ahead, 90 to the right, -90 to the left, 180 behind. "
                f"±{answer.tolerance[0]:g}° counts as right."
            ),
            media=media,
            answer=round(float(answer.value[0])),
            unit="deg",
        )


def _pixel(xy: np.ndarray) -> tuple[float, float]:
    x, y = listed(xy)
    return x, y


def _mixed(facts: list[Fact], left_out: list[Fact]) -> list[Fact]:
    """Those that can be answered, in their order, and between them those that cannot, as long as there are any."""
    mixed, rest = [], iter(left_out)
    for k, fact in enumerate(facts):
        mixed.append(fact)
        if k % _ASKED_BETWEEN == _ASKED_BETWEEN // 2 - 1 and (other := next(rest, None)) is not None:
            mixed.append(other)
    return mixed


def _thin(rows: np.ndarray, xy: np.ndarray, min_apart_px: float, count: int) -> list[int]:
    """The first `count` rows whose pixels keep their distance from one another."""
    kept: list[int] = []
    for row in rows:
        if all(np.linalg.norm(xy[row] - xy[k]) >= min_apart_px for k in kept):
            kept.append(int(row))
        if len(kept) == count:
            break
    return kept
