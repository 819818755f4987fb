"""Questions of every format about clips that paint themselves, of small templates with their words beside them.

Each factory makes one fact in one format, as a table with one row; `tables` joins those that belong together.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from experts.clip import Clip, Picture
from experts.footage.decoding import DecodingError
from templates.answers import Answer, Label, Numbers, Plan, Point, Shape
from templates.answers.answer import stacked
from templates.answers.answers import Answers
from templates.asked import Asked, ClipQuestions, Origin, Refusal
from templates.columns import Json
from templates.facts import Facts
from templates.media import Box, Drawing, Mark, Photo, Polygon, ScaleBar, Sheet, Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.template import Template
from templates.wording import Wording

NASTY = '<img src=x onerror=alert(1)> "quoted" \'s\n</script> файл 影片'
PROVENANCE: dict[str, Any] = {
    "expert": "colmap",
    "version": "1",
    "settings": {},
    "code_licence": "BSD-3-Clause",
    "commercial_ok": True,
}


@dataclass(frozen=True)
class Painter:
    """Frames that are a gradient with a bright square which walks to the right."""

    size: tuple[int, int] = (320, 240)
    broken_from: int | None = None

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            if self.broken_from is not None and frame >= self.broken_from:
                raise DecodingError(path_of_nothing(), "truncated")
            width, height = self.size
            y, x = np.mgrid[:height, :width]
            picture = np.stack([x * 255 / width, y * 255 / height, np.full_like(x, 90)], axis=-1).astype(np.uint8)
            picture[60:100, 3 * frame : 3 * frame + 40] = 240
            yield picture


def path_of_nothing():
    from pathlib import Path

    return Path("nothing.mp4")


def clip(id: str = "c" * 16, name: str = "room.mp4", broken_from: int | None = None) -> Clip:
    return Clip(
        id=id,
        name=name,
        frames=np.arange(60, dtype=np.int64),
        times_s=np.arange(60) / 30.0,
        width_px=320,
        height_px=240,
        reader=Painter(broken_from=broken_from),
    )


ORIGIN = Origin(
    provenance=(PROVENANCE,),
    licence={"footage": "CC-BY-4.0", "signals": ["BSD-3-Clause"], "commercial_ok": True},
)


class Small(Template):
    """Phrases given facts; proposes and measures none."""

    version = "1"
    needs = reads = frozenset()
    wordings: ClassVar[Mapping[str, Wording]]
    """By format."""

    def propose(self, scene, rng, count):
        raise NotImplementedError

    measure = answer = propose

    def wording(self, key: str) -> Wording:
        return self.wordings[key]


@dataclass(frozen=True, kw_only=True)
class Pair(Facts):
    frame: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]
    b_px: Float64[np.ndarray, "n 2"]


@dataclass(frozen=True, kw_only=True)
class Frame(Facts):
    frame: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class Frames(Facts):
    frames: Int64[np.ndarray, "n k"]


@dataclass(frozen=True, kw_only=True)
class Spot(Facts):
    frames: Int64[np.ndarray, "n 2"]
    a_px: Float64[np.ndarray, "n 2"]


@dataclass(frozen=True, kw_only=True)
class Goal(Facts):
    frames: Int64[np.ndarray, "n 2"]
    point_px: Float64[np.ndarray, "n 2"]
    counts: Int64[np.ndarray, "n 2"]


def mark(text: str, xy: Sequence[float]) -> Mark:
    return Mark(text=text, xy_px=(xy[0], xy[1]))


class Closer(Small):
    name, ability, formats, facts = "range_ratio", "L1/Geometry/Distance", ("choice", "numeric"), Pair
    wordings: ClassVar = {
        "choice": Wording(
            prompts=("Which of the marked points is closer to the camera?",),
            options={"A": "Point A", "B": "Point B"},
        ),
        "numeric": Wording(
            instructions="Distances run in a straight line from the camera.",
            prompts=("How many times as far is B as A?",),
        ),
    }

    def phrase(self, format, fact, answer, offer):
        marks = (mark("A", fact["a_px"]), mark("B", fact["b_px"]))
        return Phrasing(media=(Photo(frame=fact["frame"], marks=marks),))


class Tilt(Small):
    name, ability, formats, facts = "camera_tilt", "L1/Orientation/Gravity", ("json",), Frame
    wordings: ClassVar = {
        "json": Wording(
            instructions='Roll and pitch are in degrees: {"roll": 0, "pitch": 0} is a camera held level.',
            prompts=("How is the camera held?",),
        )
    }

    def phrase(self, format, fact, answer, offer):
        return Phrasing(media=(Photo(frame=fact["frame"]),))


class OfSpot(Small):
    facts = Spot

    def phrase(self, format, fact, answer, offer):
        first, second = fact["frames"]
        return Phrasing(media=(Photo(frame=first, marks=(mark("P", fact["a_px"]),)), Photo(frame=second)))


class Moves(OfSpot):
    name, ability, formats = "point_moves", "L1/Motion/Allo", ("yes_no",)
    wordings: ClassVar = {"yes_no": Wording(prompts=("Does the marked point move in the world?",))}


class Same(OfSpot):
    name, ability, formats = "same_point", "L1/Relation/Correspondence", ("point",)
    wordings: ClassVar = {
        "point": Wording(
            instructions="Pixels count from the top left corner.",
            prompts=("Where is the point that is marked in photo 1, in pixels of photo 2?",),
        )
    }


class Map(Small):
    name, ability, formats, facts = "path_map", "L2/Memory/Cognitive Map", ("choice",), Frames
    wordings: ClassVar = {"choice": Wording(prompts=("Which map shows the path of the camera, seen from above?",))}

    def phrase(self, format, fact, answer, offer):
        return Phrasing(media=tuple(Photo(frame=frame) for frame in fact["frames"]))


class Walk(Small):
    name, ability, formats, facts = "navigate", "L4/Goal-Driven Execution/Agentic Navigation", ("plan",), Goal
    wordings: ClassVar = {
        "plan": Wording(
            instructions="A step moves the camera, or turns it.",
            prompts=("Steer the camera from photo 1 to photo {to}.",),
            placeholders=("to",),
        )
    }

    def phrase(self, format, fact, answer, offer):
        first, second = fact["frames"]
        media = (Photo(frame=first, marks=(mark("P", fact["point_px"]),)), Photo(frame=second))
        return Phrasing(media=media, values={"to": 2})


class Route(Small):
    name, ability, formats, facts = "route_order", "L3/Sequential Planning/Route", ("order",), Frames
    wordings: ClassVar = {"order": Wording(prompts=("In which order were they taken after photo 1?",))}

    def phrase(self, format, fact, answer, offer):
        media = tuple(Photo(frame=frame) for frame in fact["frames"])
        return Phrasing(media=media, answer=[int(number) for number in answer.text.split()])


class Film(Small):
    name, ability, formats, facts = "film", "L1/Motion/Ego", ("choice",), Frames
    wordings: ClassVar = {
        "choice": Wording(
            prompts=("Which way does the camera turn in the video?",), options={"left": "left", "right": "right"}
        )
    }

    def phrase(self, format, fact, answer, offer):
        first, last = fact["frames"]
        return Phrasing(media=(Video(frames=tuple(range(first, last, 5))),))


class Puzzle(Small):
    """With shapes in a cropped photo, a floor plan, a sheet, and sheets as options."""

    name, ability, formats, facts = "puzzle", "L1/Geometry/Shape", ("choice",), Frame
    wordings: ClassVar = {"choice": Wording(prompts=("Which drawing shows the boxed thing from above?",))}

    def phrase(self, format, fact, answer, offer):
        width = 1.0 + fact["frame"]
        square = ((0.0, 0.0), (width, 0.0), (width, 1.0), (0.0, 1.0))
        box = Box(text="A", points_px=((40.0, 40.0), (90.0, 90.0)))
        return Phrasing(
            media=(
                Photo(frame=fact["frame"], marks=(box,), crop_px=(0, 0, 200, 200)),
                Drawing(polygons=(Polygon(corners=square, text="hall"),), scale_bar=ScaleBar(length=1.0, text="1 m")),
                Sheet(polygons=(Polygon(corners=square),)),
            ),
            options=tuple(Sheet(polygons=(Polygon(corners=square, fill=colour),)) for colour in offer.values(0)),
        )


def asked(
    template: Template, fact: Mapping[str, Json], answer: Answer, clip_id: str, *, offer: Offer | None = None,
    format: FormatName | None = None,
) -> Asked:  # fmt: skip
    """One fact in one format, by default the first of the template's."""
    facts = template.facts.from_json([fact])
    return Asked(
        template=template,
        clip_id=clip_id,
        format=format or template.formats[0],
        facts=facts,
        fact_ids=np.array(facts.ids(clip_id, template.name)),
        answers=Answers.of(stacked([answer]), np.array([""])),
        offer=offer,
        evidence={"residual_px": np.array([0.25]), "unknown": np.array([np.nan]), "frames": np.array([[1, 2]])},
        p_right=np.array([0.996]),
        origin=ORIGIN,
        seed=0,
    )


