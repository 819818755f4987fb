"""Ground truth in the place of experts: its signals are stored, resumed and licensed as theirs are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.signals import CameraPath, NoEstimate, Signal, Signals
from spatial_engine.errors import UsageError
from spatial_engine.options import AnnotateOptions, OpenOptions, words
from spatial_engine.sequences.opening import open_sequence
from spatial_engine.sequences.sequence import Sequence as TrueSequence
from spatial_engine.sequences.truth import Truth
from templates.scene.marks import spread_frames

BESIDE = ("valid_area", "klt")
"""Experts that run beside ground truth by default: they find the moving points that no dataset states."""
OF_OBJECTS = frozenset({"objects", "object_orientation", "parts"})
"""Signals about objects."""
_STATED_BY_MANIFEST = ("images", "fps", "start", "end", "clips", "crop", "intrinsics", "upright")


@dataclass(frozen=True, kw_only=True)
class TruthSettings:
    """What the signals depend on."""

    digest: str
    """Of manifests, poses, cameras and boxes; of depth images and masks: name, size and time of change."""


class GroundTruth(WeightFreeExpert):
    """The ground truth of a dataset's sequences, as far as it has any.

    What the images contradict is left out. Depth and objects are those of frames in which they contradict nothing.
    """

    name, version = "ground_truth", "4"
    needs: frozenset[str] = frozenset()
    options = frozenset({"max_keyframes"})
    """Depth and objects are those of at most so many frames, evenly spread."""
    seconds_per_clip = 5.0

    def __init__(self, sequences: Sequence[TrueSequence], *, objects: bool = True) -> None:
        """`objects`: whether it provides those of the dataset, as far as it has any."""
        self.sequences = {sequence.clip.id: sequence for sequence in sequences}
        left_out = frozenset[str]() if objects else frozenset(OF_OBJECTS)
        self.provides = frozenset[str]().union(*(_stated(one.truth) for one in sequences)) - left_out
        known = [(one.clip.id, one.truth) for one in sequences]
        self.settings = TruthSettings(digest=_digest(known if objects else [known, "without objects"]).hex()[:16])
        self.code_licence = "; ".join(sorted({one.manifest.licence for one in sequences}))

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """The truth of the clip's frames."""
        sequence = self.sequences[clip.id]
        truth, sound = sequence.sound_truth, np.setdiff1d(clip.frames, sorted(sequence.unsound))
        dense = sound[[truth.depth is not None and truth.depth.has(frame) for frame in sound.tolist()]]
        found = truth.signals(clip, spread_frames(dense if len(dense) else sound, clip.options.max_keyframes))
        path = found.get("camera_path")
        if isinstance(path, CameraPath) and not path.registered.any():
            del found["camera_path"]
        contradicted = "; ".join(finding.what for finding in sequence.findings if finding.severe)
        absent = NoEstimate(reason="the dataset does not state it for this clip")
        if contradicted:
            absent = NoEstimate(reason="the pictures contradict the ground truth", detail=contradicted)
        wrong = "; ".join(f"{finding.what}: {finding.number}" for finding in sequence.object_findings)
        of_objects = NoEstimate(reason="the images contradict the objects", detail=wrong) if wrong else absent
        why = {name: of_objects if name in OF_OBJECTS else absent for name in self.provides}
        return {name: found.get(name, why[name]) for name in self.provides}


def truth_at(footage: Path, options: AnnotateOptions) -> tuple[tuple[TrueSequence, ...], AnnotateOptions]:
    """The sequences that the options name, with clips as the options want them; and the options with `GroundTruth` as
    the first expert. Raises `UsageError` also for options that a manifest states."""
    default = OpenOptions()
    if given := [name for name in _STATED_BY_MANIFEST if getattr(options, name) != getattr(default, name)]:
        raise UsageError(
            f"--{given[0]} beside --truth", "the dataset's sequence.yaml states it: leave it out, or write a manifest"
        )
    manifest = None if options.manifest is None else Path(options.manifest)
    opened = open_sequence(footage, preset=options.preset, manifest=manifest, only=options.only)
    sequences = tuple(replace(one, clip=_as_wanted(one.clip, options)) for one in opened)
    truth = GroundTruth(sequences, objects=options.detections is None)  # the user's own take their place
    return sequences, replace(options, experts=[truth, *_beside(words(options.experts) or [])])


def _beside(named: Sequence[Any]) -> list[Any]:
    """The experts beside the truth: those that are named. +NAME and -NAME alone change the default."""
    changes = all(isinstance(word, str) and word[:1] in ("+", "-") for word in named)
    return [*BESIDE, *named] if changes else [*named]


def _as_wanted(clip: Clip, options: AnnotateOptions) -> Clip:
    sized = clip.with_options(max_side_px=options.max_side, max_keyframes=options.max_keyframes)
    return sized if options.licence == OpenOptions().licence else replace(sized, licence=options.licence)


def _stated(truth: Truth) -> set[str]:
    """The signals that the truth has for some clip."""
    has_path, gravity = truth.world_from_cam is not None and truth.camera is not None, truth.manifest.gravity
    objects = truth.objects
    has = {
        "camera_path": has_path,
        "gravity": gravity is not None and (has_path or truth.up_cam is not None),
        "depth": truth.depth is not None and truth.depth.stated.counts,
        "objects": objects is not None and (bool(objects.labels) or objects.others_stand_still),
        "object_orientation": has_path and objects is not None and any(one.fronts >= 0 for one in objects.fronts),
        "parts": objects is not None and objects.parts is not None,
        "room": truth.room is not None,
        "matches": truth.flow is not None,
        "effector_path": truth.effector is not None,
        "task": truth.task is not None,
    }
    return {name for name, is_there in has.items() if is_there}


def _digest(value: Any) -> bytes:
    """Of everything that a value holds; of a file its name, size and time of change."""
    match value:
        case np.ndarray():
            parts = [str(value.shape).encode(), np.ascontiguousarray(value).tobytes()]
        case Path():
            known = value.stat() if value.exists() else None
            parts = [repr((value.name, known and (known.st_size, known.st_mtime_ns))).encode()]
        case Mapping():
            parts = [_digest(item) for item in value.items()]
        case list() | tuple():
            parts = [_digest(item) for item in value]
        case _ if is_dataclass(value):
            parts = [_digest(getattr(value, field.name)) for field in fields(value)]
        case partial():
            parts = [_digest([value.func, *value.args])]
        case _ if callable(value):
            parts = [value.__qualname__.encode()]
        case _:
            parts = [repr(value).encode()]
    return sha256(b"".join(sha256(part).digest() for part in parts)).digest()
