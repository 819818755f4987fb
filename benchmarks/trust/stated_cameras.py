"""True and false statements about the camera: `--intrinsics` times 0.85 and 1.15, `--upright` where it is not.

Of each real set the same pictures are annotated with each statement. A false statement is believed if what the experts
find follows it, outvoted if it follows the truth, refused if nothing is found that depends on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from jaxtyping import Float32

import spatial_engine as se
from benchmarks.trust.asked import Setup, described, questions_of, scenes_with
from benchmarks.trust.clips import HardClip, RealClip, pictures_of
from experts.clip import Clip
from experts.signals import Calibration, CameraPath, Gravity, Signals
from spatial_engine.options import OpenOptions
from spatial_engine.sequences import Sequence as OpenedSequence
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.manifest import Camera, DepthImages
from spatial_engine.sources import clip_from_json
from spatial_engine.trust.candidates import pictures_of as corners_of
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.metrics import wrong_rate
from spatial_engine.trust.true_sequence import TrueClip
from spatial_engine.trust.yield_share import scene_yield
from templates.settings import AskSettings

FALSE_FOCAL = (0.85, 1.15)
SIDEWAYS = ("temple_ring", "adt_apartment")
"""Sets whose camera lies on its side, so that `--upright` is false."""
NOT_UPRIGHT = ("rolled, said upright", "steep", "leaning furniture", "crooked furniture")
"""Kinds of rooms whose gravity misleads, all said to be upright."""
_FAR_RAD = float(np.deg2rad(8.0))
"""Gravity that is farther off follows a false statement."""

Outcome = Literal["believed", "outvoted", "refused"]
Fact = Literal["intrinsics", "upright"]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a user says about the camera of a clip, and what came of it."""

    about: Fact
    says: str
    """nothing; true; times 0.85; times 1.15; false."""
    outcome: Outcome
    drawn: int
    decided: int
    """Random facts about the pictures, and those that are asked."""
    right: int
    wrong: int
    undecidable: int
    """Facts; none of a true statement."""


@dataclass(frozen=True, kw_only=True)
class StatedCamera:
    """All statements about the camera of one real set, or one about a room."""

    of: RealClip | HardClip

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.of.name}_stated"

    def statements(self, folder: Path, seed: int) -> tuple[list[Statement], list[str]]:
        """Each with its verdicts; the wrong labels in words. What does not depend on a statement is made once."""
        setup, wrong = Setup(seed=seed, ask=AskSettings()), []
        found = []
        for about, says, heard in self._heard(folder):
            statement, labels = heard.judged(about, says, setup)
            found.append(statement)
            wrong += [f"--{about} {says}: {label}" for label in labels]
        return found, wrong

    def _heard(self, folder: Path) -> Iterator[tuple[Fact, str, "_Heard"]]:
        if isinstance(self.of, HardClip):
            yield "upright", "false", _Heard.of(self.of, folder, OpenOptions(upright=True))
            return
        one = self.of.sequence
        plain = OpenOptions(licence=one.manifest.licence, fps=self.of.footage(folder)[1].fps)
        usual = replace(plain, upright=one.manifest.upright)
        yield "upright", "nothing", _Heard.of(self.of, folder, plain)
        if one.manifest.upright:
            yield "upright", "true", _Heard.of(self.of, folder, usual)
            turned = Turned(of=self.of)
            yield "upright", "false", _Heard.of(turned, folder / "turned", usual)
        elif self.of.set in SIDEWAYS:
            yield "upright", "false", _Heard.of(self.of, folder, replace(plain, upright=True))
        if (camera := one.truth.camera) is not None:
            plainly = _Heard.of(self.of, folder, usual)
            yield "intrinsics", "nothing", plainly
            for factor in (1.0, *FALSE_FOCAL):
                stated = (camera.fx * factor, camera.fy * factor, camera.cx, camera.cy)
                says = "true" if factor == 1 else f"times {factor:g}"
                heard = _Heard.of(self.of, folder, replace(usual, intrinsics=stated))
                yield "intrinsics", says, replace(heard, true_fx_px=camera.fx, without_px=plainly.focal_px)


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """One clip, what the experts made of it with a statement, and its truth."""

    clip: Clip
    signals: Signals
    truth: TrueClip
    stated: tuple[float, ...] | None
    true_fx_px: float = np.nan
    """Of the dataset's camera, where something is stated about it."""
    without_px: frozenset[float] = frozenset()
    """Focal lengths that are found without the statement."""

    @classmethod
    def of(cls, one: "RealClip | HardClip | Turned", folder: Path, options: OpenOptions) -> "_Heard":
        """Annotates its footage."""
        footage, _ = one.footage(folder)
        store = se.annotate(footage, folder / "store", options=options)
        clip_id, *_ = store.clip_ids()
        clip = clip_from_json(store.record(clip_id).clip)
        truth = one.truths([clip])[clip.id]
        return cls(clip=clip, signals=dict(store.signals(clip_id)), truth=truth, stated=options.intrinsics)

    def judged(self, about: Fact, says: str, setup: Setup) -> tuple[Statement, list[str]]:
        """The statement, and its wrong labels in words. Labels are compared with the truth where it is false."""
        scenes = scenes_with(self.clip, self.signals, setup)
        questions = {one.id: one for one in questions_of(self.clip, scenes, setup, setup.templates)}
        false = says not in ("nothing", "true")
        verdicts = list(compare_labels(questions.values(), {self.clip.id: self.truth})) if false else []
        yields = scene_yield(corners_of(self.clip), scenes, list(setup.templates.values()), setup.ask, setup.seed)
        facts = wrong_rate(verdicts, np.random.default_rng(0))
        statement = Statement(
            about=about,
            says=says,
            outcome=self._follows_focal() if about == "intrinsics" else self._follows_up(),
            drawn=sum(part.drawn for part in yields),
            decided=sum(part.decided for part in yields),
            right=facts.right,
            wrong=facts.wrong,
            undecidable=facts.undecidable,
        )
        return statement, [described(questions[one.id].fact, one) for one in verdicts if one.word == "wrong"]

    @property
    def focal_px(self) -> frozenset[float]:
        """All focal lengths that are found."""
        found = (signal for signal in self.signals.values() if isinstance(signal, CameraPath | Calibration))
        return frozenset(signal.intrinsics.fx_px for signal in found)

    def _follows_focal(self) -> Outcome:
        """Whether a focal length lies nearer to the stated one than to the true one. One that is found without the
        statement as well does not follow it."""
        found = sorted(self.focal_px - self.without_px)
        if self.stated is None or not found:
            return "refused"
        off_true, off_stated = (np.abs(np.log(np.array(found) / f)) for f in (self.true_fx_px, self.stated[0]))
        return "believed" if np.any(off_stated < off_true) else "outvoted"

    def _follows_up(self) -> Outcome:
        """Whether gravity is far from the truth, or, where up is not known, from the right side of the picture."""
        up = self.signals.get("gravity")
        if not isinstance(up, Gravity):
            return "refused"
        true = self.truth.scene().signals.get("gravity")
        if isinstance(true, Gravity):
            frames, own, others = np.intersect1d(up.frames, true.frames, return_indices=True)
            cosines = np.sum(up.up_cam[own] * true.up_cam[others], axis=1) if len(frames) else np.ones(1)
            return "believed" if np.arccos(np.clip(cosines, -1, 1)).max() > _FAR_RAD else "outvoted"
        return "believed" if np.median(-up.up_cam[:, 1]) > np.sqrt(0.5) else "outvoted"


