"""Templates ask about the world that they declare: any clip, clips in which something is done, or no footage."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from jaxtyping import Int64

from experts.signals import EffectorPath, Task
from templates.answers import Label
from templates.facts import Facts
from templates.generate import ask_clip, ask_puzzles
from templates.measured import Measured
from templates.media import Photo
from templates.question import Phrasing
from templates.registry import create_templates
from templates.scene.episode import Episode
from templates.settings import AskSettings
from templates.template import Template
from templates.wording import Wording
from templates.world import NO_FOOTAGE
from tests.templates import worlds
from tests.templates.puzzle import TurnedSquares

CUP = Task(
    instruction="put the cup on the plate",
    step_texts=("take the cup", "put it on the plate"),
    step_frames=np.array([0, 20]),
    success=True,
    provenance=worlds.SOURCE,
)


@dataclass(frozen=True, kw_only=True)
class Moment(Facts):
    frame: Int64[np.ndarray, "n"]


class Step(Template):
    """Which step of the task a photo shows."""

    name, version, ability = "step", "1", "L4/Open-world Exploration/Self-Goaling"
    formats, facts, world = ("choice",), Moment, Episode
    labels: ClassVar[Mapping[str, tuple[str, ...]]] = {"choice": ("first", "second")}
    needs = reads = frozenset({"task"})

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Moment:
        return Moment(frame=rng.choice(episode.clip.frames, count))

    def measure(self, facts: Moment, episode: Episode) -> Measured:
        assert episode.task is not None
        after = (facts.frame - episode.task.step_frames[1]).astype(float)[:, None]
        return Measured(why=np.full(len(facts), ""), value=after, sigma=np.ones_like(after))

    def answer(self, format: str, facts: Moment, measured: Measured) -> Label:
        after = measured.value[:, 0]
        return Label(text=np.where(after > 0, "second", "first"), margin=np.abs(after))

    def phrase(self, format: str, fact: dict, answer: Label, offer: object) -> Phrasing:
        return Phrasing(media=(Photo(frame=fact["frame"]),))

    def wording(self, key: str) -> Wording:
        return Wording(prompts=("Which step is it?",), options={"first": "the first", "second": "the second"})


def test_an_episode_is_asked_by_its_own_templates_and_by_those_about_clips() -> None:
    signals = {**worlds.signals(), "task": CUP}
    assert isinstance(worlds.scene(signals), Episode)
    found = ask_clip(worlds.clip(), signals, [Step(), create_templates()["camera_tilt"]], AskSettings(), 0)
    drafts = worlds.drafts(found)
    assert {draft.template for draft in drafts} == {"step", "camera_tilt"}
    steps = [draft for draft in drafts if draft.template == "step"]
    assert all((draft.fact["frame"] > 20) == (draft.answer.to_json().value == "second") for draft in steps)
    assert all(abs(draft.fact["frame"] - 20) > 2 for draft in steps), "σ is one frame"
    assert [record["signal"] for record in steps[0].origin.provenance] == ["task"]


def test_a_clip_that_is_no_episode_is_refused_with_the_reason() -> None:
    assert worlds.reasons(worlds.ask(Step(), worlds.signals())) == {"task not measured"}
    anything = Step()
    anything.needs = frozenset()
    assert worlds.reasons(worlds.ask(anything, worlds.signals())) == {"the clip is no Episode"}


def test_an_effector_path_alone_makes_an_episode() -> None:
    poses = np.broadcast_to(np.eye(4), (48, 4, 4)).copy()
    path = EffectorPath(
        frames=np.arange(48),
        base_from_view=poses,
        opening=np.linspace(1, 0, 48),
        rotation_sigma_rad=np.full(48, 0.01),
        position_sigma=np.full(48, 0.001),
        effector="gripper",
        scale=worlds.METRIC,
        provenance=worlds.SOURCE,
    )
    episode = worlds.scene({**worlds.signals(), "effector_path": path})
    assert isinstance(episode, Episode) and episode.task is None and episode.effector is path


def test_puzzles_need_no_clip_and_are_about_nothing_else() -> None:
    found = ask_puzzles([TurnedSquares(), create_templates()["camera_tilt"]], 40, 3)
    drafts = worlds.drafts(found)
    assert len(drafts) == 40 and {draft.template for draft in drafts} == {"turned_squares"}
    assert {draft.clip_id for draft in drafts} == {draft.fact_id for draft in drafts}
    maker = drafts[0].origin
    assert [(record["expert"], record["version"]) for record in maker.provenance] == [("turned_squares", "1")]
    assert maker.licence["footage"] == NO_FOOTAGE and maker.licence["signals"] == ["unknown"]
    assert not ask_puzzles([TurnedSquares()], 0, 3).asked
    assert not worlds.ask(TurnedSquares(), worlds.signals()).asked, "puzzles do not depend on clips"


def test_one_puzzle_has_one_id_whatever_the_seed() -> None:
    ids = [
        {draft.fact_id: draft.fact for draft in worlds.drafts(ask_puzzles([TurnedSquares()], 300, s))} for s in (0, 1)
    ]
    common = ids[0].keys() & ids[1].keys()
    assert common and len(common) < 300
    assert all(ids[0][each] == ids[1][each] for each in common)
    again = worlds.drafts(ask_puzzles([TurnedSquares()], 300, 1))
    assert [draft.fact_id for draft in again] == list(ids[1])


def test_a_puzzle_that_shows_a_photo_is_refused() -> None:
    from spatial_engine.dataset.question_line import question_of

    (draft, *_) = worlds.drafts(ask_puzzles([TurnedSquares()], 1, 0))
    with pytest.raises(ValueError, match="a puzzle shows a photo or a video; allowed: Drawing, Sheet"):
        question_of(replace(draft, media=(Photo(frame=0),)), (), None)
