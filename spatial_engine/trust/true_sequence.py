"""Sequences on disk as the truth of clips: opened, found in the data set, examined."""

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
        """Frames whose truth counts neither for nor against a label."""
        ...

    def scene(self, dense: Items[int] = ()) -> Scene:
        """The truth as a scene, with depth of the frames `dense`."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrueSequence:
    """What is said of one sequence that was given."""

    clip: str
    """Id."""
    name: str
    kind: Literal["truth", "agreement"]
    """agreement: made from the images by the same kind of features as labels are; counted apart."""
    findings: tuple[tuple[str, str, str, bool], ...]
    """What is strange about it: (what, the number that shows it, what to do, whether it is severe)."""
    unsound: int
    """Frames whose truth counts neither for nor against a label."""
    lacks: tuple[str, ...]
    """Signals that it does not have: what rests on them stays undecidable."""


@dataclass(frozen=True, kw_only=True)
class OpenedTruth:
    """What the paths held."""

    sequences: tuple[Sequence, ...]
    """Of clips of the data set, one per clip: of two the first that was given."""
    not_in_dataset: tuple[str, ...]
    """Names of sequences whose clips are not in the data set."""
    errors: tuple[tuple[str, str, str], ...]
    """(what was given, cause, remedy) of what could not be opened."""


def open_truth(given: Items[str | Path], clips: frozenset[str]) -> OpenedTruth:
    """Opens sequences: each a folder, a sequence.yaml, or FOLDER=SEQUENCE.yaml for a manifest that lies elsewhere.

    Raises `UsageError` if nothing of it belongs to the data set's `clips`.
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
            f"no sequence is of a clip of the data set ({said})",
            "give the footage that the data set was made from: the same files, frames and rate",
        )
    return OpenedTruth(sequences=tuple(found.values()), not_in_dataset=tuple(not_in_dataset), errors=tuple(errors))


def described(sequence: Sequence) -> TrueSequence:
    """Examines a sequence: some seconds."""
    truth = sequence.truth
    has = {"camera path": truth.world_from_cam, "depth": truth.depth, "objects": truth.objects}
    known = {name for name, part in has.items() if part is not None}
    if truth.depth is not None and not truth.depth.stated.registered:
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
    """The data set's, with that of the clip, which says which part of it."""
    stated, clip = sequence.manifest.name, sequence.clip.name
    return clip if clip.startswith(stated) else f"{stated} ({clip})"


def _some(names: Items[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
