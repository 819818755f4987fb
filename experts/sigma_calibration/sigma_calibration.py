"""σ calibration: one factor per quantity of an expert's signal and one per template, the file that stores the factors,
and their application."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from experts.provenance import Provenance
from experts.signals import NoEstimate, Signal, Signals


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The fit on all sets but one, evaluated on that one."""

    set: str
    """Name of the set that the fit leaves out."""
    samples: int
    fitted: float
    """Factor that fits the other sets; below 1 where their errors are smaller than stated."""
    within_1: float
    """Share of this set's errors within 1 σ after scaling by that factor, or by 1 if `SigmaFactor` is not below 1 and
    that factor is. 0.683 is expected."""
    within_2: float
    """... within 2 σ. 0.954 is expected."""
    rendered: bool = False
    """Whether a renderer made its pictures."""


@dataclass(frozen=True, kw_only=True)
class SigmaFactor:
    """The stated σ of one quantity is multiplied by `factor`."""

    expert: str
    """Registry name."""
    version: str
    """Version of the expert that the factor was fitted for."""
    weights_sha256: str | None
    """Weights that the factor was fitted for; None for experts not_calibrated weights."""
    signal: str
    """Name of the signal; its check (`<signal>_check`) uses the same factor."""
    quantity: str
    """A key of `QUANTITIES[signal]`."""
    factor: float
    """The largest of the fits that each leave out one set; below 1 only where many sets agree."""
    samples: int
    """Number of errors that it was fitted on, over all sets."""
    held_out: tuple[HeldOut, ...]
    """One entry per set, sorted by name."""

    def __post_init__(self) -> None:
        _check(self.factor, f"{self.expert} {self.signal} {self.quantity}")

    @property
    def sets(self) -> list[str]:
        """The sets that it was fitted on, as in `named_sets`."""
        return named_sets({each.set: each.rendered for each in self.held_out})


def _check(factor: float, of: str) -> None:
    if not 0 < factor < float("inf"):
        raise ValueError(f"factor {factor} of {of}: allowed are finite numbers above 0")


def named_sets(rendered: Mapping[str, bool]) -> list[str]:
    """Names of filmed sets, and the number of those that a renderer made, which nobody can look up."""
    filmed = [name for name, made in rendered.items() if not made]
    count = len(rendered) - len(filmed)
    return filmed + ([f"{count} rendered"] if count else [])


@dataclass(frozen=True, kw_only=True)
class NotCalibrated:
    """A quantity whose errors were measured but do not suffice for a factor."""

    expert: str
    version: str
    signal: str
    quantity: str
    samples: int
    sets: tuple[str, ...]
    fitted: float
    """Factor that would fit these errors; for information only."""
    within_1: float
    """Share of errors within 1 σ as stated."""
    within_2: float
    """... within 2 σ."""
    why: str
    """Why the errors do not suffice ("one set only")."""


@dataclass(frozen=True, kw_only=True)
class AnswerFactor:
    """The σ of a template's answers is multiplied by `factor` when they are recorded.

    σ of signals holds for the worst clips, because it decides what is asked. Typical errors are smaller, and the σ of
    an answer says how large they are.
    """

    template: str
    """Registry name."""
    version: str
    """Version of the template that the factor was fitted for."""
    experts: Mapping[str, str]
    """Version of each expert whose signals the answers depended on. Answers that depend on others are not scaled."""
    factor: float
    samples: int
    """Number of errors that it was fitted on, over all sets."""
    held_out: tuple[HeldOut, ...]
    """One entry per set, sorted by name."""

    def __post_init__(self) -> None:
        _check(self.factor, f"answers of {self.template}")


PACKAGED = Path(__file__).with_name("sigma_calibration.json")
"""The calibration that comes with the software; `make calibrate` writes it."""
FORMAT_VERSION = 2


