"""Drafts of every format about clips that paint themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from action_mapping.plan import read_plan
from experts.clip import Clip, Picture
from experts.footage.decoding import DecodingError
from templates.answers import Answer, Label, Numbers, Plan, Point, Shape
from templates.draft import ClipQuestions, Draft, Refusal
from templates.fact import Fact
from templates.media import Box, Drawing, Mark, Photo, Polygon, ScaleBar, Sheet, Video
from templates.question import FormatName, Option, Phrasing

NASTY = '<img src=x onerror=alert(1)> "quoted" \'s\n</script> файл 影片'
PROVENANCE = {"expert": "colmap", "version": "1", "settings": {}, "code_licence": "BSD-3-Clause", "commercial_ok": True}


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


def draft(
    format: FormatName, answer: Answer, phrasing: Phrasing, *, template: str, ability: str, params: dict, clip_id: str
) -> Draft:
    fact = Fact(template=template, params=params)
    return Draft(
        clip_id=clip_id,
        template=template,
        ability=ability,
        format=format,
        fact=fact,
        fact_id=fact.id(clip_id),
        answer=answer,
        phrasing=phrasing,
        evidence={"residual_px": np.float64(0.25), "unknown": float("nan"), "frames": (1, 2)},
        provenance=(PROVENANCE,),
        licence={"footage": "CC-BY-4.0", "signals": ["BSD-3-Clause"], "commercial_ok": True},
        seed=0,
    )


def closer(number: int, right: int = 0, xy=(60.0, 60.0), clip_id: str = "c" * 16) -> Draft:
    marks = (Mark(text="A", xy_px=xy), Mark(text="B", xy_px=(250.0, 180.0)))
    phrasing = Phrasing(
        prompt="Which of the marked points is closer to the camera?",
        media=(Photo(frame=number, marks=marks),),
        options=tuple(Option(shown=f"Point {mark}", value=mark) for mark in "AB"),
        answer=right,
    )
    params = {"frame": number, "a": list(xy), "b": [250.0, 180.0]}
    label = Label(text="AB"[right], margin=4.5)
    return draft(
        "choice",
        label,
        phrasing,
        template="range_ratio",
        ability="L1/Geometry/Distance",
        params=params,
        clip_id=clip_id,
    )


def ratio(number: int, clip_id: str = "c" * 16) -> Draft:
    twin = closer(number, clip_id=clip_id)
    answer = Numbers(
        names=("ratio",),
        value=np.array([1.537]),
        sigma=np.array([0.03]),
        tolerance=np.array([0.23]),
        unit="",
        decimals=2,
    )
    phrasing = replace(twin.phrasing, prompt="How many times as far is B as A?", options=(), answer=None)
    return replace(twin, format="numeric", answer=answer, phrasing=phrasing)


def tilt(number: int, vfov: bool = True, clip_id: str = "c" * 16) -> Draft:
    count = 3 if vfov else 2
    answer = Numbers(
        names=("roll", "pitch", "vfov")[:count],
        value=np.array([3.04, -12.31, 48.2])[:count],
        sigma=np.array([1.5, 1.5, 2.1])[:count],
        tolerance=np.array([5.0, 5.0, 6.0])[:count],
        unit="deg",
        period=360.0,
    )
    phrasing = Phrasing(prompt="How is the camera held?", media=(Photo(frame=number),))
    params = {"frame": number}
    return draft(
        "json",
        answer,
        phrasing,
        template="camera_tilt",
        ability="L1/Orientation/Gravity",
        params=params,
        clip_id=clip_id,
    )


def moves(number: int, yes: bool, clip_id: str = "c" * 16) -> Draft:
    xy = (20.0 + 4 * number, 90.0)
    phrasing = Phrasing(
        prompt="Does the marked point move in the world?",
        media=(Photo(frame=number, marks=(Mark(text="A", xy_px=xy),)), Photo(frame=number + 10)),
    )
    params = {"frames": [number, number + 10], "a": list(xy)}
    label = Label(text="yes" if yes else "no", margin=6.0, outlier_probability=0.002)
    return draft(
        "yes_no", label, phrasing, template="point_moves", ability="L1/Motion/Allo", params=params, clip_id=clip_id
    )


def same_point(number: int, clip_id: str = "c" * 16) -> Draft:
    xy = (100.0 + number, 100.0)
    phrasing = Phrasing(
        prompt="Where is the point that is marked in photo 1, in pixels of photo 2?",
        media=(Photo(frame=number, marks=(Mark(text="A", xy_px=xy),)), Photo(frame=number + 5)),
    )
    answer = Point(xy_px=np.array([xy[0] - 3, xy[1]]), sigma_px=0.7, tolerance_px=8.0)
    params = {"frames": [number, number + 5], "a": list(xy)}
    return draft(
        "point",
        answer,
        phrasing,
        template="same_point",
        ability="L1/Relation/Correspondence",
        params=params,
        clip_id=clip_id,
    )


def which_map(number: int, clip_id: str = "c" * 16) -> Draft:
    path = tuple((float(k), float(np.sin(k + number))) for k in range(8))
    options = tuple(
        Option(shown=Drawing(polylines=(tuple((sx * x, sy * y) for x, y in path),)))
        for sx, sy in ((1, 1), (-1, 1), (1, -1), (2, 1))
    )
    phrasing = Phrasing(
        prompt="Which map shows the path of the camera, seen from above?",
        media=(Photo(frame=number), Photo(frame=number + 20)),
        options=options,
        answer=0,
    )
    answer = Shape(points=np.array(path), sigma=0.02, tolerance=0.1)
    params = {"frames": [number, number + 20]}
    return draft(
        "choice",
        answer,
        phrasing,
        template="path_map",
        ability="L2/Memory/Cognitive Map",
        params=params,
        clip_id=clip_id,
    )


def walk(number: int, point_fraction: int | None = 8, clip_id: str = "c" * 16) -> Draft:
    answer = {"actions": ["Truck Left", "Dolly In", "Pan Right"], "step_nums": [1, 4, 2]}
    length = 0.2 if point_fraction is None else 1 / point_fraction
    steps = read_plan(*answer.values(), translation_step=length, rotation_step_rad=float(np.radians(5.0)))
    plan = Plan.of(
        replace(steps, point_fraction=point_fraction),
        amounts=np.array([0.18, 0.01, -0.02, -1.1 * length, 0.2 * length, 3.9 * length]),
        sigma=np.array([0.02, 0.02, 0.02, 0.1 * length, 0.1 * length, 0.1 * length]),
    )
    phrasing = Phrasing(
        prompt="Steer the camera from photo 1 to photo 2.",
        media=(Photo(frame=number, marks=(Mark(text="P", xy_px=(80.0, 90.0)),)), Photo(frame=number + 12)),
    )
    return draft(
        "plan",
        plan,
        phrasing,
        template="navigate",
        ability="L4/Goal-Driven Execution/Agentic Navigation",
        params={"from": number, "to": number + 12, "point": [80.0, 90.0], "counts": [4, 2]},
        clip_id=clip_id,
    )


def route(number: int, clip_id: str = "c" * 16) -> Draft:
    frames = [number, number + 9, number + 3, number + 12, number + 6]
    phrasing = Phrasing(
        prompt="In which order were they taken after photo 1?",
        media=tuple(Photo(frame=frame) for frame in frames),
        answer=[3, 5, 2, 4],
    )
    label = Label(text="3 5 2 4", margin=5.0)
    params = {"first": frames[0], "shuffled": frames[1:]}
    return draft(
        "order",
        label,
        phrasing,
        template="route_order",
        ability="L3/Sequential Planning/Route",
        params=params,
        clip_id=clip_id,
    )


def clip_questions(clip_id: str = "c" * 16, count: int = 6) -> ClipQuestions:
    """Some of everything."""
    drafts = [
        draft
        for n in range(count)
        for draft in (
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
    return ClipQuestions(clip_id=clip_id, drafts=tuple(drafts), refusals=refusals)


def film(number: int, clip_id: str = "c" * 16) -> Draft:
    """A question about a video."""
    phrasing = Phrasing(
        prompt="Which way does the camera turn in the video?",
        media=(Video(frames=tuple(range(number, number + 40, 5))),),
        options=(Option(shown="left", value="left"), Option(shown="right", value="right")),
        answer=0,
    )
    return draft(
        "choice",
        Label(text="left", margin=5.0),
        phrasing,
        template="film",
        ability="L1/Motion/Ego",
        params={"frames": [number, number + 40]},
        clip_id=clip_id,
    )


def puzzle(number: int, clip_id: str = "c" * 16) -> Draft:
    """A question with shapes in a cropped photo, a floor plan, a sheet, and sheets as options."""
    square = ((0.0, 0.0), (1.0 + number, 0.0), (1.0 + number, 1.0), (0.0, 1.0))
    colours = ("blue", "orange", "green", "purple")
    phrasing = Phrasing(
        prompt="Which drawing shows the boxed thing from above?",
        media=(
            Photo(
                frame=number, marks=(Box(text="A", points_px=((40.0, 40.0), (90.0, 90.0))),), crop_px=(0, 0, 200, 200)
            ),
            Drawing(polygons=(Polygon(corners=square, text="hall"),), scale_bar=ScaleBar(length=1.0, text="1 m")),
            Sheet(polygons=(Polygon(corners=square),)),
        ),
        options=tuple(
            Option(shown=Sheet(polygons=(Polygon(corners=square, fill=colour),)), value=colour) for colour in colours
        ),
        answer=0,
    )
    return draft(
        "choice",
        Label(text="blue", margin=5.0),
        phrasing,
        template="puzzle",
        ability="L1/Geometry/Shape",
        params={"frame": number},
        clip_id=clip_id,
    )