def tables(*some: Asked) -> tuple[Asked, ...]:
    """The same questions, in one table for each clip, template and format."""
    by_kind: dict[tuple[str, str, str], list[Asked]] = defaultdict(list)
    for one in some:
        by_kind[one.clip_id, one.template.name, one.format].extend(one.take(np.array([k])) for k in range(len(one)))
    return tuple(map(_joined, by_kind.values()))


def _joined(rows: Sequence[Asked]) -> Asked:
    stacks: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for k, row in enumerate(rows):
        answer = row.answers.row(0)
        metric = isinstance(answer, Plan) and answer.step_fraction is None
        stacks[type(answer), getattr(answer, "names", ()), metric].append(k)
    offers = [row.offer for row in rows if row.offer is not None]
    return replace(
        rows[0],
        facts=type(rows[0].facts).from_json([fact for row in rows for fact in row.facts.to_json()]),
        fact_ids=np.concatenate([row.fact_ids for row in rows]),
        answers=Answers(
            why=np.full(len(rows), ""),
            stacks=tuple((np.array(own), stacked([rows[k].answers.row(0) for k in own])) for own in stacks.values()),
        ),
        offer=Offer(
            why=np.full(len(rows), ""),
            options=np.concatenate([offer.options for offer in offers]),
            right=np.concatenate([offer.right for offer in offers]),
            undetermined=np.array([o.undetermined is not None and o.undetermined[0] for o in offers]),
        ) if offers else None,
        evidence={name: np.concatenate([row.evidence[name] for row in rows]) for name in rows[0].evidence},
        p_right=np.concatenate([row.p_right for row in rows]),
    )  # fmt: skip


