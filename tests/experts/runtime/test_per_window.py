"""Windows of several clips in one call: each clip has the same result as alone."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from experts.clip import Clip
from experts.runtime.device import Placement
from experts.runtime.per_window import NetworkCalls, PerWindowExpert, Results, call_many
from experts.signals import NoEstimate, Signals
from tests.experts.runtime.test_per_image import clip_of

BAD, LOST = 66, 77


class Greys(NamedTuple):
    """Grey levels of the frames of a window, on the device."""

    levels: tuple[int, ...]
    padded: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.levels),)


@dataclass
class Network:
    """Adds up grey levels. Like a GPU, it rounds by the shape of the batch."""

    room: int = 100
    """Frames that fit into memory."""
    batches: list[list[tuple[int, ...]]] = field(default_factory=list)
    thread: set[int] = field(default_factory=set)

    def prepared(self, window: Sequence[int], *, padded: bool) -> Greys:
        return Greys(tuple(window), padded)

    def infer(self, inputs: Sequence[Greys]) -> list[str]:
        self.thread.add(threading.get_ident())
        self.batches.append([each.levels for each in inputs])
        if sum(len(each.levels) for each in inputs) > self.room:
            raise MemoryError
        if any(BAD in each.levels for each in inputs):
            raise RuntimeError("an odd window")
        if any(LOST in each.levels for each in inputs):
            raise RuntimeError("CUDA error: device-side assert triggered")
        return [f"{sum(each.levels)} of {len(inputs)}{' padded' * each.padded}" for each in inputs]

    def received(self, output: str) -> str:
        assert threading.get_ident() not in self.thread, "the network does not wait for the host"
        return output


class HostNetwork(Network):
    """Without a thread of its own."""

    def received(self, output: str) -> str:
        return output


class Expert(PerWindowExpert):
    """Windows of three frames; each needs the result of the one before."""

    name, version, provides, needs = "windows", "1", frozenset({"gravity"}), frozenset[str]()
    settings, weight_names = None, ()
    batch_frames = 6

    def __init__(self, network: Network | None = None, on_gpu: bool = True) -> None:
        self.model = network or (Network() if on_gpu else HostNetwork())
        self.placement = OnGpu(device="cuda") if on_gpu else Placement()

    def process(self, clip: Clip, signals: Signals, calls: NetworkCalls) -> Results:
        levels, found = [int(rgb.max()) for _, rgb in clip.read()], ""
        if 55 in levels:
            raise OSError("a damaged frame")
        for first in range(0, len(levels), 3):
            found += f"{calls.predicted(levels[first : first + 3])}; "
        return {"gravity": NoEstimate(reason=clip.name, detail=found)}


class OnGpu(Placement):
    free_bytes = 1 << 30


CLIPS = [
    clip_of("a", [1, 2, 3, 4]),
    clip_of("none", []),
    clip_of("b", [4, 5, 6, 7, 8, 9]),
    *(clip_of(f"short {n}", [n, 10, 11]) for n in range(12)),
    clip_of("one", [11]),
]


def outcomes(expert: Expert, clips: Sequence[Clip] = CLIPS) -> list[Any]:
    return [
        outcome if isinstance(outcome, BaseException) else str(outcome["gravity"])
        for outcome in call_many(expert, ((clip, {}) for clip in clips))
    ]


def test_the_result_of_a_clip_is_that_of_the_clip_alone() -> None:
    together = outcomes(Expert())
    assert together == [str(Expert()(clip, {})["gravity"]) for clip in CLIPS]
    assert "6 of 2 padded; 4 of 6 padded;" in together[0]


def test_windows_of_several_clips_share_calls() -> None:
    expert = Expert()
    outcomes(expert, CLIPS[3:15])
    calls = expert.model.batches
    assert all(len(call) == 2 for call in calls)
    assert len(calls) == 6, "12 windows, two at a time"


def test_clips_are_processed_one_after_the_other_on_a_cpu() -> None:
    expert = Expert(on_gpu=False)
    assert "6 of 1; 4 of 1;" in outcomes(expert)[0]
    assert expert.model.batches == [
        [(1, 2, 3)], [(4,)], [(4, 5, 6)], [(7, 8, 9)], *([(n, 10, 11)] for n in range(12)), [(11,)]
    ]  # fmt: skip


def test_the_call_is_halved_when_memory_runs_out() -> None:
    expert = Expert(Network(room=3))
    found = outcomes(expert, CLIPS[2:7])
    assert all("of 1" in outcome and "of 2" not in outcome for outcome in found)
    assert [len(call) for call in expert.model.batches] == [2] + [1] * 6
    error = outcomes(Expert(Network(room=2)), CLIPS[2:3])[0]
    assert isinstance(error, MemoryError), "for a window alone it is the expert's"


@pytest.mark.parametrize("odd", [BAD, 55])
@pytest.mark.parametrize("on_gpu", [True, False])
def test_a_failure_costs_one_clip(odd: int, on_gpu: bool) -> None:
    clips = [*CLIPS[:5], clip_of("odd", [1, odd, 3]), *CLIPS[5:]]
    found = outcomes(Expert(on_gpu=on_gpu), clips)
    assert [type(outcome) for outcome in found] == [str] * 5 + [OSError if odd == 55 else RuntimeError] + [str] * 11
    assert found[:5] + found[6:] == outcomes(Expert(on_gpu=on_gpu))
    with pytest.raises((OSError, RuntimeError), match=r"damaged|odd window"):
        Expert(on_gpu=on_gpu)(clips[5], {})


def test_a_lost_gpu_is_not_tried_again() -> None:
    expert = Expert()
    found = outcomes(expert, [clip_of("a", [1, 2, 3]), clip_of("b", [1, LOST, 3])])
    assert all("CUDA error" in str(outcome) for outcome in found) and len(expert.model.batches) == 1


def test_clips_are_taken_only_when_needed_and_ended_when_nobody_wants_them() -> None:
    taken: list[str] = []

    def calls() -> Iterator[tuple[Clip, Signals]]:
        for clip in CLIPS[3:] * 3:
            taken.append(clip.name)
            yield clip, {}

    before, running = threading.active_count(), call_many(Expert(), calls())
    next(running)
    assert len(taken) <= 9
    running.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_clips_are_decoded_while_the_network_works() -> None:
    class Slow(Network):
        def infer(self, inputs: Sequence[Greys]) -> list[str]:
            assert all_decoded.wait(timeout=10)
            return super().infer(inputs)

    class Decoding(Expert):
        def process(self, clip: Clip, signals: Signals, calls: NetworkCalls) -> Results:
            decoded.append(clip.name)
            if len(decoded) == 8:
                all_decoded.set()
            return super().process(clip, signals, calls)

    decoded, all_decoded = list[str](), threading.Event()
    assert all(isinstance(outcome, str) for outcome in outcomes(Decoding(Slow()), CLIPS[3:11]))
