"""All maps of one calibration, and the file that keeps them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from experts.provenance import Provenance
from experts.sigma_calibration.sigma_factor import HeldOut, NotCalibrated, SigmaFactor

PACKAGED = Path(__file__).with_name("sigma_calibration.json")
"""The maps that come with the software; `make calibrate` writes them."""
FORMAT_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class SigmaCalibration:
    """Maps, and what was measured without giving one."""

    maps: tuple[SigmaFactor, ...] = ()
    """At most one per expert, weights, signal and quantity."""
    without: tuple[NotCalibrated, ...] = ()

    def of(self, made_by: Provenance, signal: str, quantity: str) -> SigmaFactor | None:
        """The map of a quantity of a signal. One of another version or other weights still widens: it never narrows,
        and the older word is better than none. The same weights come first."""
        wanted = (made_by.expert, signal.removesuffix("_check"), quantity)
        found = [each for each in self.maps if (each.expert, each.signal, each.quantity) == wanted]
        return max(found, key=lambda each: (each.weights_sha256 == made_by.weights_sha256, each.gain), default=None)

    @property
    def digest(self) -> str:
        """16 hex digits of the sha256 over the maps: equal maps, equal digest."""
        content = [asdict(each) for each in self.maps]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {
            "format_version": FORMAT_VERSION,
            "maps": [asdict(each) | {"held_out": [asdict(one) for one in each.held_out]} for each in self.maps],
            "without": [asdict(each) | {"sets": list(each.sets)} for each in self.without],
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "SigmaCalibration":
        """What `to_json` gave; no maps of an empty object. Raises `ValueError`, `KeyError`, `TypeError` or
        `AttributeError` for anything else."""
        if content and content["format_version"] != FORMAT_VERSION:
            raise ValueError(f"sigma maps of format {content['format_version']}, this version reads {FORMAT_VERSION}")
        return SigmaCalibration(
            maps=tuple(_map(each) for each in content.get("maps", ())),
            without=tuple(NotCalibrated(**each | {"sets": tuple(each["sets"])}) for each in content.get("without", ())),
        )


def _map(content: Mapping[str, Any]) -> SigmaFactor:
    return SigmaFactor(**{**content, "held_out": tuple(HeldOut(**each) for each in content["held_out"])})


def read_calibration(path: Path) -> SigmaCalibration:
    """The maps of a file. Raises `OSError`, or `ValueError` for a file that holds none."""
    content = json.loads(path.read_text(encoding="utf-8"))
    try:
        return SigmaCalibration.from_json(content or {"format_version": None})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no sigma maps ({error!r})") from error


@cache
def packaged_calibration() -> SigmaCalibration:
    """The maps that come with the software."""
    return read_calibration(PACKAGED)