@dataclass(frozen=True, kw_only=True)
class SigmaCalibration:
    """Fitted factors, and the quantities without one."""

    factors: tuple[SigmaFactor, ...] = ()
    """At most one per expert, weights, signal and quantity."""
    not_calibrated: tuple[NotCalibrated, ...] = ()
    answers: tuple[AnswerFactor, ...] = ()
    """At most one per template."""

    def of(self, made_by: Provenance, signal: str, quantity: str) -> SigmaFactor | None:
        """The factor of a quantity of a signal. A factor of another version or of other weights still applies if it
        widens σ: an old factor is better than none. A factor of the same weights takes precedence."""
        wanted = (made_by.expert, signal.removesuffix("_check"), quantity)
        own = (made_by.version, made_by.weights_sha256)
        found = [
            each
            for each in self.factors
            if (each.expert, each.signal, each.quantity) == wanted
            and (each.factor >= 1 or (each.version, each.weights_sha256) == own)
        ]
        return max(found, key=lambda each: (each.weights_sha256 == made_by.weights_sha256, each.factor), default=None)

    def of_answers(self, template: str, version: str, provenance: Sequence[Mapping[str, Any]]) -> float:
        """The factor for σ of a template's answers, given the provenance of the signals that they depend on; 1 where
        none was fitted for these versions of the template and of the experts."""
        versions = {record["expert"]: record["version"] for record in provenance}
        found = (
            each.factor
            for each in self.answers
            if (each.template, each.version) == (template, version) and versions.items() <= each.experts.items()
        )
        return next(found, 1.0)

    @property
    def digest(self) -> str:
        """First 16 hex digits of the sha256 of the factors: equal factors have equal digests."""
        content = [*map(asdict, self.factors), *map(asdict, self.answers)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {
            "format_version": FORMAT_VERSION,
            "factors": [_record(each) for each in self.factors],
            "not_calibrated": [asdict(each) | {"sets": list(each.sets)} for each in self.not_calibrated],
            "answers": [_record(each) for each in self.answers],
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "SigmaCalibration":
        """Inverse of `to_json`. An empty object gives no factors. Raises `ValueError`, `KeyError`, `TypeError` or
        `AttributeError` for anything else."""
        if content and content["format_version"] != FORMAT_VERSION:
            raise ValueError(
                f"a sigma calibration of format {content['format_version']}, this version reads {FORMAT_VERSION}:"
                " write it again with `spatial-engine calibrate`"
            )
        return SigmaCalibration(
            factors=tuple(SigmaFactor(**_with_held_out(each)) for each in content.get("factors", ())),
            answers=tuple(AnswerFactor(**_with_held_out(each)) for each in content.get("answers", ())),
            not_calibrated=tuple(
                NotCalibrated(**each | {"sets": tuple(each["sets"])}) for each in content.get("not_calibrated", ())
            ),
        )


def _record(factor: SigmaFactor | AnswerFactor) -> dict[str, Any]:
    return asdict(factor) | {"held_out": [asdict(one) for one in factor.held_out]}


def _with_held_out(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, "held_out": tuple(HeldOut(**each) for each in content["held_out"])}


def read_calibration(path: Path) -> SigmaCalibration:
    """Reads the factors of a file. Raises `OSError`, or `ValueError` for a file of another format."""
    content = json.loads(path.read_text(encoding="utf-8"))
    try:
        return SigmaCalibration.from_json(content or {"format_version": None})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no sigma calibration ({error!r})") from error


@cache
def packaged_calibration() -> SigmaCalibration:
    """The calibration that comes with the software."""
    return read_calibration(PACKAGED)


QUANTITIES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "camera_path": {
        "rotation": ("rotation_sigma_rad",),
        "direction": ("direction_sigma_rad", "position_sigma"),
        "focal": ("focal_relative_sigma",),
    },
    "calibration": {"focal": ("focal_relative_sigma",)},
    "sparse_points": {"range": ("range_relative_sigma",)},
    "depth": {"range": ("relative_sigma",)},
    "depth_patches": {"range": ("relative_sigma",)},
    "tracks": {"pixel": ("sigma_px",)},
    "matches": {"pixel": ("sigma_px",)},
    "gravity": {"up": ("sigma_rad",)},
}
"""The quantities of each signal, and the fields that hold their σ."""


def with_sigma_calibration(signals: Signals, factors: SigmaCalibration) -> dict[str, Signal | NoEstimate]:
    """Multiplies the σ of each calibrated quantity by its factor, and adds the sets of the factors to the provenance.

    A signal counts as calibrated where each of its quantities has a factor of its own version and weights. Otherwise
    its kind of σ does not change: raw stays raw, and its floor applies. A quantity is scaled only once, however often
    this function is called.
    """
    return {name: s if isinstance(s, NoEstimate) else _calibrated(name, s, factors) for name, s in signals.items()}


def _calibrated(name: str, signal: Signal, factors: SigmaCalibration) -> Signal:
    made_by, quantities = signal.provenance, QUANTITIES.get(name.removesuffix("_check"), {})
    due = {q: m for q in quantities if q not in made_by.calibrated_on and (m := factors.of(made_by, name, q))}
    if not due:
        return signal
    own = (made_by.version, made_by.weights_sha256)
    whole = len(due) == len(quantities) and all((m.version, m.weights_sha256) == own for m in due.values())
    made_by = replace(
        made_by,
        sigma="calibrated" if whole else made_by.sigma,
        calibrated_on=made_by.calibrated_on | {quantity: each.sets for quantity, each in due.items()},
    )
    widened = {field: getattr(signal, field) * m.factor for q, m in due.items() for field in quantities[q]}
    return replace(signal, provenance=made_by, **widened)
