"""Experts that measure nothing: they say that they ran, and fail when told to."""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import Gravity, ImageTracks, NoEstimate, Signal, Signals, ValidArea


@dataclass(frozen=True, kw_only=True)
class FakeSettings:
    level: float = 1.0


@dataclass(kw_only=True)
class FakeExpert:
    """Does `does` in its call; adds a line to `log`."""

    name: str
    provides: frozenset[str]
    log: Path
    needs: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    version: str = "1"
    settings: FakeSettings = field(default_factory=FakeSettings)
    does: Literal["measure", "abstain", "raise", "die", "die once", "interrupt", "cheat", "exit", "late"] = "measure"
    only_clip: str = ""
    """Name of the one clip that `does` is about; empty: all."""

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        self._note("load")

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        first = not self.ran(clip.name)
        self._note(clip.name)
        does = self.does if self.only_clip in ("", clip.name) else "measure"
        if does == "raise":
            raise RuntimeError("no luck\nat all")
        if does == "die" or (does == "die once" and first):
            os.kill(os.getpid(), signal.SIGKILL)
        if does == "interrupt":
            raise KeyboardInterrupt
        if does == "exit":
            raise SystemExit("upstream gives up")
        if does == "abstain":
            return {name: NoEstimate(reason="too dark", detail="0 lx") for name in self.provides}
        if does == "cheat":
            return {}
        measured = {name: self._measure(name, clip) for name in self.provides}
        if does == "late":
            for value in measured.values():
                object.__setattr__(value, "frames", clip.frames + 1)
        return measured

    def ran(self, word: str | None = None) -> int:
        """How often it ran, or on which clip."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return sum(line.startswith(f"{self.name}: ") and word in (None, line.split(": ", 1)[1]) for line in lines)

    def _note(self, what: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{self.name}{' ' if what == 'load' else ': '}{what}\n")

    def _measure(self, name: str, clip: Clip) -> Signal:
        provenance = Provenance(expert=self.name, version=self.version, settings={"level": self.settings.level})
        n = len(clip.frames)
        if name == "valid_area":
            width, height = clip.working_size
            return ValidArea(valid=np.ones((height, width), bool), provenance=provenance)
        if name == "image_tracks":
            xy = np.full((2, n, 2), self.settings.level, dtype=np.float32)
            return ImageTracks(frames=clip.frames, xy_px=xy, provenance=provenance)
        up = np.tile([0.0, -1.0, 0.0], (n, 1))
        sigma = np.full(n, 0.1)
        decided_by = "--upright" if clip.options.upright else self.name
        return Gravity(frames=clip.frames, up_cam=up, sigma_rad=sigma, decided_by=decided_by, provenance=provenance)


def chain(log: Path) -> dict[str, FakeExpert]:
    """area -> tracks, and gravity, which reads the tracks and the user's word."""
    return {
        "area": FakeExpert(
            name="area", provides=frozenset({"valid_area"}), options=frozenset({"max_side_px"}), log=log
        ),
        "tracks": FakeExpert(
            name="tracks", provides=frozenset({"image_tracks"}), needs=frozenset({"valid_area"}), log=log
        ),
        "up": FakeExpert(name="up", provides=frozenset({"gravity"}), options=frozenset({"upright"}), log=log),
    }
