"""Geometric primitives fitted to what photos show of objects."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from templates.columns import Columns, Texts
from templates.scene.bodies import SHAPES, Bodies, Number, beyond, distances, out_of_limits
from templates.scene.least_squares import least_squares
from templates.scene.scene import Scene
from templates.scene.silhouettes import Silhouettes, silhouettes, size_of

_FIRST_STEPS, _STEPS = 8, 20
"""Of the fit from every start, and from the best one."""
_OUTSIDE = 100.0
"""σ for each unit of ln by which a ratio of sides is out of its limits."""
_CLOSE = 0.1
"""Largest such ln of a body that counts."""
_ROBUST = 3.0
"""Residuals beyond so many σ count linearly."""
_IN_FRONT = np.array([0.05, 0.2])
"""Where the line of sight to a point of the surface must be free: so far before it, as shares of the object's size."""
_TURNS = Rotation.from_euler(
    "ZY", [(0, 0), (0, 45), (0, 90), (0, 135), (90, 45), (90, 90), (90, 135), (45, 60)], degrees=True
)
"""From the principal axes of the points, the least one along z: where the axes of a body point at first."""


@dataclass(frozen=True, kw_only=True)
class Fits(Columns):
    """How well each of `SHAPES` fits n objects in photos."""

    why: Texts
    """Why nothing is fitted; "" where all shapes are."""
    misfit: Float64[np.ndarray, "n 5"]
    """Root of the sum of three mean squares, in σ: of the outline, of the surface, and of how far the body reaches
    before the surface."""


def fits_of(scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]) -> Fits:
    """All shapes fitted to objects in photos, each once per scene."""
    known: dict[tuple[int, int], Fits] = scene.once("primitives", dict)
    keys = list(zip(frame.tolist(), object.tolist(), strict=True))
    lacking = [key for key in dict.fromkeys(keys) if key not in known]
    if lacking:
        found = fitted(silhouettes(scene, *np.array(lacking).T))
        known.update((key, found.take(np.array([row]))) for row, key in enumerate(lacking))
    return Fits.concatenated([known[key] for key in keys])


def fitted(seen: Silhouettes) -> Fits:
    """All shapes fitted to all objects. Each starts from the best fit of any other, too, so that none is ruled out
    because its own fit got stuck."""
    misfit, known = np.full((len(seen), len(SHAPES)), np.nan), np.flatnonzero(seen.why == "")
    why, seen = seen.why, seen.take(known)
    if len(known):
        bodies = [_best(shape, seen) for shape in SHAPES]
        own = np.array([_misfit(shape, each, seen) for shape, each in zip(SHAPES, bodies, strict=True)])
        winner = np.array(bodies)[own.argmin(axis=0), np.arange(len(known))]
        again = [_misfit(shape, _improved(shape, winner, seen, _STEPS)[0], seen) for shape in SHAPES]
        misfit[known] = np.fmin(own, again).T
    return Fits(why=why, misfit=misfit)


def _misfit(shape: str, bodies: Bodies, seen: Silhouettes) -> Number:
    """As in `Fits`; infinite for bodies whose sides have other ratios than the shape allows."""
    squares = np.sum([np.mean(each**2, axis=1) for each in _errors(shape, bodies, seen)], axis=0)
    return np.where(out_of_limits(shape, bodies) > _CLOSE, np.inf, np.sqrt(squares))


def _errors(shape: str, bodies: Bodies, seen: Silhouettes) -> list[np.ndarray]:
    """In σ: of the outline, of the surface, and how far the body reaches before the surface."""
    before = seen.points[:, None] * (1 - size_of(seen.tangents)[:, None, None, None] * _IN_FRONT[:, None, None])
    points = np.concatenate([seen.points[:, None], before], axis=1)
    outside = distances(shape, bodies, points.reshape(len(seen), -1, 3)).reshape(points.shape[:3])
    outside = outside / seen.sigma[:, None, None]
    outline = beyond(shape, bodies, seen.tangents) / seen.tangent_sigma
    return [outline, outside[:, 0], np.minimum(outside[:, 1:].min(axis=1), 0)]


def _best(shape: str, seen: Silhouettes) -> Bodies:
    """The best fit from several starts."""
    starts = _starts(shape, seen)
    every = seen.thinned().take(np.tile(np.arange(len(seen)), len(starts)))
    bodies, cost = _improved(shape, np.concatenate(starts), every, _FIRST_STEPS)
    best = cost.reshape(len(starts), -1).argmin(axis=0)
    chosen = bodies.reshape(len(starts), -1, bodies.shape[1])[best, np.arange(len(best))]
    return _improved(shape, chosen, seen, _STEPS)[0]


def _starts(shape: str, seen: Silhouettes) -> list[Bodies]:
    """As large as the outline, behind the middle of the surface, turned in several ways from its principal axes."""
    size, flat = size_of(seen.tangents), shape == "flat plate"
    turns = {"ball": _TURNS[:1], "cone": Rotation.concatenate([_TURNS, _TURNS * Rotation.from_euler("x", np.pi)])}
    middle = seen.points.mean(axis=1)
    axes = np.linalg.svd(seen.points - middle[:, None], full_matrices=False)[2].swapaxes(1, 2)
    axes[..., 2] *= np.sign(np.linalg.det(axes))[:, None]
    centre = middle * (1 + (0 if flat else 0.25) * size)[:, None]
    half = np.log(size / 2)[:, None] + np.log([1, 1, 0.04 if flat else 1])
    rotations = [Rotation.from_matrix(axes @ turn.as_matrix()).as_rotvec() for turn in turns.get(shape, _TURNS)]
    return [np.column_stack([centre, rotation, half]) for rotation in rotations]


def _improved(shape: str, start: Bodies, seen: Silhouettes, steps: int) -> tuple[Bodies, Number]:
    """By least squares in σ; outline, surface and what lies before it count alike."""

    def residuals(bodies: Bodies, rows: Int64[np.ndarray, "k"]) -> Float64[np.ndarray, "k r"]:
        errors = _errors(shape, bodies, seen.take(rows))
        robust = [e * np.sqrt(2 / (1 + np.sqrt(1 + (e / _ROBUST) ** 2)) / e.shape[1]) for e in errors]
        return np.concatenate([*robust, _OUTSIDE * out_of_limits(shape, bodies)[:, None]], axis=1)

    return least_squares(residuals, start, steps)