@dataclass(frozen=True, kw_only=True)
class Turned:
    """The pictures of a real set, turned by a quarter anticlockwise, with their truth."""

    of: RealClip

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """The turned pictures."""
        _, options = self.of.footage(folder.parent)
        target = folder / "rgb"
        target.mkdir(parents=True, exist_ok=True)
        for picture in pictures_of(self.of.sequence):
            if not (target / f"{picture.stem}.png").exists():
                upright = cv2.imread(str(picture))
                cv2.imwrite(str(target / f"{picture.stem}.png"), np.ascontiguousarray(np.rot90(upright)))
        return target, options

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """By clip id."""
        (clip,) = clips
        return {clip.id: turned(self.of.sequence, clip)}


_TURN = np.array([[0.0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""Camera axes of the turned picture from those of the upright one."""


def turned(one: OpenedSequence, clip: Clip) -> OpenedSequence:
    """The truth of `clip`, the pictures of a sequence turned by a quarter anticlockwise."""
    truth, width = one.truth, one.clip.width_px
    poses, up, camera, depth = truth.world_from_cam, truth.up_cam, truth.camera, truth.depth
    if camera is not None:
        camera = Camera(
            fx=camera.fy, fy=camera.fx, cx=camera.cy, cy=width - 1 - camera.cx, k1=camera.k1, k2=camera.k2,
            p1=-camera.p2, p2=camera.p1, k3=camera.k3, focal_relative_sigma=camera.focal_relative_sigma,
        )  # fmt: skip
    changed = replace(
        truth,
        camera=camera,
        world_from_cam=None if poses is None else poses @ _TURN.T,
        up_cam=None if up is None else up @ _TURN[:3, :3].T,
        depth=None if depth is None else TurnedDepth(of=depth),
        objects=None,
    )
    return OpenedSequence(clip=clip, truth=changed, manifest=replace(one.manifest, upright=False))


@dataclass(frozen=True, kw_only=True)
class TurnedDepth:
    """Depth of turned pictures."""

    of: DepthSource

    @property
    def stated(self) -> DepthImages:
        """See `DepthSource`."""
        return self.of.stated

    def has(self, frame: int) -> bool:
        """See `DepthSource`."""
        return self.of.has(frame)

    def read(self, frame: int) -> Float32[np.ndarray, "h w"]:
        """See `DepthSource`."""
        return np.ascontiguousarray(np.rot90(self.of.read(frame)))

    def only(self, image: int) -> "TurnedDepth":
        """See `DepthSource`."""
        return TurnedDepth(of=self.of.only(image))
