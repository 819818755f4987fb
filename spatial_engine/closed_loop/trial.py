"""One task under way: what a model has been shown, what it has done, and whether it got there."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from action_mapping.plan import MAX_STEPS
from action_mapping.primitives import STAY
from spatial_engine.closed_loop.episodes import Episode
from spatial_engine.closed_loop.room import MOVES, STEP_M, TURN_DEG
from spatial_engine.scoring.reading.plan import read_plan
from spatial_engine.scoring.reading.reading import Unreadable
from templates.answers.measures import spl
from templates.columns import Json

STOP = "STOP"
_STOPS = {STAY.name: STOP}
"""The published key of staying is STOP: it is read as that."""
MAX_REPLIES, MAX_STEPS_IN_ALL = 20, 100

_RULES = f"""\
A camera moves through a furnished room, level and at one height. A step of moving is {STEP_M * 100:g} cm, a step of \
turning {TURN_DEG} degrees. Dolly In moves forwards, Dolly Out backwards, Truck Left and Truck Right sideways; \
Pan Left and Pan Right turn. The camera does not get nearer than 20 cm to walls and furniture: at a step that is \
blocked it stays where it is, and the rest of the plan is left out. Plan at most {MAX_STEPS} steps at a time; they are \
taken in the order in which they stand, and then you see a new photo. Add {STOP} when the camera is where it should \
be: this ends the task. There are at most {MAX_REPLIES} plans and {MAX_STEPS_IN_ALL} steps in all.
Answer with one JSON object: {{"actions": ["Pan Left", "Dolly In"], "step_nums": [2, 4]}}, or with {{"actions": \
["{STOP}"], "step_nums": [1]}}."""
_TO_PHOTO = (
    "This is what the camera shows now:",
    f"This is the goal: the photo that the camera is to take. {STOP} within one step and one turn of where it was "
    "taken, looking the same way.",
)
_TO_OBJECT = (
    "This is what the camera shows now:",
    f"The goal: find the {{name}}. {STOP} at most 1.5 m from it, when it is in the middle half of the photo, from left "
    "to right.",
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a task ended."""

    success: bool
    """Whether the camera was stopped where the goal is reached."""
    spl: float
    """Success weighted by the number of steps (Anderson et al. 2018): by the fewest over those taken."""
    steps: int
    blocked: int
    """Steps that were not free."""
    replies: int
    unreadable: int
    """Replies without a plan that can be followed, time-outs among them."""
    stopped: bool


@dataclass(kw_only=True)
class Trial:
    """A task, and what has been done so far."""

    episode: Episode
    moves: list[str] = field(default_factory=list)
    """Every step that was taken."""
    said: list[str] = field(default_factory=list)
    """What came of each reply, in words for the next prompt."""
    blocked: int = 0
    unreadable: int = 0
    stopped: bool = False

    def __post_init__(self) -> None:
        self.stand = np.array(self.episode.start)

    @property
    def ended(self) -> bool:
        """Whether nothing more is asked."""
        return self.stopped or len(self.said) >= MAX_REPLIES or self._steps >= MAX_STEPS_IN_ALL

    def prompt(self) -> tuple[str, str, str]:
        """What is said before the photo, between it and the goal photo (or instead of that), and at the end."""
        now, goal = _TO_PHOTO if self.episode.goal is not None else _TO_OBJECT
        before = "\n".join(f"Plan {number}: {words}" for number, words in enumerate(self.said, start=1))
        done = f"So far:\n{before}\n\n" if before else ""
        return now, goal.format(name=self.episode.object), f"{done}{_RULES}"

    def take(self, reply: str | None) -> None:
        """Follows a reply. One that is missing or holds no plan moves nothing."""
        plan = read_plan(reply or "")
        if isinstance(plan, Unreadable) or not isinstance(plan.value, Mapping) or (fault := _fault(plan.value)):
            self.unreadable += 1
            self.said.append("no plan was read" if isinstance(plan, Unreadable) else fault)
            return
        self.follow([_STOPS.get(name, name) for name in plan.value["actions"]], plan.value["step_nums"])

    def follow(self, actions: Sequence[str], counts: Sequence[int]) -> None:
        """Takes steps in order, up to a blocked one or a stop."""
        words = []
        for name, count in zip(actions, counts, strict=True):
            if name == STOP:
                self.stopped = True
                words.append(STOP)
                break
            taken = self._go(name, count)
            words.append(f"{name} {taken}" + ("" if taken == count else ", then blocked"))
            if taken < count:
                break
        self.said.append(", ".join(words))

    def _go(self, name: str, count: int) -> int:
        for taken in range(count):
            if self._steps >= MAX_STEPS_IN_ALL:
                return taken
            there, free = self.episode.room.moved(self.stand[None], np.array([MOVES.index(name)]))
            if not free[0]:
                self.blocked += 1
                return taken
            self.stand = there[0]
            self.moves.append(name)
        return count

    @property
    def _steps(self) -> int:
        return len(self.moves) + self.blocked

    def outcome(self) -> Outcome:
        """As far as it went."""
        success = self.stopped and self.episode.reached(self.stand)
        return Outcome(
            success=success,
            spl=spl(success, len(self.episode.plan), self._steps),
            steps=self._steps,
            blocked=self.blocked,
            replies=len(self.said),
            unreadable=self.unreadable,
            stopped=self.stopped,
        )

    def record(self) -> dict[str, Json]:
        """One line of `episodes.jsonl`."""
        known = asdict(self.episode) | {"fewest": len(self.episode.plan)}
        return {**known, **asdict(self.outcome()), "said": self.said, "end": self.stand.tolist()}


def _fault(plan: Mapping[str, Json]) -> str:
    """Why a plan cannot be followed, in words for the model; "" if it can."""
    names, counts = [_STOPS.get(name, name) for name in plan["actions"]], plan["step_nums"]
    if unknown := [name for name in names if name != STOP and name not in MOVES]:
        return f"there is no {unknown[0]!r}: nothing was moved"
    whole = all(isinstance(count, int) and count >= 0 for count in counts)
    steps = sum(count for name, count in zip(names, counts, strict=True) if name != STOP) if whole else MAX_STEPS + 1
    return f"more than {MAX_STEPS} steps, or no whole numbers: nothing was moved" if steps > MAX_STEPS else ""


def walked(episode: Episode, moves: Sequence[str]) -> Outcome:
    """What comes of single steps, and a stop after them."""
    trial = Trial(episode=episode)
    for name in moves:
        trial.follow([name], [1])
    trial.follow([STOP], [1])
    return trial.outcome()