def words(options: Sequence[str], right: int, undetermined: bool = False) -> Offer:
    """Words as options of one question."""
    offered = None if not undetermined else np.array([True])
    return Offer(why=np.array([""]), options=np.array([options]), right=np.array([right]), undetermined=offered)


def _marked(number: int, xy: tuple[float, float]) -> dict[str, Json]:
    return {"frame": number, "a_px": list(xy), "b_px": [250.0, 180.0]}


def closer(
    number: int, right: int = 0, xy: tuple[float, float] = (60.0, 60.0), clip_id: str = "c" * 16,
    template: Template | None = None,
) -> Asked:  # fmt: skip
    label = Label(text="AB"[right], margin=4.5)
    return asked(template or Closer(), _marked(number, xy), label, clip_id, offer=words(("A", "B"), right))


def ratio(
    number: int, clip_id: str = "c" * 16, *, xy: tuple[float, float] = (60.0, 60.0), value: float = 1.537
) -> Asked:
    answer = Numbers(
        names=("ratio",),
        value=np.array([value]),
        sigma=np.array([0.03]),
        tolerance=np.array([0.23]),
        unit="",
        decimals=2,
    )
    return asked(Closer(), _marked(number, xy), answer, clip_id, format="numeric")


def tilt(number: int, vfov: bool = True, clip_id: str = "c" * 16) -> Asked:
    count = 3 if vfov else 2
    answer = Numbers(
        names=("roll", "pitch", "vfov")[:count],
        value=np.array([3.04, -12.31, 48.2])[:count],
        sigma=np.array([1.5, 1.5, 2.1])[:count],
        tolerance=np.array([5.0, 5.0, 6.0])[:count],
        unit="deg",
        period=360.0,
    )
    return asked(Tilt(), {"frame": number}, answer, clip_id)


