"""Charts of the pages: matplotlib draws them as SVG that stands in the page and takes its colours, light or dark.

    with chart(560, 300) as drawn:
        axes = drawn.axes()
        drawn.tell(axes.plot(x, y, color=SERIES[0]), "what the pointer is told", series=0)
        figure = drawn.svg("the chart in words")

Colours are those of the pages' style sheets: each constant here stands for a CSS variable. Equal charts, equal bytes.
"""

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES = ("ink", "soft", "line", "card", "accent", "amber", "chance")
INK, SOFT, LINE, CARD, ACCENT, AMBER, CHANCE = _FIXED = tuple(f"#fe00{place:02x}" for place in range(len(_NAMES)))
SERIES = tuple(f"#fd00{place:02x}" for place in range(12))
"""Colours of models and of other series, in their order; a thirteenth takes the first again."""

_VARIABLES = dict(zip(_FIXED, _NAMES, strict=True)) | {colour: f"m{place}" for place, colour in enumerate(SERIES)}
_CLIPS = re.compile(r"<defs>\s*(<clipPath.*?</clipPath>\s*)+</defs>", re.DOTALL)
_NOT_NEEDED = re.compile(r' clip-path="[^"]*"| id="[\w.]*_\d+"| ?font-family: [^;]*;| transform="rotate\(-0 [^"]*"')
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": LINE,
    "grid.linewidth": 1.0,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "legend.frameon": False,
    "legend.labelcolor": SOFT,
    "figure.facecolor": "none",
}


@dataclass
class Chart:
    """One matplotlib figure."""

    figure: "Figure"
    _told: list[tuple[str, str]] = field(default_factory=list)

    def axes(self, **options: Any) -> "Axes":
        """The only axes of the figure; `options` are those of `Figure.add_subplot`."""
        return self.figure.add_subplot(**options)

    def tell(self, artists: Any, words: str, *, series: int | None = None, hidden: bool = False) -> None:
        """Says under the pointer what artists mean. A `series` is shown and hidden by the boxes of the page."""
        artists = artists if isinstance(artists, Iterable) else [artists]
        attributes = "" if series is None else f' data-of="{series}"'
        attributes += ' style="display:none"' if hidden else ""
        for artist in artists:
            artist.set_gid(f"told-{len(self._told)}")
            self._told.append((attributes, escape(words)))

    def svg(self, words: str) -> Markup:
        """The chart as an element of a page. `words` tell it to those who do not see it."""
        file = io.BytesIO()
        self.figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        text = file.getvalue().decode()
        text = text[text.index("<g ") : text.rindex("</svg>")]
        text = re.sub(r'<g id="told-(\d+)">', self._told_group, text)
        text = _NOT_NEEDED.sub("", _CLIPS.sub("", text))
        text = re.sub(r"#f[ed]00[0-9a-f]{2}", lambda found: f"var(--{_VARIABLES[found[0]]})", text)
        text = re.sub(r"\s+", " ", text.replace("xlink:href", "href")).replace("> <", "><")
        width, height = (round(72 * side, 2) for side in self.figure.get_size_inches())
        head = f'<svg class="figure" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(words)}">'
        return Markup(f"{head}{text}</svg>")

    def _told_group(self, found: re.Match[str]) -> str:
        attributes, words = self._told[int(found[1])]
        return f"<g{attributes}><title>{words}</title>"


@contextmanager
def chart(width_px: float, height_px: float) -> Iterator[Chart]:
    """A figure in the pages' style; drawn and written within the block. A page may scale it."""
    import matplotlib  # slow to import
    from matplotlib.figure import Figure

    size = f"{width_px} {height_px}"
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": size}):
        yield Chart(Figure(figsize=(width_px / 72, height_px / 72), layout="constrained"))
