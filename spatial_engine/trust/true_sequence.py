"""Sequences on disk as ground truth of clips: opens them, matches them to the dataset, and examines them."""

from collections.abc import Sequence as Items
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from spatial_engine.errors import UsageError, explained
from spatial_engine.sequences import open_sequence
from spatial_engine.sequences.sequence import Sequence
from templates.scene.scene import Scene


@runtime_checkable
class TrueClip(Protocol):
    """Ground truth of one clip."""

    @property
    def unsound(self) -> frozenset[int]:
        """Frames of which a part of the truth is not used: the scene lacks it."""
        ...

    def scene(self, dense: Items[int] = ()) -> Scene:
        """The truth as a scene, with depth of the frames `dense`."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrueSequence:
    """One sequence, as a label audit reports it."""

    clip: str
    """Id."""
    name: str
    kind: Literal["truth", "agreement"]
    """agreement: computed from the images with the same kind of features as the labels; counted separately."""
    findings: tuple[tuple[str, str, str, bool], ...]
    """(what is wrong, the number that shows it, the remedy, whether it is severe)."""
    unsound: int
    """Frames whose truth is not used."""
    lacks: tuple[str, ...]
    """Missing signals: facts that need them are undecidable."""


@dataclass(frozen=True, kw_only=True)
class OpenedTruth:
    """The sequences at the given paths."""

    sequences: tuple[Sequence, ...]
    """Sequences of the dataset's clips, one per clip: the first one given."""
    not_in_dataset: tuple[str, ...]
    """Names of sequences whose clips are not in the dataset."""
    errors: tuple[tuple[str, str, str], ...]
    """(path, cause, remedy) of what could not be opened."""


def open_truth(given: Items[str | Path], clips: frozenset[str]) -> OpenedTruth:
    """Opens sequences: each a folder, a sequence.yaml, or FOLDER=SEQUENCE.yaml for a manifest elsewhere.

    Raises `UsageError` if none belongs to the dataset's `clips`.
    """
    found: dict[str, Sequence] = {}
    not_in_dataset, errors = [], []
    for each in given:
        try:
            opened = open_sequence(Path(each))
        except Exception as error:
            if (known := explained(error)) is None:
                raise
            errors.append((str(each), known.cause, known.remedy))
            continue
        for sequence in opened:
            if sequence.clip.id in clips:
                found.setdefault(sequence.clip.id, sequence)
            else:
                not_in_dataset.append(_name(sequence))
    if not found:
        said = "; ".join(cause for _, cause, _ in errors) or f"not in it: {_some(not_in_dataset)}"
        raise UsageError(
            f"no sequence is of a clip of the dataset ({said})",
            "give the footage that the dataset was made from: the same files, frames and rate",
        )
    return OpenedTruth(sequences=tuple(found.values()), not_in_dataset=tuple(not_in_dataset), errors=tuple(errors))


def described(sequence: Sequence) -> TrueSequence:
    """Examines a sequence; takes some seconds."""
    truth = sequence.truth
    has = {"camera path": truth.world_from_cam, "depth": truth.depth, "objects": truth.objects}
    known = {name for name, part in has.items() if part is not None}
    if truth.depth is not None and not truth.depth.stated.counts:
        known.discard("depth")
    if sequence.manifest.gravity is not None:
        known.add("gravity")
    return TrueSequence(
        clip=sequence.clip.id,
        name=_name(sequence),
        kind=sequence.manifest.truth,
        findings=tuple((each.what, each.number, each.remedy, each.severe) for each in sequence.findings),
        unsound=len(sequence.unsound),
        lacks=tuple(name for name in (*has, "gravity") if name not in known),
    )


def _name(sequence: Sequence) -> str:
    """The name of the dataset and of the clip."""
    stated, clip = sequence.manifest.name, sequence.clip.name
    return clip if clip.startswith(stated) else f"{stated} ({clip})"


def _some(names: Items[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
