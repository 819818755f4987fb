"""Experts that look at one picture at a time: their pictures of several clips share batches."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

from experts.clip import Clip
from experts.expert import Expert
from experts.runtime.device import in_batches
from experts.runtime.prefetch import ahead
from experts.signals import NoEstimate, Signal, Signals


@runtime_checkable
class PerImageExpert(Expert, Protocol):
    """An expert in three steps, of which only the middle one uses the model. `__call__` is `call_one`."""

    @property
    def batch_size(self) -> int:
        """Pictures that `infer` takes at a time on a GPU; halved while memory runs out. On a CPU it takes one."""
        ...

    def pictures(self, clip: Clip, signals: Signals) -> Iterable[tuple[Hashable, Any]]:
        """What the model is to see of a clip: (key, RGB picture), keys unique within the clip (a frame, or a frame and
        an object). In place of the picture an object may stand that has it as `rgb`, with what else the model is to
        know. Nothing, where the expert will abstain.

        Consumed in a thread, ahead of need: it must not use the model. Only neighbours of one size share a batch, so
        crops are best brought to one size here."""
        ...

    def infer(self, pictures: Sequence[Any]) -> Sequence[Any]:
        """One raw result per picture, on the host. The pictures have one size and may belong to several clips."""
        ...

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[Any, Any]) -> Mapping[str, Signal | NoEstimate]:
        """What the expert says of the clip, from the raw results by key; empty where there were no pictures."""
        ...


def call_one(expert: PerImageExpert, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
    """The three steps on one clip."""
    return next(call_many(expert, [(clip, signals)]))


def call_many(
    expert: PerImageExpert, calls: Iterable[tuple[Clip, Signals]]
) -> Iterator[Mapping[str, Signal | NoEstimate]]:
    """What the expert says of each clip, in order, as soon as it is known. Calls are taken, and pictures made, in a
    thread while others are inferred: a few clips are under way at a time.

    A picture's result does not depend on its company: a batch that is not full is filled up, so that the network
    always sees one shape (networks choose their kernels, and so their rounding, by shape). It does depend on the
    batch size, and so on halving when memory runs out. An error of any step ends all; which clip it concerns is not
    said.
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
    """(clip's number, key, raw result) of each picture, in order."""

    def infer(batch: Sequence[tuple[int, Hashable, Any]]) -> list[tuple[int, Hashable, Any]]:
        results = expert.infer([picture for _, _, picture in batch])
        return [(number, key, result) for (number, key, _), result in zip(batch, results, strict=True)]

    for _, alike in groupby(pictures, key=lambda each: getattr(each[2], "rgb", each[2]).shape):
        yield from in_batches(infer, alike, _full_batch(expert), fill=True)


def _full_batch(expert: PerImageExpert) -> int:
    """Pictures in a batch. One on a CPU: there, company saves no time."""
    on_cpu = getattr(getattr(expert, "placement", None), "device", None) == "cpu"
    return 1 if on_cpu else expert.batch_size
