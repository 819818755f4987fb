"""No hint states the answer: the quantities that each kind of hint shows, and the questions that ask for them."""

from collections.abc import Mapping
from math import hypot

from templates.columns import Json
from templates.cue import Cue, Pixel, photos
from templates.question import Question

_SHOWN = {"correspondence": ("matches",), "depth": ("distances",), "size": ("sizes", "places")}
"""The quantities that a kind of hint shows: boxes with sizes also show where objects are, and how many."""

_ASKED: Mapping[str, frozenset[str]] = {
    "matches": frozenset(
        {"L1/Relation/Correspondence", "L1/Motion/Ego", "L1/Motion/Allo", "L2/Understanding/Motion Understanding"}
        | {"which_photo", "place_again", "beyond_frame", "point_beyond", "best_view", "enough_seen"}
    ),
    "distances": frozenset(
        {"L1/Geometry/Distance", "L1/Localization/3D Detection", "L1/Localization/3D Grounding", "L1/Motion/Allo"}
        | {"L2/Understanding/Spatial Caption", "from_place", "true_statement", "walk_between"}
        | {"speed_if", "time_to_contact", "relation_across", "goal_reached"}
    ),
    "sizes": frozenset(
        {"L1/Geometry/Size", "L1/Localization/3D Detection", "L2/Understanding/Spatial Caption", "room_area"}
        | {"body_fit", "walk_between", "seat_height", "true_statement"}
    ),
    "places": frozenset(
        {"L1/Localization/3D Detection", "L1/Localization/3D Grounding", "L2/Understanding/Affordance"}
        | {"L2/Understanding/Spatial Caption", "how_many", "which_photo", "count_on_side", "from_object"}
        | {"beyond_frame", "behind_it", "goal_here", "enough_seen"}
    ),
}
"""By quantity: the leaves, and single templates of other leaves, that ask for it or for what follows from it alone."""

_NEAR = 0.05
"""Points closer than this share of the picture's diagonal are the same."""


def asks_for(question: Question, kind: str) -> bool:
    """Whether a question asks for what hints of a kind show."""
    return any({question.ability, question.template} & _ASKED[quantity] for quantity in _SHOWN[kind])


def states_answer(cue: Cue, kind: str, question: Question) -> bool:
    """Whether a cue would state the answer: the question asks for such things, a number would count as right, or it is
    about a point that the question marks or asks for."""
    if asks_for(question, kind) or any(_is_right(value, question) for value in cue.values):
        return True
    return any(_near(pixel, medium, question) for medium in photos(question) for pixel in cue.pixels)


def _is_right(value: float, question: Question) -> bool:
    """Whether a value is a right answer, or one of several numbers of it."""
    asked = question.answer if isinstance(question.answer, Mapping) else {"": question.answer}
    allowed = question.tolerance if isinstance(question.tolerance, Mapping) else {"": question.tolerance}
    return any(
        isinstance(answer, int | float) and abs(value - answer) <= (allowed.get(name) or 0)
        for name, answer in asked.items()
    )


def _near(pixel: Pixel, medium: Mapping[str, Json], question: Question) -> bool:
    """Whether a cue's point is marked in a photo, or is the right answer."""
    frame, x, y = pixel
    if frame != medium["frames"][0]:
        return False
    points = [mark["xy_px"] for mark in medium.get("marks") or ()]
    if question.format == "point":
        points.append(question.answer)
    reach = _NEAR * hypot(*medium["frame_size_px"])
    return any(hypot(x - u, y - v) <= reach for u, v in points)