def moves(number: int, yes: bool, clip_id: str = "c" * 16) -> Asked:
    label = Label(text="yes" if yes else "no", margin=6.0, outlier_probability=0.002)
    fact = {"frames": [number, number + 10], "a_px": [20.0 + 4 * number, 90.0]}
    return asked(Moves(), fact, label, clip_id)


def same_point(number: int, clip_id: str = "c" * 16) -> Asked:
    x = 100.0 + number
    answer = Point(xy_px=np.array([x - 3, 100.0]), sigma_px=0.7, tolerance_px=8.0)
    return asked(Same(), {"frames": [number, number + 5], "a_px": [x, 100.0]}, answer, clip_id)


def which_map(number: int, clip_id: str = "c" * 16) -> Asked:
    path = np.array([(float(k), float(np.sin(k + number))) for k in range(8)])
    paths = np.array([[path * scale for scale in ((1, 1), (-1, 1), (1, -1), (2, 1))]])
    offer = Offer(why=np.array([""]), options=paths, right=np.array([0]))
    answer = Shape(points=path, sigma=0.02, tolerance=0.1)
    return asked(Map(), {"frames": [number, number + 20]}, answer, clip_id, offer=offer)


def walk(number: int, step_fraction: int | None = 8, clip_id: str = "c" * 16) -> Asked:
    length = 0.2 if step_fraction is None else 1 / step_fraction
    plan = Plan(
        counts=np.array([2.0, 0, 0, -1, 0, 4]),  # Truck Left, Dolly In, Pan Right
        translation_step=length,
        rotation_step_rad=float(np.radians(5.0)),
        step_fraction=step_fraction,
        amounts=np.array([0.18, 0.01, -0.02, -1.1 * length, 0.2 * length, 3.9 * length]),
        sigma=np.array([0.02, 0.02, 0.02, 0.1 * length, 0.1 * length, 0.1 * length]),
    )
    fact = {"frames": [number, number + 12], "point_px": [80.0, 90.0], "counts": [4, 2]}
    return asked(Walk(), fact, plan, clip_id)


def route(number: int, clip_id: str = "c" * 16) -> Asked:
    frames = [number, number + 9, number + 3, number + 12, number + 6]
    return asked(Route(), {"frames": frames}, Label(text="3 5 2 4", margin=5.0), clip_id)


def clip_questions(clip_id: str = "c" * 16, count: int = 6) -> ClipQuestions:
    """Some of everything."""
    rows = [
        one
        for n in range(count)
        for one in (
            closer(n, right=n % 2, clip_id=clip_id),
            ratio(n, clip_id),
            tilt(n, vfov=n % 2 == 0, clip_id=clip_id),
            moves(n, n % 2 == 0, clip_id),
            same_point(n, clip_id),
            which_map(n, clip_id),
        )
    ]
    refusals = (
        Refusal(
            clip_id=clip_id, template="range_ratio", ability="L1/Geometry/Distance", format="choice",
            reason="too close to call", count=7,
        ),
        Refusal(
            clip_id=clip_id, template="camera_motion", ability="L1/Motion/Ego", format=None,
            reason="camera path: too little <b>parallax</b>", count=1,
        ),
    )  # fmt: skip
    return ClipQuestions(clip_id=clip_id, asked=tables(*rows), refusals=refusals)


def film(number: int, clip_id: str = "c" * 16) -> Asked:
    """A question about a video."""
    fact = {"frames": [number, number + 40]}
    return asked(Film(), fact, Label(text="left", margin=5.0), clip_id, offer=words(("left", "right"), 0))


def puzzle(number: int, clip_id: str = "c" * 16) -> Asked:
    """A question with pictures of every kind."""
    offer = words(("blue", "orange", "green", "purple"), 0)
    return asked(Puzzle(), {"frame": number}, Label(text="blue", margin=5.0), clip_id, offer=offer)
