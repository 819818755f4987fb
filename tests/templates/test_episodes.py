"""Questions about rendered episodes, answered again by where the object, the plate and the gripper are."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from experts.clip import Clip
from experts.signals import EffectorPath, NoEstimate, Signal, Task
from spatial_engine.rendering import as_clip
from spatial_engine.rendering.episodes import RenderedEpisode, pick_and_place, true_episode_signals
from spatial_engine.rendering.push_and_pull import open_drawer, push
from templates.agent.self_goaling.goal_here import _instead_of, _is_absent
from templates.asked import ClipQuestions, Draft
from templates.columns import Json
from templates.generate import ask_clip, measured_by
from templates.registry import TEMPLATES
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from tests.templates import worlds
from tests.templates.in_rooms import seeds

IsRight = Callable[[RenderedEpisode, Mapping[str, Json], Draft], bool]
LEAF = ("most_progress", "done_yet", "steps_and_done", "goal_here")
_FRAMES = 120


KINDS = (pick_and_place, push, open_drawer)


def made(seed: int) -> RenderedEpisode:
    """Of each kind by turns; every fourth attempt fails."""
    rng = np.random.default_rng(seed)
    return KINDS[seed % 3](rng, frames=_FRAMES, width_px=160, height_px=120, succeeds=seed % 4 != 3)


def signals_of(episode: RenderedEpisode) -> tuple[Clip, dict[str, Signal]]:
    clip = as_clip(episode.scene)
    return clip, true_episode_signals(episode, clip, stride=20)


def asked(
    episode: RenderedEpisode, names: tuple[str, ...] = LEAF, facts: int = 20, **changes: Signal | NoEstimate
) -> ClipQuestions:
    clip, signals = signals_of(episode)
    templates = [TEMPLATES.load(name)() for name in names]
    return ask_clip(clip, {**signals, **changes}, templates, AskSettings(facts_per_template=facts), 0)


def fingers(episode: RenderedEpisode, frame: int) -> np.ndarray:
    """The place between the tips of the fingers."""
    wrist = episode.world_from_base @ episode.base_from_view[frame]
    return wrist[:3, 3] + 0.1 * wrist[:3, 2]


def moved(episode: RenderedEpisode, frame: int) -> np.ndarray:
    """Where the object of the task is."""
    return episode.scene.moving_boxes[0].world_from_box[frame, :3, 3]


def how_far(episode: RenderedEpisode, frame: int) -> tuple[float, ...]:
    """Grows with the progress: nearer to the object, closed, up, nearer to the plate, down, open. After that, none."""
    at, start, end = (moved(episode, f) for f in (frame, 0, len(episode.scene) - 1))
    apart, opening = float(np.linalg.norm(fingers(episode, frame) - at)), float(episode.opening[frame])
    if np.linalg.norm(at - start) < 1e-6:
        return (0, -round(apart, 5), -round(opening, 5))
    if np.linalg.norm(at - end) < 1e-6:
        return (2, round(opening, 5))
    left = float(np.linalg.norm((end - at)[:2]))
    arrived = left < 1e-6
    return (1, -round(left, 5), round(float(-at[2] if arrived else at[2]), 5))


def is_done(episode: RenderedEpisode, frame: int) -> bool:
    """Whether the object is on the plate or the mat, or the drawer is open, and the gripper has left it."""
    at, left = moved(episode, frame), np.linalg.norm(fingers(episode, frame) - moved(episode, frame)) > 0.1
    goals = [box for box in episode.scene.boxes if box.name in ("plate", "mat")]
    if not goals:
        return bool(left and at[1] < moved(episode, 0)[1] - 0.12)
    across = at - goals[0].world_from_box[:3, 3]
    return bool(left and np.abs(across[:2]).max() < goals[0].half_m[0] and across[2] < 0.09)


def next_action(episode: RenderedEpisode, frame: int) -> str:
    """The step that is to be done next, by what the gripper holds and where it is."""
    (phase, *_), steps = how_far(episode, frame), episode.task.step_texts
    off, closed = fingers(episode, frame) - moved(episode, frame), episode.opening[frame] < 0.5
    if steps[0].startswith("move towards"):
        placed = int(abs(off[0]) < 0.005) + int(abs(off[0]) < 0.005 and abs(off[2]) < 0.03)
        return steps[placed if phase == 0 else 3]
    if steps[1] == "take its handle":
        before = 0 if np.abs(off[[0, 2]]).max() > 0.005 else 2 if closed else 1
        return steps[before if phase == 0 else 3 if closed else 4]
    if phase == 0 and np.linalg.norm(off) >= 0.02:
        return steps[int(np.linalg.norm(off[:2]) < 0.005)]
    return steps[2 + int(phase)]


def right_progress(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    progress = [how_far(episode, frame) for frame in fact["frames"]]
    return len({*progress}) == 4 and progress.index(max(progress)) == draft.written


def right_done(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    """Where it is not done, 4 cm of the way of the object are left, or it never moves."""
    frame, end = fact["frame"], len(episode.scene) - 1
    left = np.linalg.norm(moved(episode, end) - moved(episode, frame))
    clear = is_done(episode, frame) or left > 0.04 or not episode.task.success
    return clear and (draft.answer.to_json().answer == "yes") == is_done(episode, frame)


def right_steps(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    *two, last = fact["frames"]
    letters = [
        "ABCD"[fact[name].split("\n").index(next_action(episode, frame))]
        for name, frame in zip(("first", "second"), two, strict=True)
    ]
    return draft.answer.to_json().answer == "".join(letters) + str(int(is_done(episode, last)))


def right_next(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    return draft.answer.to_json().answer == next_action(episode, fact["frame"])


def right_missing(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    """The first photo calls for the step, and after it the second one for the next, or for nothing."""
    steps = episode.task.step_texts
    first, after = (next_action(episode, frame) for frame in fact["frames"])
    at_end = steps.index(first) == len(steps) - 1 and is_done(episode, fact["frames"][1])
    follows = at_end or steps.index(after) == steps.index(first) + 1
    return follows and draft.answer.to_json().answer == first


def right_order(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    progress = [how_far(episode, frame) for frame in fact["frames"]]
    order = [1 + k for k in sorted(range(4), key=progress.__getitem__)]
    if draft.format == "order":
        return draft.written == order
    shown = [option.shown for option in draft.options]
    return shown.index(", ".join(map(str, order))) == draft.written


def right_pair(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    progress = [how_far(episode, medium.frame) for medium in draft.media]
    return progress[0] != progress[1] and progress.index(max(progress)) == draft.written


def right_goal(episode: RenderedEpisode, fact: Mapping[str, Json], draft: Draft) -> bool:
    ids, names = episode.scene.object_ids(fact["frame"]), [one.name for one in episode.scene.objects]
    shown = {names[k] for k in np.unique(ids[ids >= 0]).tolist()}
    fits = [
        number for number, option in enumerate(draft.options) if any(f"the {name} on" in option.shown for name in shown)
    ]
    return fits == [draft.written]


RIGHT: dict[str, IsRight] = {
    "most_progress": right_progress,
    "done_yet": right_done,
    "steps_and_done": right_steps,
    "goal_here": right_goal,
    "next_step": right_next,
    "missing_step": right_missing,
    "state_order": right_order,
    "progress_pair": right_pair,
}


@seeds(1, 12)
def test_answers_are_what_the_scene_shows(seed: int) -> None:
    episode = made(seed)
    drafts = worlds.drafts(asked(episode, tuple(RIGHT)))
    least = {*RIGHT} - {"goal_here"} if episode.task.success else {"done_yet"}
    assert {draft.template for draft in drafts} - {"goal_here"} == least
    for draft in drafts:
        assert RIGHT[draft.template](episode, draft.fact, draft), (draft.template, draft.fact, draft.answer)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6])
def test_grips_alone_divide_a_task_too(seed: int) -> None:
    """Many datasets name no steps."""
    episode = made(seed)
    task = replace(episode.task, step_texts=(), step_frames=episode.task.step_frames[:0])
    names = ("most_progress", "done_yet", "state_order", "steps_and_done", "next_step", "missing_step")
    drafts = worlds.drafts(asked(episode, names, task=task))
    assert {draft.template for draft in drafts} == {"most_progress", "done_yet", "state_order"}
    for draft in drafts:
        assert RIGHT[draft.template](episode, draft.fact, draft), (draft.template, draft.fact, draft.answer)


def test_both_answers_and_all_photos_are_right_somewhere() -> None:
    drafts = [draft for seed in range(6) for draft in worlds.drafts(asked(made(seed), facts=40))]
    done = [d.answer.to_json().answer for d in drafts if d.template == "done_yet"]
    assert 0.3 < done.count("yes") / len(done) < 0.6
    photos = [d.written for d in drafts if d.template == "most_progress"]
    assert all(0.15 < photos.count(k) / len(photos) < 0.35 for k in range(4))
    ends = [d.answer.to_json().answer[2] for d in drafts if d.template == "steps_and_done"]
    assert 0.4 < ends.count("1") / len(ends) < 0.6
    assert [d.template for d in drafts].count("goal_here") > 4


def test_no_wrong_answer_is_told_from_the_right_one_by_its_letters() -> None:
    for draft in worlds.drafts(asked(made(0), ("steps_and_done",), 40)):
        columns = list(zip(*(option.shown for option in draft.options), strict=True))
        assert len({option.shown for option in draft.options}) == 6
        assert all(len({*column}) == 2 and column.count(column[0]) == 3 for column in columns)


def test_both_orders_of_each_pair_are_asked_with_one_truth() -> None:
    pairs: dict[str, list[Draft]] = {}
    for draft in worlds.drafts(asked(long(0), ("progress_pair",), 200)):
        pairs.setdefault(draft.evidence["pair"], []).append(draft)
    for one, other in pairs.values():
        assert [m.frame for m in one.media] == [m.frame for m in other.media][::-1]
        assert {one.written, other.written} == {0, 1} and one.fact["change"] == other.fact["change"]
        assert {one.evidence["target"], other.evidence["target"]} == {"img1", "img2"}
        assert one.evidence["suite"] == "spatiallogic"
        frames = sorted(m.frame for m in one.media)
        assert one.evidence["window"] == (frames[1] - frames[0]) / 10 >= 5 and not frames[0] % 10
    told = [one for one, _ in pairs.values() if one.fact["change"]]
    assert 0.4 < len(told) / len(pairs) < 0.6
    assert all(one.fact["change"] in one.prompt for one in told)


def long(seed: int) -> RenderedEpisode:
    """Long enough for all windows."""
    return pick_and_place(np.random.default_rng(seed), frames=240, width_px=64, height_px=48)


@pytest.mark.long(sample=True)
def test_episodes_give_pairs_of_all_windows() -> None:
    """Eight times 500 pairs in 60 episodes; here in 6 of them."""
    windows: dict[int, int] = {}
    for seed in range(6):
        episode = long(seed)
        clip, signals = signals_of(episode)
        (world,) = scenes_of(clip, signals)
        template = TEMPLATES.load("progress_pair")()
        facts = template.propose(world, np.random.default_rng(0), 2000)
        measured = measured_by(template, facts, world)
        assert set(measured.why) == {""} and (facts.inverse[::2] != facts.inverse[1::2]).all()
        for (a, b), label, inverse in zip(facts.frames.tolist(), measured.label, facts.inverse, strict=True):
            assert how_far(episode, a) < how_far(episode, b) and label == ("1" if inverse else "2")
            windows[min((b - a) // 10, 12)] = windows.get(min((b - a) // 10, 12), 0) + int(not inverse)
    assert {*windows} == {*range(5, 13)} and min(windows.values()) >= 50


def elsewhere(path: EffectorPath) -> EffectorPath:
    """The same path seen from another base, in other units."""
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], (3, -2, 1)
    poses = base @ path.base_from_view
    poses[:, :3, 3] *= 100
    return replace(path, base_from_view=poses, position_sigma=100 * path.position_sigma)


def test_answers_depend_on_no_base_and_no_unit() -> None:
    episode = made(0)
    path = signals_of(episode)[1]["effector_path"]
    assert isinstance(path, EffectorPath)
    one, other = (
        [(d.fact, d.written) for d in worlds.drafts(asked(episode, effector_path=each))]
        for each in (path, elsewhere(path))
    )
    assert one == other


UNSURE: dict[str, Callable[[EffectorPath, Task], tuple[EffectorPath, Task]]] = {
    "σ is large": lambda path, task: (replace(path, position_sigma=0 * path.position_sigma + 0.1), task),
    "success is not known": lambda path, task: (path, replace(task, success=None)),
    "no words": lambda path, task: (path, replace(task, instruction="")),
    "words that cannot be quoted": lambda path, task: (path, replace(task, instruction='say "hello"')),
    "the effector stands still": lambda path, task: (
        replace(path, base_from_view=path.base_from_view[:1].repeat(len(path.frames), axis=0)),
        task,
    ),
    "the effector jumps": lambda path, task: (
        replace(path, base_from_view=np.where((path.frames % 9 == 0)[:, None, None], np.eye(4), path.base_from_view)),
        task,
    ),
    "no pose": lambda path, task: (replace(path, base_from_view=np.nan * path.base_from_view), task),
}


@pytest.mark.parametrize("case", UNSURE)
def test_what_is_not_sure_is_not_asked(case: str) -> None:
    episode = made(0)
    path = signals_of(episode)[1]["effector_path"]
    assert isinstance(path, EffectorPath)
    changed, task = UNSURE[case](path, episode.task)
    found = asked(episode, ("most_progress", "done_yet", "steps_and_done"), effector_path=changed, task=task)
    assert not found.asked and found.refusals


def test_a_second_try_is_no_progress() -> None:
    """The fingers close, open, and close again within a step."""
    episode = made(0)
    path = signals_of(episode)[1]["effector_path"]
    assert isinstance(path, EffectorPath)
    opening = path.opening.copy()
    first, last = (int(frame) for frame in episode.task.step_frames[[1, 2]])
    opening[first + 2 : first + 6] = opening.min()
    found = asked(episode, ("most_progress",), 60, effector_path=replace(path, opening=opening))
    for draft in worlds.drafts(found):
        frames = sorted(draft.fact["frames"])
        assert frames[0] > first + 2 or frames[-1] < last
    (why,) = {*whys(episode, replace(path, opening=opening), [first, first + 10, last, 119])}
    assert why == "the effector goes back or grips again in between"


def measured_why(name: str, episode: RenderedEpisode, rows: list[dict[str, Json]], **changes: Signal) -> list[str]:
    """Why a template refuses these facts about the task."""
    clip, signals = signals_of(episode)
    template = TEMPLATES.load(name)()
    (world,) = scenes_of(clip, {**signals, **changes})
    facts = template.facts.from_json([{"task": episode.task.instruction, **row} for row in rows])
    return measured_by(template, facts, world).why.tolist()


def early(episode: RenderedEpisode, last_step: str = "") -> dict[str, Signal]:
    """The same attempt in two thirds of the time, with one more step or without any: the gripper lets go at frame 69,
    goes home, and closes there on nothing at frame 112."""
    path, rows = signals_of(episode)[1]["effector_path"], np.minimum(np.arange(_FRAMES) * 3 // 2, _FRAMES - 1)
    assert isinstance(path, EffectorPath)
    opening = np.where(np.arange(_FRAMES) < 112, path.opening[rows], path.opening.min())
    texts, starts = (*episode.task.step_texts, last_step), np.append(episode.task.step_frames * 2 // 3, 112)
    count = len(texts) if last_step else 0
    return {
        "effector_path": replace(path, base_from_view=path.base_from_view[rows], opening=opening),
        "task": replace(episode.task, step_texts=texts[:count], step_frames=starts[:count]),
    }


def test_what_follows_the_last_letting_go_is_no_progress() -> None:
    episode = made(0)
    changes, two = early(episode, "close the gripper"), "the task may be finished in two photos"
    for name in ("most_progress", "state_order"):
        rows: list[dict[str, Json]] = [{"frames": [10, 40, 72, 80]}, {"frames": [10, 40, 60, 80]}]
        assert measured_why(name, episode, rows, **changes) == [two, ""]
    rows = [{"frames": frames, "inverse": False, "change": ""} for frames in ([72, 80], [60, 80])]
    assert measured_why("progress_pair", episode, rows, **changes) == [two, ""]


@pytest.mark.parametrize("last_step", ["", "close the gripper"])
def test_an_empty_gripper_that_closes_at_home_was_not_needed(last_step: str) -> None:
    episode = made(0)
    rows: list[dict[str, Json]] = [{"frame": frame} for frame in range(72, 91)]
    found = measured_why("done_yet", episode, rows, **early(episode, last_step))
    assert {*found} == {"the task may be finished or nearly finished"}


def test_the_steps_are_told_in_their_order() -> None:
    """Which comes next is told from the plan alone where they do not depend on each other."""
    steps = "; ".join(made(0).task.step_texts)
    drafts = worlds.drafts(asked(made(0), ("next_step", "steps_and_done")))
    assert {draft.template for draft in drafts} == {"next_step", "steps_and_done"}
    assert all(steps in draft.prompt for draft in drafts)


def whys(episode: RenderedEpisode, path: EffectorPath, frames: list[int]) -> list[str]:
    """Why these photos are refused, on that path."""
    clip, signals = signals_of(episode)
    template = TEMPLATES.load("most_progress")()
    (world,) = scenes_of(clip, {**signals, "effector_path": path})
    facts = template.facts.from_json([{"frames": frames, "task": episode.task.instruction}])
    return measured_by(template, facts, world).why.tolist()


def test_photos_of_different_states_look_different() -> None:
    """By far more than the noise of a camera (3 grey levels)."""
    episode = pick_and_place(np.random.default_rng(0), frames=_FRAMES)
    for draft in worlds.drafts(asked(episode, ("most_progress",), 6)):
        pictures = [episode.scene.picture(frame).astype(float) for frame in draft.fact["frames"]]
        for k, one in enumerate(pictures):
            for other in pictures[k + 1 :]:
                assert (np.abs(one - other).max(axis=2) > 9).sum() > 40


@pytest.mark.parametrize(
    ("name", "present", "absent"),
    [("cup", "mug", False), ("mug", "cup", False), ("purple block", "pink block", False),
     ("pink block", "purple block", False), ("spoon", "mug", True), ("green block", "pink block", True)],
)  # fmt: skip
def test_no_task_is_wrong_that_another_name_makes_right(name: str, present: str, absent: bool) -> None:
    assert _is_absent(name, {present}) is absent


def test_a_task_about_a_toy_or_a_box_is_no_wrong_option() -> None:
    """Where all objects are listed, one of them may be called so."""
    assert not {"toy", "box"} & {*_instead_of("put the apple on the plate", "apple")}
