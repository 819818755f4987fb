"""Experts with models that are a line of arithmetic: they count what they see, run out of memory, fail when told to."""

import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from experts.clip import Clip, Picture
from experts.expert import SetupProblem
from experts.provenance import Provenance
from experts.runtime.model_expert import Package
from experts.runtime.per_image import call_one
from experts.runtime.per_window import NetworkCalls, PerWindowExpert
from experts.signals import Gravity, ImageTracks, NoEstimate, Signal, Signals, ValidArea

Fault = Literal["", "raise", "die", "die once", "lose the GPU", "run out of memory"]


@dataclass(frozen=True, kw_only=True)
class FakeModelSettings:
    gain: float = 1.0


@dataclass(frozen=True, kw_only=True)
class FakePlacement:
    device: str = "cuda"
    free_bytes: int = 1 << 30


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


@dataclass(kw_only=True)
class FakeModel:
    """An expert that is called clip by clip. What it measures is the mean of the clip's pixels."""

    log: Path
    """Gets a line per load, per clip and per batch."""
    name: str = "model"
    provides: frozenset[str] = frozenset({"gravity"})
    needs: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    version: str = "1"
    settings: FakeModelSettings = field(default_factory=FakeModelSettings)
    weight_names: tuple[str, ...] = ()
    packages: tuple[Package, ...] = ()
    fault: Fault = ""
    fault_clip: str = ""
    """Name of the one clip that has it; empty: all."""
    lacks: str = ""
    """Why it cannot be loaded; empty: it can."""
    load_error: Exception | None = None
    seconds: float = 0.0
    """Time that a call takes."""
    tracks: int = 2
    """Size of what it writes."""
    placement: FakePlacement = field(default_factory=FakePlacement)
    model: Any = None

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        self.note(f"load on {device}")
        if self.lacks:
            raise SetupProblem(self.lacks, f"pip install {self.name}")
        if self.load_error is not None:
            raise self.load_error
        self.model = lambda picture: float(picture.mean()) * self.settings.gain  # cannot be pickled, as many models

    def close(self) -> None:
        self.note("close")
        self.model = None

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        self.note(f"clip {clip.name}")
        time.sleep(self.seconds)
        self.strike(clip.name)
        values = [self.model(rgb) for _, rgb in clip.read()]
        return self.signals(clip, float(np.mean(values)), dict(signals))

    def strike(self, clip_name: str) -> None:
        """Does what the clip provokes."""
        if self.fault_clip not in ("", clip_name):
            return
        if self.fault == "raise":
            raise RuntimeError("an odd picture")
        if self.fault == "lose the GPU":
            raise RuntimeError("CUDA error: device-side assert triggered")
        if self.fault == "run out of memory":
            raise OutOfMemoryError("CUDA out of memory")
        if self.fault == "die" or (self.fault == "die once" and self.notes().count(f"strike {clip_name}") == 0):
            self.note(f"strike {clip_name}")
            os.kill(os.getpid(), signal.SIGKILL)

    def signals(self, clip: Clip, value: float, read: Mapping[str, Signal | NoEstimate]) -> dict[str, Signal]:
        """Signals that hold the value; what was read goes into it as well."""
        value += sum(1000.0 for other in read.values() if not isinstance(other, NoEstimate))
        own = Provenance(expert=self.name, version=self.version, settings={"value": value})
        n = len(clip.frames)
        made: dict[str, Signal] = {}
        for name in self.provides:
            if name == "valid_area":
                made[name] = ValidArea(valid=np.ones((4, 4), dtype=bool), provenance=own)
            elif name == "image_tracks":
                xy = np.random.default_rng(int(value)).random((self.tracks, n, 2), dtype=np.float32)
                made[name] = ImageTracks(frames=clip.frames, xy_px=xy, provenance=own)
            else:
                up = np.tile([0.0, -1.0, value], (n, 1))
                sigma = np.full(n, 0.1)
                made[name] = Gravity(
                    frames=clip.frames, up_cam=up, sigma_rad=sigma, decided_by=self.name, provenance=own
                )
        return made

    def note(self, line: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{self.name}: {line}\n")

    def notes(self) -> list[str]:
        """What was noted so far."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.partition(": ")[2] for line in lines if line.startswith(f"{self.name}: ")]


@dataclass(kw_only=True)
class FakePerImage(FakeModel):
    """The same in three steps. A picture's result depends on the shape of its batch, as on a GPU."""

    batch_size: int = 4
    room: int = 100
    """Pictures that memory has room for."""
    poison: float | None = None
    """Mean of a picture that provokes `fault` in whatever batch it is."""
    no_pictures_of: str = ""
    """Name of a clip of which it looks at none."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        return call_one(self, clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[int, Picture]]:
        self.note(f"clip {clip.name}")
        if clip.name != self.no_pictures_of:
            yield from clip.read()

    def infer(self, pictures: Sequence[Picture]) -> list[float]:
        time.sleep(self.seconds)
        means = [float(rgb.mean()) for rgb in pictures]
        self.note(f"batch of {len(pictures)}, {len(set(means))} different")
        if len(pictures) > self.room:
            raise OutOfMemoryError("CUDA out of memory")
        assert len({rgb.shape for rgb in pictures}) == 1
        if self.poison in means:
            self.strike(self.fault_clip)
        rounding = 1e-9 * len(pictures)
        return [self.model(rgb) + rounding for rgb in pictures]

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[int, float]) -> Mapping[str, Signal | NoEstimate]:
        if not raw:
            return dict.fromkeys(self.provides, NoEstimate(reason="no pictures"))
        assert list(raw) == [int(frame) for frame in clip.frames]
        weighted = sum((row + 1) * value for row, value in enumerate(raw.values()))
        return self.signals(clip, weighted, dict(signals))


@dataclass(kw_only=True)
class FakePerWindow(FakeModel, PerWindowExpert):
    """The same with a window per clip. Its result depends on the shape of the call, as on a GPU."""

    batch_frames: int = 6
    poison: float | None = None
    """Mean of a window that provokes `fault` in whatever call it is."""

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        FakeModel.load(self, weights, device, dtype)
        self.model = self  # the network is the expert: its methods are below

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        return PerWindowExpert.__call__(self, clip, signals)

    def process(self, clip: Clip, signals: Signals, calls: NetworkCalls) -> Mapping[str, Signal | NoEstimate]:
        self.note(f"clip {clip.name}")
        value = calls.predicted(np.stack([rgb for _, rgb in clip.read()]))
        return self.signals(clip, value, dict(signals))

    def prepared(self, window: np.ndarray, *, padded: bool) -> np.ndarray:
        return window

    def infer(self, inputs: Sequence[np.ndarray]) -> list[float]:
        means = [float(window.mean()) for window in inputs]
        self.note(f"call with {len(inputs)}, {len(set(means))} different")
        if self.poison in means:
            self.strike(self.fault_clip)
        return [mean * self.settings.gain + 1e-9 * len(inputs) for mean in means]

    def received(self, output: float) -> float:
        return output
