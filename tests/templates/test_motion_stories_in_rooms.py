"""What is said of the motion of a camera in rendered rooms, read again and compared with the renderer's own poses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy.spatial import Delaunay
from scipy.spatial.distance import cdist

from experts.objects.object_names import folded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.camera_paths import PRIMITIVES, Poses, Stance, performed
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.furnished_paths import PathKind
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.staged_rooms import carrying_room, following_room, meeting_room, revealing_room, staged
from templates.asked import Draft
from templates.columns import Json
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.scene.camera_manner import MANNERS
from templates.scene.carried_along import BESIDE, CARRIES, OWN_WAY, RIDES
from templates.scene.carried_along import MANNERS as RIDING
from templates.scene.encounters import MEETINGS
from templates.scene.passing import PASSAGES
from templates.settings import AskSettings
from tests.templates import worlds
from tests.templates.in_rooms import seeds, surface

FORWARD, RIGHTWARD, UP, YAW, PITCH, ROLL = range(6)
WORDS = {
    "dollies forward": (FORWARD, 1),
    "dollies backward": (FORWARD, -1),
    "trucks right": (RIGHTWARD, 1),
    "trucks left": (RIGHTWARD, -1),
    "pedestals up": (UP, 1),
    "pedestals down": (UP, -1),
    "pans right": (YAW, 1),
    "pans left": (YAW, -1),
    "tilts up": (PITCH, 1),
    "tilts down": (PITCH, -1),
    "rolls clockwise": (ROLL, 1),
    "rolls counterclockwise": (ROLL, -1),
}
SEEN = np.array([0.05] * 3 + [np.radians(5)] * 3)
"""What somebody sees: shares of the distance of the scene, and angles."""


def read(words: str) -> set[tuple[int, int]]:
    """The motions that are named."""
    found = {motion for pattern, motion in WORDS.items() if re.search(pattern, words)}
    assert found or "stays still" in words, words
    return found


@dataclass
class Motion:
    """Of the camera between two frames: the sum of each component from the first frame to each other one."""

    sums: np.ndarray
    fps: float

    @classmethod
    def of(cls, scene: RenderedScene, frames: Sequence[int]) -> "Motion":
        """By differences of heading, elevation and roll, and of the position along the heading."""
        poses = scene.world_from_cam[frames[0] : frames[-1] + 1]
        x, y, z = poses[:, :3, 0], poses[:, :3, 1], poses[:, :3, 2]
        yaw = np.unwrap(np.arctan2(z[:, 0], z[:, 1]))
        roll = np.arctan2(-x[:, 2], -y[:, 2])
        ahead = np.stack([np.sin(yaw), np.cos(yaw), np.zeros(len(yaw))], axis=1)
        aside = np.cross(ahead, [0, 0, 1])
        step, mean = np.diff(poses[:, :3, 3], axis=0), lambda each: (each[1:] + each[:-1]) / 2
        distance = np.median(np.concatenate([scene.depth(f).ravel() for f in (frames[0], frames[-1])]))
        rates = [
            (step * mean(ahead)).sum(axis=1) / distance,
            (step * mean(aside)).sum(axis=1) / distance,
            step[:, 2] / distance,
            np.diff(yaw),
            np.diff(np.arcsin(z[:, 2])),
            np.diff(np.unwrap(roll)),
        ]
        return cls(np.concatenate([np.zeros((1, 6)), np.cumsum(np.stack(rates, axis=1), axis=0)]), scene.fps)

    def shows(self, named: set[tuple[int, int]]) -> np.ndarray:
        """Whether these motions, and no others, are seen between any two frames."""
        change = self.sums[None] - self.sums[:, None]
        duration_s = (np.arange(len(self.sums)) - np.arange(len(self.sums))[:, None]) / self.fps
        if not named:
            return (duration_s >= 0.9) & (np.abs(change) <= 0.45 * SEEN).all(axis=2)
        signs = np.zeros(6)
        for component, sign in named:
            signs[component] = sign
        seen = np.abs(change * signs)
        most = np.repeat(np.stack([seen[..., :3].max(axis=2), seen[..., 3:].max(axis=2)], axis=2), 3, axis=2)
        small = np.abs(change) <= np.maximum(0.6 * SEEN, 0.3 * most)
        return (duration_s >= 0.6) & np.where(signs == 0, small, signs * change >= SEEN).all(axis=2)

    def tells(self, story: str) -> bool:
        """Whether the video can be divided so that every part of a sentence shows its own motions alone."""
        ends = np.arange(len(self.sums)) == 0
        for part in re.split(r", (?:then|and finally) ", story):
            ends = (ends[:, None] & self.shows(read(part))).any(axis=0)
        return bool(ends[-1])

    def span(self, motion: tuple[int, int]) -> tuple[int, int] | None:
        """When a quarter and three quarters of a motion are made; None where it is not seen."""
        component, sign = motion
        forward = np.concatenate([[0], np.cumsum(np.clip(sign * np.diff(self.sums[:, component]), 0, None))])
        if forward[-1] < SEEN[component]:
            return None
        return int(np.searchsorted(forward, 0.25 * forward[-1])), int(np.searchsorted(forward, 0.75 * forward[-1]))

    def holds(self, claim: str) -> bool:
        """Whether a claim about one motion, or the times of two, is true."""
        relation = re.search(r",? (before|then|while) ", claim)
        if not relation:
            return self.rests() if "stays still" in claim else all(self.span(motion) for motion in read(claim))
        one, other = (self.times(part) for part in claim.split(relation[0]))
        if one is None or other is None:
            return False
        if relation[1] != "while":
            return one[1] <= other[0] + 0.3 * self.fps
        return min(one[1], other[1]) - max(one[0], other[0]) >= 0.5 * min(np.ptp(one), np.ptp(other))

    def rests(self) -> tuple[int, int] | None:
        """The longest time, of a second or more, in which hardly anything changes."""
        best, start = None, 0
        for end in range(len(self.sums)):
            while (np.abs(self.sums[end] - self.sums[start : end + 1]).max(axis=0) > 0.3 * SEEN).any():
                start += 1
            if end - start >= 0.8 * self.fps and (best is None or end - start > best[1] - best[0]):
                best = start, end
        return best

    def times(self, words: str) -> tuple[int, int] | None:
        """When what one half of a claim names begins and ends."""
        if "stays still" in words:
            return self.rests()
        (motion,) = read(words)
        return self.span(motion)


def random_moves(n: int, start: Stance, rng: np.random.Generator) -> Poses:
    """Motions of one or two components, fast and slow, with rests between some."""
    moves: list[tuple[int, dict[str, float]]] = []
    left, sums = n, dict.fromkeys(PRIMITIVES, 0.0)
    while left > 0:
        frames = min(left, int(rng.integers(9, 26)))
        frames = left if left - frames < 9 else frames  # no jerk at the end
        amounts = {}
        for name in rng.permutation(PRIMITIVES)[: rng.choice([0, 1, 1, 1, 2])].tolist():
            back = -np.sign(sums[name]) if abs(sums[name]) > 0.2 else rng.choice([-1, 1])
            amounts[name] = float(back * rng.choice([0.1, 1, 1, 1]) * rng.uniform(0.3, 0.5))
            sums[name] += amounts[name]
        moves.append((frames, amounts))
        left -= frames
    return performed(moves, start)


def room_of(seed: int, pitch_deg: float = 0.0) -> RenderedScene:
    """A room with a camera that makes random motions, for ten seconds."""
    rng = np.random.default_rng(seed)

    def path(n: int, start: Stance) -> Poses:
        level = Stance(at_m=start.at_m, yaw_rad=start.yaw_rad, pitch_rad=np.deg2rad(pitch_deg))
        return random_moves(n, level, rng)

    return random_room(np.random.default_rng(seed), frames=100, width_px=120, height_px=90, path=path)


def drafts_of(scene: RenderedScene, *names: str, stride: int = 10) -> list[Draft]:
    """What templates ask."""
    templates = [TEMPLATES.load(name)() for name in names]
    clip = as_clip(scene)
    return worlds.drafts(
        ask_clip(clip, true_signals(scene, clip, stride=stride), templates, AskSettings(facts_per_template=60), 0)
    )


def told(scene: RenderedScene, draft: Draft) -> bool:
    """Whether sentence, claim or caption is what the camera did, and the other sentences are not."""
    motion, recorded = Motion.of(scene, draft.fact["frames"]), draft.answer.to_json()
    if draft.template == "camera_story":
        true = [motion.tells(option.shown) for option in draft.options]  # type: ignore[arg-type]
        return [k for k, holds in enumerate(true) if holds] == [draft.written]
    if draft.template == "camera_statement":
        return motion.holds(claim_of(draft)) == (worlds.written(draft) == "yes")
    return motion.tells(str(recorded.value)) and all(map(motion.holds, recorded.scorer_params["claims"]))


@seeds(0, 12)
def test_one_sentence_of_four_tells_what_the_camera_did(seed: int) -> None:
    scene = room_of(seed, pitch_deg=[0, -14, 9][seed % 3])
    found = drafts_of(scene, *STORIES)
    assert len({draft.template for draft in found}) == len(STORIES)
    for draft in found:
        assert told(scene, draft), (draft.fact, draft.prompt, draft.options, draft.answer)


def claim_of(draft: Draft) -> str:
    """The claim as the prompt words it."""
    found = re.search(r"the camera (?:[a-z]+s (?:\w+))(?: (?:before|while) it \w+ \w+)?", draft.prompt)
    assert found, draft.prompt
    return found[0]


def filmed(seed: int) -> RenderedScene:
    """A room in which the camera makes moves of simple kinds, as large as the room allows, or goes round a table."""
    if seed % 3 == 0:
        kind: PathKind = "orbit" if seed % 2 else "look_round"
        return furnished_room(np.random.default_rng(seed), frames=60, width_px=120, height_px=90, path=kind)

    def moves_of(size: float, n: int, start: Stance) -> Poses:
        rng = np.random.default_rng(seed)
        sign = rng.choice([-1, 1], 3)
        amounts = {"dolly": size * sign[0], "truck": size * sign[1], "pan": 0.9 * sign[2]}
        moves = [(n // 3, {name: amounts[name]}) for name in rng.permutation([*amounts]).tolist()]
        if seed % 3 == 1:
            moves[1] = (n // 3, {"truck": size * sign[1], "pan": -0.8 * size * sign[1]})
        if seed % 3 == 2:
            moves = [(n // 3, {"dolly": size}), (n // 3, {"truck": size * sign[1]}), (n // 3, {"dolly": -size})]
        return performed(moves, start)

    for size in (1.2, 1.0, 0.8, 0.6, 0.4, 0.2):
        try:
            path = partial(moves_of, size)
            return random_room(np.random.default_rng(seed), frames=72, width_px=120, height_px=90, path=path)
        except ValueError:  # it leaves the room
            continue
    raise AssertionError("no room for the path")


def wandering(seed: int) -> RenderedScene:
    """A room in which the camera goes ahead, aside and back, and looks to either side."""
    sign, size = (-1) ** seed, 0.7 + 0.02 * seed
    turns = ({"dolly": size, "pan": 0.6 * sign}, {"truck": -size * sign, "pan": -0.9 * sign}, {"dolly": -0.4})

    def path(n: int, start: Stance) -> Poses:
        return performed([(n // 3, turn) for turn in turns], start)

    return random_room(np.random.default_rng(seed), frames=72, width_px=120, height_px=90, path=path)


def films(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By where things in the middle of one picture are in all others, and by what is seen there."""
    camera, frames = scene.camera(0), fact["frames"]
    if (answer == "follows") != bool(kept_in_the_middle(scene, frames)):
        return False
    if answer == "follows":
        return True
    if answer == "reveals":
        return uncovered(scene, frames) > 0.75
    if answer == "wanders":
        return to_and_fro(scene.world_from_cam[frames[0] : frames[-1] + 1])
    assert answer in ("orbits", "turns_in_place") or uncovered(scene, frames) < 0.45
    poses = scene.world_from_cam[frames]
    size = np.array([camera.width_px, camera.height_px])

    def followed(frame: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Offsets from all cameras to what the middle of a frame shows, and its pixels from the middle, in shares."""
        xy = ((0.5 + share * np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 2), -1).reshape(-1, 2)) * size).round()
        rays = camera.rays(xy)
        xyz = rays / rays[:, 2:] * scene.depth(frame)[tuple(xy.astype(int).T[::-1])][:, None]
        own = scene.world_from_cam[frame]
        offset = xyz @ own[:3, :3].T + own[:3, 3] - poses[:, None, :3, 3]
        return offset, np.abs(camera.project(offset @ poses[:, :3, :3]) / size - 0.5).max(axis=2)

    way = poses[:, :3, 3] - poses[0, :3, 3]
    turn = np.degrees(np.arccos(np.clip(poses[:, :3, 2] @ poses[0, :3, 2], -1, 1)).max())
    offset, aside = followed(frames[len(frames) // 2], 0.24)
    distance = np.median(np.linalg.norm(offset[len(frames) // 2], axis=1))
    moved = np.linalg.norm(way, axis=1).max() / distance
    if answer == "turns_in_place":
        return bool(turn > 28 and moved < 0.03)
    if answer == "orbits":
        there = offset / np.linalg.norm(offset, axis=2, keepdims=True)
        seen_from = np.degrees(np.arccos(np.clip((there * there[:1]).sum(axis=2), -1, 1)).max(axis=0))
        return bool(((aside.max(axis=0) < 0.4) & (seen_from > 25)).sum() >= 3 and turn > 25)
    across = np.degrees(np.arccos(min(abs(way[-1] @ poses[0, :3, 2]) / np.linalg.norm(way[-1]), 1)))
    if answer == "tracks_past":
        return bool(turn < 12 and across > 60 and moved > 0.2)
    near, far = (frames[-1], 0) if answer == "pushes_in" else (frames[0], -1)
    offset, aside = followed(near, 0.05)
    ranges = np.linalg.norm(offset, axis=2)
    ratio = ranges[far] / ranges[-1 if answer == "pushes_in" else 0]
    return bool(np.median(ratio) > 1.25 and np.median(aside[far]) < 0.25 and turn < 12)


def kept_in_the_middle(scene: RenderedScene, frames: Sequence[int]) -> set[int]:
    """Objects that the middle of every picture shows, although they move."""
    height, width = scene.ids(0).shape
    middle = np.s_[round(0.25 * height) : round(0.75 * height), round(0.3 * width) : round(0.7 * width)]
    shown = set.intersection(*({*np.unique(scene.object_ids(f)[middle]).tolist()} for f in frames)) - {-1}
    ends = [[surface(scene, row, f).mean(axis=0) for f in (frames[0], frames[-1])] for row in shown]
    return {row for row, (a, b) in zip(shown, ends, strict=True) if np.linalg.norm(b - a) > 0.15}


def uncovered(scene: RenderedScene, frames: Sequence[int]) -> float:
    """Share of what the middle of the last picture shows whose way from the first camera is barred, by casting rays."""
    first, last = frames[0], frames[-1]
    camera, size = scene.camera(last), np.array([scene.camera(last).width_px, scene.camera(last).height_px])
    xy = ((0.5 + 0.22 * np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 2), -1).reshape(-1, 2)) * size).round()
    rays = camera.rays(xy)
    xyz = rays / rays[:, 2:] * scene.depth(last)[tuple(xy.astype(int).T[::-1])][:, None]
    own, before = scene.world_from_cam[last], scene.world_from_cam[first]
    world = xyz @ own[:3, :3].T + own[:3, 3]
    there = (world - before[:3, 3]) @ before[:3, :3]
    seen = camera.project(there)
    shown = (there[:, 2] > 0) & (seen >= 0).all(axis=1) & (seen <= size - 1).all(axis=1)
    pixel = np.clip(seen.round(), 0, size - 1).astype(int)
    return float((shown & (scene.depth(first)[pixel[:, 1], pixel[:, 0]] < 0.85 * there[:, 2])).mean())


def to_and_fro(poses: Poses) -> bool:
    """Whether both the way and the view of a camera go one way and then clearly another."""
    at, axes = poses[:, :3, 3], poses[:, :3, 2]

    def angle(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))))

    halves = range(2, len(at) - 2)
    way = any(
        min(np.linalg.norm(at[k] - at[0]), np.linalg.norm(at[-1] - at[k])) > 0.1
        and angle(at[k] - at[0], at[-1] - at[k]) > 55
        for k in halves
    )
    view = any(angle(axes[0], axes[k]) + angle(axes[k], axes[-1]) - angle(axes[0], axes[-1]) > 25 for k in halves)
    return way and view


@seeds(0, 12, sampled=0)
def test_the_manner_is_that_of_what_the_middle_of_the_pictures_shows(seed: int) -> None:
    for scene in (filmed(seed), following_room(seed, 48, 120), revealing_room(seed, 48, 120), wandering(seed)):
        for draft in drafts_of(scene, "camera_manner"):
            assert films(scene, draft.fact, draft.answer.to_json().answer), (draft.fact, draft.answer)


@pytest.mark.long(sample=True)
def test_all_manners_are_found() -> None:
    scenes = [*map(filmed, range(4)), following_room(1, 48, 120), revealing_room(1, 48, 120), wandering(1)]
    assert {d.answer.to_json().answer for one in scenes for d in drafts_of(one, "camera_manner")} == {*MANNERS}


def happens(scene: RenderedScene, frames: Sequence[int], sentence: str) -> bool:
    """By a tape between points on the surfaces, and by whose points move."""
    if not re.search("approaches|moves away from", sentence):
        return encountered(scene, frames, sentence)
    rows = shown_rows(scene, frames)

    def points(name: str, frame: int) -> np.ndarray:
        return surface(scene, rows[name], frame)[::3]

    match = re.fullmatch(r"The (\w+) (approaches|moves away from) (.*)\.", sentence.replace("First the", "The"))
    assert match
    agent, patients = match[1], re.findall(r"the (\w+)", match[3])
    moved = [np.linalg.norm(points(name, frames[-1]) - points(name, frames[0]), axis=1).max() for name in rows]
    verbs = [match[2], *re.findall(r"approaches|moves away from", match[3])]
    still = all(moved[[*rows].index(name)] < 0.02 for name in patients)
    tapes = [[cdist(points(agent, f), points(name, f)).min() for f in frames] for name in patients]
    if "then it" in sentence:
        turn = int(np.argmin(tapes[0]) if verbs[0] == "approaches" else np.argmax(tapes[0]))
        changes = [tapes[0][turn] - tapes[0][0], tapes[0][-1] - tapes[0][turn]]
    else:
        verbs = verbs * (len(patients) // len(verbs))
        changes = [tape[-1] - tape[0] for tape in tapes]
    signs = [-1 if verb == "approaches" else 1 for verb in verbs]
    return still and all(sign * change > 0.1 for sign, change in zip(signs, changes, strict=True))


def shown_rows(scene: RenderedScene, frames: Sequence[int]) -> dict[str, int]:
    """Objects by name, of those that the first and the last picture show."""
    ids = np.intersect1d(scene.object_ids(frames[0]), scene.object_ids(frames[-1]))
    return {folded(scene.objects[row].name): row for row in ids[ids >= 0].tolist()}


def encountered(scene: RenderedScene, frames: Sequence[int], sentence: str) -> bool:
    """Whether two meet or part, by the same tape; or where one passes, by the outline of the other two from above."""
    rows = shown_rows(scene, frames)
    mine, *others = [name for name in re.findall(r"[Tt]he (\w+)", sentence) if name in rows]
    at = [{name: surface(scene, rows[name], f) for name in (mine, *others)} for f in (frames[0], frames[-1])]
    if len(others) == 1:
        tape = [cdist(each[mine][::3], each[others[0]][::3]).min() for each in (at[0], at[-1])]
        both = all(np.linalg.norm(at[-1][name] - at[0][name], axis=1).max() > 0.1 for name in at[0])
        nearer, near = tape[1] < tape[0] - 0.1, min(tape) < 0.25
        comes = "come" in sentence
        return both and comes == nearer and near == bool(re.search("and meet|together at first", sentence))
    every = range(frames[0], frames[-1] + 1)
    path = np.array([surface(scene, rows[mine], f).mean(axis=0)[:2] for f in every])
    first, second = (at[0][name][:, :2] for name in others)
    ways = Delaunay(np.concatenate([first, second])).find_simplex(path) >= 0
    line = second.mean(axis=0) - first.mean(axis=0)
    off = np.concatenate([each[mine][:, :2] for each in at]) - first.mean(axis=0)
    side = off @ [-line[1], line[0]]
    start, end = np.sign(side.reshape(2, -1)).mean(axis=1)
    if "one side" in sentence:
        return bool(start * end == 1 and not ways.any())
    across = start * end == -1
    if "between" in sentence:
        return bool(across and ways.any())
    apart = [cdist(path, each).min() for each in (first, second)]
    return bool(across and not ways.any() and apart[0] < apart[1])


def happened(scene: RenderedScene, draft: Draft) -> bool:
    """Whether the right sentence is the only true one."""
    true = [happens(scene, draft.fact["frames"], str(option.shown)) for option in draft.options]
    return [k for k, holds in enumerate(true) if holds] == [draft.written]


def rides(scene: RenderedScene, draft: Draft) -> bool:
    """Whether the right sentence is true, by tapes between points on the surfaces of both that keep their lengths or
    not, and by the room between them."""
    frames, rows = draft.fact["frames"], shown_rows(scene, draft.fact["frames"])
    a, b = ([surface(scene, rows[draft.fact[name]], f)[::5] for f in frames] for name in "ab")
    tapes = np.array([cdist(one, other) for one, other in zip(a, b, strict=True)])
    together = np.ptp(tapes, axis=0).max() < 0.02
    way = min(np.linalg.norm(each[-1] - each[0], axis=1).max() for each in (a, b))

    def on(upper: list[np.ndarray], lower: list[np.ndarray]) -> bool:
        over = zip(upper, lower, strict=True)
        return all(abs(u[:, 2].min() - low[:, 2].max()) < 0.02 and cdist(u, low).min() < 0.15 for u, low in over)

    manner = draft.answer.to_json().value
    if manner == OWN_WAY:
        return bool(np.ptp(tapes, axis=0).max() > 0.1 and not together)
    apart = tapes.min() > 0.02 and not on(a, b) and not on(b, a)
    return bool(together and way > 0.1 and {RIDES: on(a, b), CARRIES: on(b, a), BESIDE: apart}[manner])


@seeds(1, 12, sampled=0)
def test_what_rides_is_what_tapes_between_surfaces_say(seed: int) -> None:
    for scene in (carrying_room(seed, 48, 120), carrying_room(seed + 2, 48, 120), staged(seed)):
        for draft in drafts_of(scene, "moves_along", stride=4):
            assert rides(scene, draft), (draft.fact, draft.options, draft.written)


def test_all_manners_of_moving_along_are_found() -> None:
    found = [d for seed in range(4) for d in drafts_of(carrying_room(seed, 48, 120), "moves_along", stride=4)]
    assert {draft.answer.to_json().value for draft in found} == {*RIDING}


@seeds(0, 12, sampled=0)
def test_what_happens_is_what_a_tape_between_surfaces_says(seed: int) -> None:
    for scene in (staged(seed), meeting_room(2 * seed, 48, 120), meeting_room(2 * seed + 1, 48, 120)):
        for draft in drafts_of(scene, "what_happens", stride=2):
            assert happened(scene, draft), (draft.fact, draft.options)


@pytest.mark.long(sample=True)
def test_all_meetings_and_passages_are_found() -> None:
    found = [d for seed in range(8) for d in drafts_of(meeting_room(seed, 48, 120), "what_happens", stride=4)]
    answers = {draft.answer.to_json().answer for draft in found}
    assert answers >= {*MEETINGS, *PASSAGES}


STORIES = ("camera_story", "camera_statement", "camera_caption")
RIGHT = {"camera_manner": films}
RIGHT_DRAFTS = {**dict.fromkeys(STORIES, told), "what_happens": happened, "moves_along": rides}


def test_the_reader_of_motion_tells_wrong_sentences_from_right_ones() -> None:
    def path(n: int, start: Stance) -> Poses:
        return performed([(n // 2, {"dolly": 0.6}), (n - n // 2, {"pan": 0.5})], start)

    scene = random_room(np.random.default_rng(0), frames=60, width_px=80, height_px=60, path=path)
    motion = Motion.of(scene, range(60))
    assert motion.tells("First it dollies forward, then it pans right.")
    for wrong in ("First it pans right, then it dollies forward.", "First it dollies forward, then it trucks right."):
        assert not motion.tells(wrong)
    assert motion.holds("the camera dollies forward before it pans right")
    for claim in ("the camera pans right before it dollies forward", "the camera pans right while it dollies forward"):
        assert not motion.holds(claim)
