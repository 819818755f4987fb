"""The motion from one photo to another in the six components of a plan: amounts, their σ, and the largest ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from action_mapping.pair_plan import pair_amounts
from action_mapping.primitives import COMPONENTS, ROTATIONS, primitive_of
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Columns, Texts
from templates.measured import Measured, first_reason, margin_of_all
from templates.offer import Offer
from templates.scene.marks import candidate_pixels, filter_markable
from templates.scene.scene import Scene
from templates.scene.shared_view import are_in_view

MIN_SHARE = 0.4
"""Least share of photo 1's points that photo 2 shows: with less, the photos do not show the motion between them."""
MIN_TRAVEL = 0.08
"""Least distance between the photos over the median distance of the scene: a shorter one is not visible."""
MIN_ROTATION_RAD = np.radians(10.0)
"""Least rotation that a choice names."""
_MAX_ROTATION_RAD = np.radians(165.0)
_MAX_SECOND = 0.7
"""Largest share of the main motion that any other motion of its kind may have, for a choice to name it."""
_POINTS = 64
_NO_LARGEST = "no single move or turn dominates"

Six = Float64[np.ndarray, "n 6"]
"""Amounts of the motion, or their σ, in the order of `COMPONENTS`."""
ROTATES = np.array([name in ROTATIONS for name in COMPONENTS])
NAMES = np.array([[primitive_of(name, sign).name for sign in (1, -1)] for name in COMPONENTS])
"""Of each component's two directions."""
_OTHER_AXES = np.array([[k for k in range(6) if k != own and ROTATES[k] == ROTATES[own]] for own in range(6)])
"""The two other components of its kind."""


@dataclass(frozen=True, kw_only=True)
class Motion(Columns):
    """From the first to the second photo of n pairs, in rad and path units; NaN where not known."""

    amounts: Six
    sigma: Six
    """Without that of the unit of length."""


def parts_in_words(parts: Float64[np.ndarray, "n 3"], turns: Bool[np.ndarray, "n"]) -> Texts:
    """The parts of turns in degrees, and of moves in their unit: "1.2 right, -0.3 down, 0.5 ahead"."""
    words = {True: ("° {}", "pan to the right", "tilt up", "roll clockwise"), False: (" {}", "right", "down", "ahead")}
    found = []
    for row, is_turn in zip(parts.tolist(), turns.tolist(), strict=True):
        unit, *names = words[is_turn]
        amounts = np.degrees(row).round() if is_turn else np.round(row, 2)
        found.append(", ".join(f"{amount:g}{unit.format(name)}" for amount, name in zip(amounts, names, strict=True)))
    return np.array(found, dtype=np.str_)


@dataclass(frozen=True, kw_only=True)
class Largest(Columns):
    """The largest translation, or the largest rotation, of n motions."""

    component: Int64[np.ndarray, "n"]
    name: Texts
    margins: Float64[np.ndarray, "n 2"]
    """How many σ each other amount is below 0.7 of it."""
    visible: Float64[np.ndarray, "n"]
    """For rotations, by how many σ it exceeds 10° and falls short of 165°, beyond which the other way is as near; for
    translations infinite."""


def motion(scene: Scene, frames: Int64[np.ndarray, "n 2"]) -> Motion:
    """σ of translations = (systematic ⊕ σ of the rotation) · length ⊕ σ of positions. A wrong focal length changes each
    rotation in proportion, a wrong principal point turns some of it into others."""
    poses = scene.world_from_cam(frames)
    amounts = pair_amounts(poses[:, 0], poses[:, 1])
    rotation, focal, centre = scene.rotation_sigma_rad(frames), scene.turn_sigma_by_focal, scene.turn_sigma_by_centre
    tilted = centre * np.linalg.norm(amounts[:, ROTATES], axis=1)
    rotations = np.hypot(np.hypot(rotation.max(axis=1), tilted)[:, None], focal * np.abs(amounts))
    direction = np.hypot(scene.direction_sigma_rad, rotation[:, 0])
    formal = scene.offset_sigma(frames)
    translations = np.hypot(direction * np.linalg.norm(amounts[:, ~ROTATES], axis=1), formal)
    return Motion(amounts=amounts, sigma=np.where(ROTATES, rotations, translations[:, None]))


