"""Pictures of several clips in one batch: each clip has the same result as alone."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from experts.clip import Clip, Picture
from experts.runtime.per_image import PerImageExpert, call_many, call_one
from experts.signals import NoEstimate, Signal, Signals


class Memory:
    """Frames of one grey level each."""

    def __init__(self, greys: Sequence[int], side: int) -> None:
        self.greys, self.side = greys, side

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            yield np.full((self.side, self.side, 3), self.greys[frame], dtype=np.uint8)


def clip_of(name: str, greys: Sequence[int], side: int = 4) -> Clip:
    frames = np.arange(len(greys), dtype=np.int64)
    return Clip(
        id=name, name=name, frames=frames, times_s=None, width_px=side, height_px=side, reader=Memory(greys, side)
    )


@dataclass(frozen=True)
class Look:
    """A picture with another input of the model."""

    rgb: Picture
    offset: int


class Greys:
    """Returns the grey levels that it received. Like a GPU, it rounds by the shape of the batch."""

    name, version, provides, needs = "greys", "1", frozenset({"gravity"}), frozenset[str]()
    options, settings = frozenset[str](), None

    def __init__(self, batch_size: int = 4, room: int = 100, looks: bool = False) -> None:
        self.batch_size, self.room, self.looks = batch_size, room, looks
        self.batches: list[list[int]] = []

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        return call_one(self, clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[Hashable, Any]]:
        for frame, rgb in clip.read():
            if rgb.max() == 66:
                raise OSError("a damaged frame")
            yield f"frame {frame}", Look(rgb, frame) if self.looks else rgb

    def infer(self, pictures: Sequence[Any]) -> list[str]:
        greys = [int((p.rgb if self.looks else p).max()) for p in pictures]
        self.batches.append(greys)
        if len(pictures) > self.room:
            raise MemoryError
        assert 77 not in greys, "a picture that raises an error"
        return [f"{grey} of {len(greys)}" for grey in greys]

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[str, str]) -> Mapping[str, Signal | NoEstimate]:
        return {"gravity": NoEstimate(reason=clip.name, detail=" ".join(f"{key}: {raw[key]};" for key in raw))}


def results(expert: PerImageExpert, clips: Sequence[Clip]) -> list[str]:
    return [str(signals["gravity"]) for signals in call_many(expert, ((clip, {}) for clip in clips))]


CLIPS = [
    clip_of("a", [1, 2, 3]),
    clip_of("none", []),
    clip_of("b", [4, 5, 6, 7, 8, 9]),
    clip_of("wide", [10], side=6),
    clip_of("c", [11]),
    clip_of("last", []),
]


def test_it_is_a_per_image_expert() -> None:
    assert isinstance(Greys(), PerImageExpert)


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("batch_size", [1, 2, 4, 16])
def test_clips_in_one_batch_have_the_same_results_as_alone(batch_size: int, looks: bool) -> None:
    together = results(Greys(batch_size, looks=looks), CLIPS)
    alone = [str(call_one(Greys(batch_size, looks=looks), clip, {})["gravity"]) for clip in CLIPS]
    assert together == alone
    assert "frame 2: 3 of" in together[0]


def test_batches_are_full_and_of_one_size() -> None:
    expert = Greys(batch_size=4)
    results(expert, CLIPS)
    assert expert.batches == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 9, 9], [10, 10, 10, 10], [11, 11, 11, 11]]


def test_pictures_are_processed_one_by_one_on_a_cpu() -> None:
    expert = Greys(batch_size=4)
    expert.placement = type("Placement", (), {"device": "cpu"})  # type: ignore[attr-defined]
    results(expert, CLIPS[:1])
    assert expert.batches == [[1], [2], [3]]


def test_batches_are_halved_when_memory_runs_out() -> None:
    expert = Greys(batch_size=4, room=2)
    found = results(expert, CLIPS[:3])
    assert "frame 0: 4 of 2" in found[2]
    assert [len(batch) for batch in expert.batches] == [4, 2, 2, 2, 2, 2]
    with pytest.raises(MemoryError):
        results(Greys(room=0), CLIPS)


@pytest.mark.parametrize("odd", [66, 77])
def test_clips_before_an_error_are_returned(odd: int) -> None:
    clips = [clip_of("a", [1, 2]), clip_of("b", [3, 4]), clip_of("odd", [odd]), clip_of("d", [5])]
    calls = call_many(Greys(batch_size=2), ((clip, {}) for clip in clips))
    assert "1 of 2" in str(next(calls)["gravity"])
    with pytest.raises((OSError, AssertionError), match=r"damaged|a picture that raises"):
        list(calls)


def test_clips_are_taken_only_when_needed() -> None:
    taken: list[str] = []

    def calls() -> Iterator[tuple[Clip, Signals]]:
        for name in "abcdefgh":
            taken.append(name)
            yield clip_of(name, [1, 2, 3, 4]), {}

    first = call_many(Greys(batch_size=2), calls())
    next(first)
    assert len(taken) <= 4
    first.close()  # type: ignore[attr-defined]
