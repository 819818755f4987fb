"""The motion primitives of SpatialTree-Bench: name, component, sign, and the keys that its published prompts use.

Signs are those of OpenCV camera axes (+x right, +y down, +z forward), right-handed. Roll CW is + about +z: the
camera turns clockwise as seen from behind it. (Published prompts contradict each other on roll; docs/motion.md.)
"""

from dataclasses import dataclass
from typing import Literal

Component = Literal["pan_rad", "tilt_rad", "roll_rad", "truck", "pedestal", "dolly", "zoom", "opening", "contact"]
"""What a primitive changes: three rotations (rad), three translations (path units), the logarithm of the focal
length, the opening of a gripper, or its contact with an object."""

ROTATIONS: tuple[Component, ...] = ("pan_rad", "tilt_rad", "roll_rad")
TRANSLATIONS: tuple[Component, ...] = ("truck", "pedestal", "dolly")
COMPONENTS: tuple[Component, ...] = (*ROTATIONS, *TRANSLATIONS)
"""Order of the six columns of every rate and motion array."""

CAMERA_AXIS: dict[Component, int] = {
    "tilt_rad": 0, "pan_rad": 1, "roll_rad": 2,
    "truck": 0, "pedestal": 1, "dolly": 2,
}  # fmt: skip
"""Camera axis (0 x, 1 y, 2 z) along or about which each of the six acts."""


class UnknownPrimitiveError(ValueError):
    """A name or key that is in no published dialect."""


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """One named motion."""

    name: str
    """As published ("Truck Left")."""
    component: Component | None
    """What it changes; None for Stay."""
    sign: int
    """+1 or -1: direction in which `component` changes; 0 for Stay."""
    symbol: str
    """The key that the benchmark's prompt prints ("A")."""
    keys: tuple[str, ...] = ()
    """Other keys in published prompts. The published table uses G and H for the gripper and for the hand."""
    unit: str = ""
    """"m", "rad", "log ratio", or "" where nothing is counted."""


def _pair(
    component: Component, unit: str, plus: tuple[str, str, *tuple[str, ...]], minus: tuple[str, str, *tuple[str, ...]]
) -> tuple[Primitive, Primitive]:
    """The two opposite primitives of a component, each given as (name, symbol, other keys ...)."""
    positive, negative = (
        Primitive(name=name, component=component, sign=sign, symbol=symbol, keys=tuple(keys), unit=unit)
        for sign, (name, symbol, *keys) in ((1, plus), (-1, minus))
    )
    return positive, negative


PRIMITIVES: tuple[Primitive, ...] = (
    *_pair("truck", "m", ("Truck Right", "D"), ("Truck Left", "A")),
    *_pair("pedestal", "m", ("Pedestal Down", "shift", "E"), ("Pedestal Up", "space", "Q")),
    *_pair("dolly", "m", ("Dolly In", "W"), ("Dolly Out", "S")),
    *_pair("pan_rad", "rad", ("Pan Right", "→", "right_arrow"), ("Pan Left", "←", "left_arrow")),
    *_pair("tilt_rad", "rad", ("Tilt Up", "↑", "up_arrow"), ("Tilt Down", "↓", "down_arrow")),
    *_pair("roll_rad", "rad",
           ("Roll CW", "↻", "⟳", "Z", "clockwise"), ("Roll CCW", "↺", "⟲", "X", "counterclockwise")),
    *_pair("zoom", "log ratio", ("Zoom In", "zoom_in"), ("Zoom Out", "zoom_out")),
    *_pair("opening", "", ("Gripper Open", "G", "open"), ("Gripper Close", "H", "close")),
    *_pair("contact", "", ("Push", "P", "push"), ("Pull", "L", "pull")),
    *_pair("contact", "", ("Grab", "grab"), ("Release", "release")),
    Primitive(name="Stay", component=None, sign=0, symbol="STOP"),
)  # fmt: skip

PRIMITIVE: dict[str, Primitive] = {primitive.name: primitive for primitive in PRIMITIVES}
"""By published name."""
STAY = PRIMITIVE["Stay"]

_BY_KEY = {key: p for p in PRIMITIVES for key in (p.name, p.symbol, *p.keys)}
# Contact is left out: it has two pairs.
_BY_DIRECTION: dict[tuple[Component | None, int], Primitive] = {
    (p.component, p.sign): p for p in PRIMITIVES if p.component != "contact"
}


def primitive(key: str) -> Primitive:
    """The primitive of a published name or key (exact, case-sensitive). Raises UnknownPrimitiveError."""
    if key not in _BY_KEY:
        known = ", ".join(f"{p.symbol} ({p.name})" for p in PRIMITIVES)
        raise UnknownPrimitiveError(f"unknown action {key!r}; known are {known}")
    return _BY_KEY[key]


def primitive_of(component: Component, sign: float) -> Primitive:
    """The primitive that changes `component` (not contact) in the direction of `sign` (not zero)."""
    return _BY_DIRECTION[component, 1 if sign > 0 else -1]
