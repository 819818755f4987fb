"""Questions about a rendered gripper, answered again from the boxes that its palm and its fingers are made of."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.dataset.question_line import question_of
from spatial_engine.rendering import RenderedScene, as_clip
from spatial_engine.rendering.episodes import RenderedEpisode, pick_and_place, true_episode_signals
from spatial_engine.rendering.push_and_pull import open_drawer, push
from spatial_engine.scoring import official, own, strict
from spatial_engine.scoring.official.row import row
from templates.answers.registry import format_of
from templates.asked import Draft
from templates.columns import Json
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.settings import AskSettings
from tests.templates import worlds
from tests.templates.in_rooms import seeds

IsRight = Callable[[RenderedScene, Draft], bool]
FACTS = 20


KINDS = (pick_and_place, push, open_drawer)
SILENT = (set(), {"gripper_when", "which_arm_plan"}, set())
"""What is not asked of each kind: a gripper that pushes stays closed."""


def made(seed: int) -> RenderedEpisode:
    """Of each kind by turns; every fourth attempt fails."""
    return KINDS[seed % 3](np.random.default_rng(seed), width_px=64, height_px=48, succeeds=seed % 4 != 3)


def asked(seed: int) -> tuple[RenderedEpisode, list[Draft]]:
    episode = made(seed)
    clip = as_clip(episode.scene)
    templates = [TEMPLATES.load(name)() for name in RIGHT]
    signals = true_episode_signals(episode, clip, stride=60)
    return episode, worlds.drafts(ask_clip(clip, signals, templates, AskSettings(facts_per_template=FACTS), 0))


def pieces(scene: RenderedScene, name: str) -> np.ndarray:
    """Poses in the world of the boxes of that name: (boxes, frames, 4, 4)."""
    return np.array([moving.world_from_box for moving in scene.moving_boxes if moving.box.name == name])


def gap(scene: RenderedScene) -> np.ndarray:
    """Distance between the fingers in each frame, from 0 (least) to 1 (most); 0 of fingers that stay together."""
    left, right = pieces(scene, "finger")[..., :3, 3]
    apart = np.linalg.norm(left - right, axis=1)
    return np.asarray((apart - apart.min()) / max(np.ptp(apart), 0.01))


def along_fingers(scene: RenderedScene, frame_a: int, frame_b: int) -> float:
    """How far the palm moves the way the fingers point."""
    (palm,), fingers = pieces(scene, "wrist")[..., :3, 3], pieces(scene, "finger")[..., :3, 3].mean(axis=0)
    way = fingers[frame_a] - palm[frame_a]
    return float((palm[frame_b] - palm[frame_a]) @ way / np.linalg.norm(way))


def first_photo(scene: RenderedScene, draft: Draft) -> bool:
    """Of the later photos the first in which the fingers are near together, or apart; from then on they stay so."""
    wide = gap(scene)[draft.fact["frames"]] > 0.5
    new = wide if draft.fact["state"] == "open" else ~wide
    number = int(draft.options[worlds.written(draft)].value)
    return bool(not new[: number - 1].any() and new[number - 1 :].all())


def what_it_does(scene: RenderedScene, draft: Draft) -> bool:
    """From the gap before and after, and where the palm goes."""
    a, b = draft.fact["frames"]
    wide, said = gap(scene), draft.options[worlds.written(draft)].value
    if (wide[a] > 0.5) != (wide[b] > 0.5):
        return bool(said == ("opens" if wide[b] > wide[a] else "closes"))
    went = along_fingers(scene, a, b)
    return bool((wide[a : b + 1] < 0.4).all() and abs(went) > 0.02 and said == ("pushes" if went > 0 else "pulls"))


WAYS = {"Truck Right": (0, 1), "Truck Left": (0, -1), "Pedestal Down": (1, 1), "Pedestal Up": (1, -1)} | {
    "Dolly In": (2, 1), "Dolly Out": (2, -1)
}  # fmt: skip


def seen_motion(scene: RenderedScene, frame_a: int, frame_b: int) -> np.ndarray:
    """How far the palm moves to the right, downwards and away, as the camera of the first frame sees it."""
    (palm,) = pieces(scene, "wrist")[..., :3, 3]
    return np.asarray((palm[frame_b] - palm[frame_a]) @ scene.world_from_cam[frame_a, :3, :3])


def main_move(scene: RenderedScene, draft: Draft) -> bool:
    """The palm moves more that way than along any other axis, and visibly; these grippers never turn."""
    (a, b), (palm,) = draft.fact["frames"], pieces(scene, "wrist")[..., :3, 3]
    moved = seen_motion(scene, a, b) / np.linalg.norm(palm[a] - scene.world_from_cam[a, :3, 3])
    axis, sign = WAYS[draft.options[worlds.written(draft)].value]
    return bool(abs(moved[axis]) >= np.abs(moved).max() >= 0.02 and moved[axis] * sign > 0)


def followed(scene: RenderedScene, draft: Draft) -> bool:
    """After each step the palm is where the counts lead it, within one unit, and the fingers are as the plan says."""
    frames, answer, size = draft.fact["frames"], worlds.written(draft), draft.answer.to_json().scorer_params
    at, wide = np.zeros(3), gap(scene)
    for frame, step in zip(frames[1:], answer.values(), strict=True):
        for action, count in zip(step["actions"], step["step_nums"], strict=True):
            axis, sign = WAYS.get(action, (0, 0))
            assert (sign != 0) == (count > 0), "the gripper never turns"
            at[axis] += sign * count * size["translation_step_m"]
        missed = np.linalg.norm(at - seen_motion(scene, frames[0], frame))
        if missed > size["translation_step_m"] or step["gripper"] != ("open" if wide[frame] > 0.5 else "closed"):
            return False
    return 3 <= max(max(step["step_nums"]) for step in answer.values()) <= 10


def reached(scene: RenderedScene, draft: Draft) -> bool:
    """The palm ends within one unit of where the counts lead it, and the fingers are as the plan says."""
    (a, b), plan = draft.fact["frames"], str(draft.options[worlds.written(draft)].value)
    way, _, state = plan.rpartition("; ")
    at = np.zeros(3)
    for part in way.split(", "):
        number, said = part.split()
        axis = next(
            k for k, both in enumerate((("right", "left"), ("down", "up"), ("forwards", "backwards"))) if said in both
        )
        at[axis] = int(number) * (1 if said in ("right", "down", "forwards") else -1)
    missed = np.linalg.norm(at - seen_motion(scene, a, b) / (0.01 * draft.fact["unit_cm"]))
    return bool(missed < 1 and (gap(scene)[b] > 0.5) == (state == "open"))


def seven_numbers(scene: RenderedScene, draft: Draft) -> bool:
    """The way of the palm in centimetres, no turn, and the state of the fingers; far from no motion."""
    (a, b), answer = draft.fact["frames"], worlds.written(draft)
    moved = 100 * seen_motion(scene, a, b)
    stated = np.array([answer[name] for name in ("dx", "dy", "dz")])
    turns = [answer[name] for name in ("d_roll", "d_pitch", "d_yaw")]
    tolerance = draft.answer.to_json().tolerance
    near = np.abs(stated - moved).max() <= 0.06 and np.abs(turns).max() <= 0.1 and np.abs(moved).max() > tolerance["dx"]
    return bool(
        near and tolerance["dx"] <= max(3, 0.15 * np.linalg.norm(moved)) and answer["gripper"] == (gap(scene)[b] < 0.5)
    )


RIGHT: Mapping[str, IsRight] = {
    "arm_vectors": seven_numbers,
    "which_arm_plan": reached,
    "arm_plan": followed,
    "arm_next": main_move,
    "gripper_when": first_photo,
    "hand_does": what_it_does,
}

CHOICES = [name for name in RIGHT if name not in ("arm_plan", "arm_vectors")]


@seeds(1, 12)
def test_every_answer_is_that_of_the_boxes(seed: int) -> None:
    episode, drafts = asked(seed)
    for draft in drafts:
        assert RIGHT[draft.template](episode.scene, draft), (draft.template, draft.fact, worlds.written(draft))
    counts = {name: sum(draft.template == name for draft in drafts) for name in RIGHT}
    assert min(count for name, count in counts.items() if name not in SILENT[seed % 3]) >= FACTS / 2, counts


@seeds(1, 12)
def test_plans_score_1_by_every_scorer_and_doing_nothing_0(seed: int) -> None:
    episode, drafts = asked(seed)
    form, clip = format_of("arm_plan"), as_clip(episode.scene)
    questions = [question_of(draft, (), clip) for draft in drafts if draft.format == "arm_plan"]
    assert len({len(question.answer) for question in questions}) >= 4
    for question in questions:
        made = row(question)
        assert isinstance(made, dict)
        hint, right = json.loads(made["hint"]), form.official_text(question.answer)
        assert official.process_results(made, [right])["SpaTreeBench"]["score"] == pytest.approx(1)
        assert strict.manipulateeval(right, "", hint)["score"] == pytest.approx(1)
        assert own.score(question, json.dumps(question.answer)).value == 1  # type: ignore[union-attr]
        nothings: list[Json] = [form.no_op(question), {}]
        for nothing in nothings:
            assert own.score(question, json.dumps(nothing)).value == 0  # type: ignore[union-attr]
            said = form.official_text(nothing)
            assert official.process_results(made, [said])["SpaTreeBench"]["score"] == 0
            assert strict.manipulateeval(said, "", hint)["score"] == 0


@pytest.mark.long(sample=True)
def test_no_answer_is_much_more_frequent_than_others() -> None:
    drafts = [draft for seed in range(6) for draft in asked(seed)[1]]
    for name in CHOICES:
        values = [draft.options[worlds.written(draft)].value for draft in drafts if draft.template == name]
        values = [str(value).rpartition("; ")[2] for value in values]  # of plans the state
        _, counts = np.unique(values, return_counts=True)
        assert counts.max() <= 0.55 * len(values), name


@pytest.mark.parametrize("name", CHOICES)
def test_a_wrong_answer_is_noticed(name: str) -> None:
    """The evaluators contradict every other option."""
    episode, drafts = asked(0)
    for draft in drafts:
        if draft.template == name:
            right = [RIGHT[name](episode.scene, _with(draft, k)) for k in range(len(draft.options))]
            assert right.count(True) == 1 and right[worlds.written(draft)]


def _with(draft: Draft, option: int) -> Draft:
    return replace(draft, written=option)