def largest(moved: Motion, family: Bool[np.ndarray, "6"]) -> Largest:
    """Of the components of a family (`ROTATES`, `~ROTATES`)."""
    order = np.flatnonzero(family)[np.argsort(np.abs(moved.amounts[:, family]), axis=1)]
    size, own = (np.take_along_axis(part, order, axis=1) for part in (np.abs(moved.amounts), moved.sigma))
    limit, component = _MAX_SECOND * size[:, 2:], order[:, 2]
    signed = np.take_along_axis(moved.amounts, order[:, 2:], axis=1)[:, 0]
    visible = np.minimum(size[:, 2] - MIN_ROTATION_RAD, _MAX_ROTATION_RAD - size[:, 2]) / own[:, 2]
    return Largest(
        component=component,
        name=NAMES[component, (signed <= 0).astype(int)],
        margins=(limit - size[:, :2]) / np.hypot(_MAX_SECOND * own[:, 2:], own[:, :2]),
        visible=np.where(ROTATES[component], visible, np.inf),
    )


def joint(margins: Float64[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
    """The margin of an answer that needs all of these; NaN where one is not positive."""
    return np.where(margins.min(axis=1) > 0, margin_of_all(margins, np.ones_like(margins)), np.nan)


def with_others(names: Texts, draws: Float64[np.ndarray, "n 3"]) -> np.ndarray:
    """Each name and three wrong ones: the opposite, and both names of another axis; either of the two comes first."""
    own, sign = np.divmod((names[:, None] == NAMES.ravel()).argmax(axis=1), 2)
    axis = np.where(draws[:, 0] < 0.5, *_OTHER_AXES[own].T)
    other = (draws[:, 1] >= 0.5).astype(int)
    wrong = np.stack([NAMES[own, 1 - sign], NAMES[axis, other], NAMES[axis, 1 - other]], axis=1)
    return np.column_stack([names, np.where(draws[:, 2:] < 0.5, wrong, np.roll(wrong, -1, axis=1))])


def opposites(names: Texts) -> Texts:
    """The opposite of each name; "" stays."""
    own, sign = np.divmod((names[:, None] == NAMES.ravel()).argmax(axis=1), 2)
    return np.where(names == "", "", NAMES[own, 1 - sign])


def some_pixels(scene: Scene, frame: int, rng: np.random.Generator) -> Float64[np.ndarray, "k 2"]:
    """Random pixels of a photo, among which one to mark is looked for."""
    return np.asarray(rng.permutation(candidate_pixels(scene, frame))[:_POINTS])


def shared_points(
    scene: Scene, pairs: Int64[np.ndarray, "n 2"], pixels: Sequence[Float64[np.ndarray, "k 2"]]
) -> Float64[np.ndarray, "n 2"]:
    """The first of the pixels of each photo A that can be marked, and whose point lies inside its photo B; NaN if there
    is none."""
    found = np.full((len(pairs), 2), np.nan)
    pair = np.repeat(np.arange(len(pairs)), list(map(len, pixels)))
    rows, xy_px = filter_markable(scene, pairs[pair, 0], np.concatenate([found[:0], *pixels]))
    seen = are_in_view(scene, pairs[pair[rows]], xy_px)
    which, first = np.unique(pair[rows][seen], return_index=True)
    found[which] = xy_px[seen][first]
    return found


def point_in(scene: Scene, frame: int, rng: np.random.Generator) -> list[float] | None:
    """A pixel of the photo that can be marked; None if there is none."""
    (xy_px,) = shared_points(scene, np.full((1, 2), frame), [some_pixels(scene, frame, rng)]).tolist()
    return None if np.isnan(xy_px[0]) else xy_px


def unit_of_length(
    scene: Scene, frame: Int64[np.ndarray, "n"], point_px: Float64[np.ndarray, "n 2"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distance to the point marked in each photo, or a metre where none is marked, in path units; its relative σ as
    a unit of distances between photos, and its outlier probability. NaN where unknown."""
    seen, relative = scene.surface(frame, point_px), np.isfinite(point_px).all(axis=1)
    sigma = scene.metre_relative_sigma
    return (
        np.where(relative, seen.range, 1.0 if np.isfinite(sigma) else np.nan),
        np.hypot(np.where(relative, seen.range_relative_sigma, sigma), scene.travel_relative_sigma),
        np.where(relative, seen.outlier_probability, 0.0),
    )


def main_name(measured: Measured) -> Answers:
    """The measured name; none where no motion is the largest."""
    label = measured.as_label()
    return Answers.of(label, first_reason(len(measured.why), {_NO_LARGEST: np.asarray(label.text) == ""}))


def offered_names(answers: Answers, chance: Chance) -> Offer:
    """The right name, its opposite, and both names of another axis."""
    names = np.where(np.isin(answers.labels(), NAMES), answers.labels(), NAMES[0, 0])
    options = with_others(names, chance.uniform("names", 3))
    opposite = NAMES[:, ::-1].ravel()[(names[:, None] == NAMES.ravel()).argmax(axis=1)]
    mistakes = np.where(options == opposite[:, None], "opposite direction", "another axis")
    mistakes[:, 0] = ""
    return Offer.first_right(options, mistakes=mistakes)
