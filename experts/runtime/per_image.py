"""Experts that process one picture at a time: pictures of several clips share batches."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

from experts.clip import Clip
from experts.expert import Expert
from experts.runtime.batching import ahead, in_batches
from experts.signals import NoEstimate, Signal, Signals


@runtime_checkable
class PerImageExpert(Expert, Protocol):
    """An expert in three steps, of which only the second uses the model. `__call__` is `call_one`."""

    @property
    def batch_size(self) -> int:
        """Number of pictures per `infer` on a GPU; halved while memory runs out. On a CPU it is one."""
        ...

    def pictures(self, clip: Clip, signals: Signals) -> Iterable[tuple[Hashable, Any]]:
        """The model's inputs for a clip: (key, RGB picture). Keys are unique within the clip (a frame, or a frame and
        an object). Instead of a picture, an object with an attribute `rgb` and further inputs is allowed. Empty if the
        expert will return `NoEstimate`.

        It is consumed in a thread, ahead of need, so it must not use the model. Only consecutive pictures of one size
        share a batch, so crops should be resized to one size here.
        """
        ...

    def infer(self, pictures: Sequence[Any]) -> Sequence[Any]:
        """One raw result per picture, on the host. All pictures have the same size; they may belong to several
        clips."""
        ...

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[Any, Any]) -> Mapping[str, Signal | NoEstimate]:
        """The signals of a clip from its raw results by key; the mapping is empty where there were no pictures."""
        ...


def call_one(expert: PerImageExpert, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
    """Runs the three steps on one clip."""
    return next(call_many(expert, [(clip, signals)]))


def call_many(
    expert: PerImageExpert, calls: Iterable[tuple[Clip, Signals]]
) -> Iterator[Mapping[str, Signal | NoEstimate]]:
    """The signals of each clip, in order, as soon as they are known. A thread takes calls and prepares pictures while
    others are inferred, so a few clips are in progress at a time.

    The result of a picture does not depend on the other pictures: a short batch is padded, so that the network always
    sees one shape (networks choose their kernels, and so their rounding, by shape). It does depend on the batch size,
    and so on halving when memory runs out. An error of any step ends the whole call and does not name its clip.
    """
    begun: deque[tuple[Clip, Signals]] = deque()

    def pictures() -> Iterator[tuple[int, Hashable, Any]]:
        for number, call in enumerate(calls):
            begun.append(call)
            for key, picture in expert.pictures(*call):
                yield number, key, picture

    finished, raw = 0, dict[Hashable, Any]()
    with closing(ahead(pictures(), depth=_full_batch(expert))) as waiting:
        for number, key, result in _inferred(expert, waiting):
            while finished < number:
                yield expert.finish(*begun.popleft(), raw)
                finished, raw = finished + 1, {}
            raw[key] = result
    while begun:
        yield expert.finish(*begun.popleft(), raw)
        raw = {}


def _inferred(
    expert: PerImageExpert, pictures: Iterable[tuple[int, Hashable, Any]]
) -> Iterator[tuple[int, Hashable, Any]]:
    """(number of the clip, key, raw result) of each picture, in order."""

    def infer(batch: Sequence[tuple[int, Hashable, Any]]) -> list[tuple[int, Hashable, Any]]:
        results = expert.infer([picture for _, _, picture in batch])
        return [(number, key, result) for (number, key, _), result in zip(batch, results, strict=True)]

    for _, alike in groupby(pictures, key=lambda each: getattr(each[2], "rgb", each[2]).shape):
        yield from in_batches(infer, alike, _full_batch(expert), fill=True)


def _full_batch(expert: PerImageExpert) -> int:
    """Pictures per batch. One on a CPU, where batches save no time."""
    on_cpu = getattr(getattr(expert, "placement", None), "device", None) == "cpu"
    return 1 if on_cpu else expert.batch_size
