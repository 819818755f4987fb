"""One page from its template."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def write_page(path: Path, template: str, **content: Any) -> None:
    """Renders a page. Names may hold anything a file system allows: what is no Unicode becomes a question mark."""
    path.write_bytes(_environment().get_template(template).render(**content).encode("utf-8", "replace"))


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent without its sign; a dash for none."""
    return "–" if share is None else f"{100 * share:.{digits}f}".replace("-", "−")


def signed(share: float | None, digits: int = 1) -> str:
    """Likewise, with + or a true minus before it; 0 has none."""
    if share is None:
        return "–"
    rounded = round(100 * share, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else "0"


def short(number: float | None) -> str:
    """A count or an amount in at most five characters or so: 950, 12.3k, 4.56M."""
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
