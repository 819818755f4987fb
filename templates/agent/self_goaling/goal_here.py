"""L4/Open-world Exploration/Self-Goaling: which task can be done in a scene. Others are about objects that it lacks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from experts.objects.object_names import folded
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.episode import Episode
from templates.scene.named import may_be_called
from templates.scene.objects import boxed, seen_objects
from templates.scene.outlines import outline_sigma_px
from templates.scene.scene import Scene
from templates.scene.task_words import NOT_THIS_TASK, instruction_of, joined_words, same_words, separated
from templates.template import Template
from templates.world import World

_COLOURS = ("red", "yellow", "green", "blue", "purple", "pink", "black")
"""Those that a picture tells apart."""
_MOVED = (
    "apple", "banana", "book", "bottle", "bowl", "brush", "can", "carrot", "corn", "cup", "fork", "jar", "knife",
    "lemon", "mug", "mushroom", "orange", "pan", "pot", "potato", "scissors", "spatula", "sponge", "spoon", "tomato",
    "towel",
)  # fmt: skip
"""What people put, push and carry, in words that mean one kind of object: a "toy" or a "box" can be nearly anything."""
_VERBS = ("put", "place", "pick", "move", "take", "push", "pull", "bring", "lift", "grab", "carry", "get", "slide")
"""A task that begins so can be about any of them."""
_OTHERS = 3


@dataclass(frozen=True, kw_only=True)
class TaskHere(Facts):
    """A photo, its task, the object that the task is about, and other names in its place, one in a line."""

    frame: Int64[np.ndarray, "n"]
    task: Texts
    name: Texts
    others: Texts


@dataclass(frozen=True, kw_only=True)
class GoalHere(Template):
    """The task of a clip among the same task about objects that are not there, where every object is listed. Measures
    the visible area of the object, as a share of the photo."""

    name: str = "goal_here"
    version: str = "2"
    ability: str = "L4/Open-world Exploration/Self-Goaling"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = TaskHere
    needs: frozenset[str] = frozenset({"objects", "task"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "task"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TaskHere:
        """Photos that show the object of the task, and names of none."""
        task, rows = instruction_of(scene), []
        clear = boxed(seen_objects(scene), scene)
        present = {*seen_objects(scene).name.tolist()}
        for name in sorted({one for one in clear.name.tolist() if _is_about(task, one)}):
            absent = [one for one in _instead_of(task, name) if _is_absent(one, present)]
            frames = np.unique(clear.frame[clear.name == name])
            for frame in rng.permutation(frames)[:count].tolist() if len(absent) >= _OTHERS else ():
                others = tuple(rng.permutation(absent)[:_OTHERS].tolist())
                rows.append({"frame": frame, "task": task, "name": name, "others": joined_words(others)})
        return TaskHere.from_json([rows[k] for k in rng.permutation(len(rows))[:count]])

    def measure(self, facts: TaskHere, scene: Scene) -> Measured:
        """The task, where its object is clearly visible and all others are surely not there."""
        seen, objects, task = seen_objects(scene), scene.objects, instruction_of(scene)
        clear, present = boxed(seen, scene), {*seen.name.tolist()}
        listed = {folded(one) if one != "*" else one for one in (() if objects is None else objects.complete)}
        others = separated(facts.others)
        photo_px = scene.clip.width_px * scene.clip.height_px
        area = np.array([
            clear.area_px[(clear.frame == frame) & (clear.name == name)].max(initial=0.0)
            for frame, name in zip(facts.frame.tolist(), facts.name.tolist(), strict=True)
        ]).reshape(-1)  # fmt: skip
        doubts = None if objects is None else objects.name_outlier_probability
        doubt = 0.0 if doubts is None else float(1 - np.prod(1 - doubts))
        each = [*zip(facts.task.tolist(), facts.name.tolist(), others, strict=True)]
        cases = {
            NOT_THIS_TASK: ~same_words(facts.task, task),
            "the task is not about an object of this name": _flags([not _is_about(t, name) for t, name, _ in each]),
            "not every object is listed": _flags(
                ["*" not in listed and not {*map(folded, names)} <= listed for _, _, names in each]
            ),
            "another object may be there too": _flags(
                [len(names) < _OTHERS or not all(_is_absent(one, present) for one in names) for _, _, names in each]
            ),
            "the photo does not show the object clearly": ~(area > 0),
        }
        side_px, sigma_px = np.sqrt(np.maximum(np.nan_to_num(area), 1.0)), outline_sigma_px(scene)
        return Measured(
            why=first_reason(len(facts), cases),
            value=area[:, None] / photo_px,
            sigma=(4 * side_px * sigma_px / photo_px)[:, None],
            label=facts.task,
            evidence={"shown_percent": (100 * area / photo_px).round(2)},
            margin=side_px / (4 * sigma_px),
            outlier_probability=np.full(len(facts), doubt),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The task."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: TaskHere, answers: Answers, chance: Chance) -> Offer:
        """The task, and the same about each other object."""
        options = [
            [task, *(_about(task, name, other) for other in [*others, *[""] * _OTHERS][:_OTHERS])]
            for task, name, others in zip(
                facts.task.tolist(), facts.name.tolist(), separated(facts.others), strict=True
            )
        ]
        texts = np.array(options, dtype=np.str_).reshape(len(facts), 1 + _OTHERS)
        return Offer.first_right(texts, mistakes=["", *["the object is not there"] * _OTHERS])

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        assert offer is not None
        return Phrasing(media=(Photo(frame=fact["frame"]),), options=tuple(offer.values(0)))


def _flags(each: list[bool]) -> np.ndarray:
    return np.array(each, dtype=bool)


def _is_about(task: str, name: str) -> bool:
    """Whether the task is to move an object of this name, of which there may be any other."""
    return bool(
        name and task and task.split()[0].casefold() in _VERBS and _instead_of(task, name) and _named(name).search(task)
    )


def _instead_of(task: str, name: str) -> list[str]:
    """Names that the task does not mention, and that might stand in the place of this one: another colour, or another
    thing that people move."""
    noun = name.partition(" ")[2]
    others = [f"{other} {noun}" for other in _COLOURS] if noun else [*_MOVED]
    others = others if name in others else []
    return [other for other in others if other != name and other not in task.casefold()]


def _is_absent(name: str, present: set[str]) -> bool:
    """Whether no object can be meant by the name. Some people call purple what others call pink."""
    alike = {folded(name), folded(name.replace("purple", "pink")), folded(name.replace("pink", "purple"))}
    return not any(one in present or may_be_called(one, present) for one in alike)


def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"\bthe {re.escape(name)}\b", re.IGNORECASE)


def _about(task: str, name: str, other: str) -> str:
    return _named(name).sub(f"the {other}", task)
