"""L1/Relation/Relative Direction: the direction of one camera position as seen from another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from templates.answers import Answer, Label, Numbers
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Option, Photo, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.pictures import Params, Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_PLACES = 14
_MAX_ELEVATION_RAD = np.radians(35)
"""Largest elevation of a position whose horizontal direction is asked for."""
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
class PlaceDirection(Template):
    """Where photo 1 was taken, seen from photo 2. Measures the unit direction in photo 2's camera axes."""

    name: str = "place_direction"
    version: str = "1"
    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Ordered pairs of frames spread over the path."""
        if scene.path is None or scene.path.motion != "general":
            return []
        frames = spread_frames(scene.path.frames[scene.path.registered & scene.path.keyframe], _PLACES)
        pairs = [(a, b) for a in frames for b in frames if a != b]
        return [
            Fact(template=self.name, params={"from": pairs[k][0], "seen_from": pairs[k][1]})
            for k in rng.permutation(len(pairs))[:60]
        ]

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Unit directions; σ = systematic ⊕ relative rotation ⊕ positions over the baseline."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = [fact.params["from"], fact.params["seen_from"]]
        first, second = scene.world_from_cam(frames)
        if scene.path is None or not (np.isfinite(first).all() and np.isfinite(second).all()):
            return Undecided(reason="the camera position of a photo is not known")
        offset = second[:3, :3].T @ (first[:3, 3] - second[:3, 3])
        baseline = float(np.linalg.norm(offset))
        if baseline < 1e-9:
            return Undecided(reason="both photos were taken at the same place")
        formal = float(np.hypot(*scene.position_sigma(frames))) / baseline
        rotation = scene.relative_rotation_sigma_rad(frames)
        sigma = float(np.linalg.norm([scene.path.direction_sigma_rad, rotation, formal]))
        return Measured(
            value=offset / baseline,
            sigma=np.full(3, sigma),
            evidence={"direction_sigma_deg": round(float(np.degrees(sigma)), 2)},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """Azimuth in degrees (clockwise from ahead) with a tolerance of 15°, or one of eight directions."""
        x, y, z = measured.value / np.linalg.norm(measured.value)
        elevation = np.arcsin(np.clip(-y, -1, 1))
        if abs(elevation) > _MAX_ELEVATION_RAD:
            return Undecided(reason="the place lies too far above or below the camera")
        azimuth = float(np.degrees(np.arctan2(x, z)))
        sigma = float(np.degrees(measured.sigma.max()) / np.cos(elevation))
        if format == "choice":
            sector = round(azimuth / 45)
            margin = (22.5 - abs(azimuth - 45 * sector)) / sigma
            return Label(text=DIRECTIONS[sector % 8], margin=margin, outlier_probability=measured.outlier_probability)
        return Numbers(
            names=("azimuth",),
            value=np.array([azimuth]),
            sigma=np.array([sigma]),
            tolerance=np.array([self.max_tolerances.direction_deg]),
            unit="deg",
            period=360.0,
            decimals=0,
            outlier_probability=measured.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Two photos; directions refer to the axes of photo 2."""
        media = (Photo(frame=fact.params["from"]), Photo(frame=fact.params["seen_from"]))
        setting = (
            "Photos 1 and 2 were taken by the same camera at different places. Seen from the camera of photo 2 "
            "(ahead is where photo 2 looks, right is towards its right edge), "
        )
        if isinstance(answer, Label):
            at = DIRECTIONS.index(str(answer.text))
            offered = [DIRECTIONS[(at + k) % 8] for k in (0, 4, *rng.permutation([2, 3, 5, 6])[:2].tolist())]
            return Phrasing(
                prompt=setting + "where is the place from which photo 1 was taken?",
                media=media,
                options=tuple(Option(shown=name.capitalize(), value=name) for name in offered),
                answer=0,
            )
        return Phrasing(
            prompt=setting
            + (
                "in which direction is the place from which photo 1 was taken? Answer with an angle in degrees, "
                "clockwise as seen from above: 0 is straight ahead, 90 to the right, -90 to the left, 180 behind. "
                f"{answer.tolerance_in_words()} counts as right."
            ),
            media=media,
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Two frames."""
        drawn = pictures.distinct_frames(rng, 2)
        return None if drawn is None else {"from": drawn[0], "seen_from": drawn[1]}
