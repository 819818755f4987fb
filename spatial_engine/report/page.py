"""Renders pages from templates, and formats numbers for them."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def write_page(path: Path, template: str, **content: Any) -> None:
    """Renders a page. Characters of names that are not Unicode become question marks."""
    path.write_bytes(_environment().get_template(template).render(**content).encode("utf-8", "replace"))


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent, without the % sign; a dash for None."""
    return "–" if share is None else f"{100 * share:.{digits}f}".replace("-", "−")


def signed(share: float | None, digits: int = 1) -> str:
    """A share in per cent with + or − before it; 0 has no sign."""
    if share is None:
        return "–"
    rounded = round(100 * share, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else "0"


def short(number: float | None) -> str:
    """A number in about five characters: 950, 12.3k, 4.56M."""
    if number is None:
        return "–"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{number:.0f}" if number == round(number) or abs(number) >= 100 else f"{number:.2g}"


_FILTERS: Mapping[str, Callable[..., str]] = {"percent": percent, "signed": signed, "short": short}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("spatial_engine.report", "html"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(_FILTERS)
    return environment
