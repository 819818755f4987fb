"""One map: by what factor σ of one quantity of one expert's signal have to grow."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """What a fit on all other sets makes of a set that it has not seen."""

    set: str
    samples: int
    fitted: float
    """Factor that fits the other sets; below 1 where their errors are smaller than stated."""
    within_1: float
    """Share of the set's errors within 1 σ after that factor, or after 1 if it is below 1; 0.683 is due."""
    within_2: float
    """... within 2 σ; 0.954 is due."""


@dataclass(frozen=True, kw_only=True)
class SigmaFactor:
    """σ as the expert states it, times `gain`."""

    expert: str
    """Registry name."""
    version: str
    """The expert's version that it was fitted on."""
    weights_sha256: str | None
    """Its weights; None for experts without weights."""
    signal: str
    """Name of the signal; its check (`<signal>_check`) has the same map."""
    quantity: str
    """A key of `QUANTITIES[signal]`."""
    gain: float
    """≥ 1: the largest of the fits that leave out one set."""
    samples: int
    """Errors that it rests on, of all sets."""
    held_out: tuple[HeldOut, ...]
    """Per set, sorted by name."""

    def __post_init__(self) -> None:
        if not 1 <= self.gain < float("inf"):
            raise ValueError(f"gain {self.gain} of {self.expert} {self.signal} {self.quantity}: allowed are 1 and more")

    @property
    def sets(self) -> list[str]:
        """Names of the sets that it was fitted on."""
        return [each.set for each in self.held_out]


@dataclass(frozen=True, kw_only=True)
class NotCalibrated:
    """A quantity that was measured and has no map."""

    expert: str
    version: str
    signal: str
    quantity: str
    samples: int
    sets: tuple[str, ...]
    fitted: float
    """Factor that would fit what there is; for information only."""
    within_1: float
    """Share of errors within 1 σ as stated."""
    within_2: float
    """... within 2 σ."""
    why: str
    """Why that is too little ("one set only")."""
