"""Footage of which nothing has changed since all its signals were on file: it is not opened, and its clips are not
looked at one by one."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import spatial_engine
from experts.expert import may_use
from experts.footage.file_state import state_of
from spatial_engine.annotation.annotation import AnnotateClips
from spatial_engine.options import OpenOptions
from spatial_engine.sources import Footage
from spatial_engine.sources.camera_file import file_beside
from spatial_engine.sources.clip_options import ClipOptions
from spatial_engine.sources.finding import Known, KnownFootage
from spatial_engine.sources.footage import ImageFolder
from spatial_engine.sources.survey import SURVEY_VERSION
from spatial_engine.store.finished import (
    FinishedClip,
    FinishedFootage,
    note_finished,
    state_of_clip,
    states_of_records,
)
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.signal_file import to_json
from spatial_engine.store.store import Store


def known_footage(former: Mapping[str, FinishedFootage]) -> KnownFootage:
    """Footage whose files need not be read to be found."""
    return {place: Known(one.files, one.width_px, one.height_px) for place, one in former.items()}


@dataclass(frozen=True, kw_only=True)
class Unchanged:
    """Compares footage with what earlier runs noted of it."""

    former: Mapping[str, FinishedFootage]
    """What they noted, by place."""
    task: AnnotateClips
    options: OpenOptions
    clip_options: ClipOptions
    apart: Collection[str] = ()
    """Places of footage that is always looked at: it has detections of the user's."""

    def among(self, taken: Iterable[Footage]) -> dict[str, FinishedFootage]:
        """The footage that is as it was, with its clips in the store, by place."""
        store, found = self._store, dict[str, FinishedFootage]()
        records = states_of_records(store) if self.former else {}
        for footage in taken:
            one = self.former.get(footage.place)
            if (
                one is not None
                and one.files == footage.state
                and one.record == records.get(store.footage_file(one.place).name)
                and one.made_with == self._made_with(footage)
                and footage.place not in self.apart
                and all(state_of_clip(store, id) == clip.files for id, clip in one.clips.items())
            ):
                found[one.place] = one
        return found

    def note(self, opened: Mapping[str, tuple[Footage, tuple[str, ...]]], done: Mapping[str, FinishedClip]) -> None:
        """Notes the footage, with the ids of its clips by place, whose clips are all done and lie nowhere else."""
        store = self._store
        places: dict[str, set[str]] = {}
        for place, (_, ids) in opened.items():
            for id in ids:
                places.setdefault(id, set()).add(place)
        records, finished = states_of_records(store), []
        for place, (footage, ids) in opened.items():
            if place in self.apart or not all(id in done and len(places[id]) == 1 for id in ids):
                continue
            size = (footage.width_px, footage.height_px) if isinstance(footage, ImageFolder) else (0, 0)
            finished.append(
                FinishedFootage(
                    place=place,
                    files=footage.state,
                    width_px=size[0],
                    height_px=size[1],
                    made_with=self._made_with(footage),
                    record=records.get(store.footage_file(place).name, ""),
                    clips={id: done[id] for id in ids},
                )
            )
        note_finished(Ledger.open(store), finished)

    @property
    def _store(self) -> Store:
        return Store(self.task.store_path)

    def _made_with(self, footage: Footage) -> str:
        """Digest of all that the clips of a piece of footage and their signals depend on beside its files."""
        own, camera = self.clip_options.of(footage), _state_of_file(file_beside(footage))
        return _digest([self._common, footage.name, own, camera])

    @cached_property
    def _common(self) -> str:
        """Of what all footage has in common."""
        bench = self.task.bench
        experts = [
            [expert.name, expert.version, to_json(expert.settings), bench.weights_identity(expert)]
            + [sorted(names) for names in (expert.provides, expert.needs, may_use(expert), expert.options)]
            for expert in self.task.experts
        ]
        opening = {name: value for name, value in vars(self.options).items() if name != "clips"}
        return _digest([spatial_engine.__version__, SURVEY_VERSION, opening, experts])


def _state_of_file(file: Path) -> str:
    return state_of([(file.name, file.stat())]) if file.is_file() else ""


def _digest(parts: object) -> str:
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
