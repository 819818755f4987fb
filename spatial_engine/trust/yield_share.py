"""Yield: the share of randomly drawn facts (`candidates`) that the signals of a store decide."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from experts.clip import Clip
from experts.sigma_calibration import SigmaCalibration, packaged_calibration, with_sigma_calibration
from experts.signals import Signals
from spatial_engine.trust.candidates import candidates, pictures_of
from templates.generate import Reasons, ask_about, why_missing
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.template import Template

NOT_DRAWN = "the template draws no random facts from this clip: its yield is not known"


@dataclass(frozen=True, kw_only=True)
class ClipYield:
    """The yield of one template on one clip."""

    clip: str
    template: str
    ability: str
    drawn: int
    decided: int
    """Facts that are asked in at least one format. Their pixels and frames move to the nearest measurable ones
    (`templates.scene.placing`); then they are measured and gated as in `templates.generate`."""
    reasons: Mapping[str, int]
    """Reasons of the others, counted by fact and format."""


@dataclass(frozen=True, kw_only=True)
class Yield:
    """Yield over several clips."""

    drawn: int
    decided: int
    reasons: Mapping[str, int]
    """Most frequent first."""

    @property
    def share(self) -> float | None:
        """decided / drawn."""
        return self.decided / self.drawn if self.drawn else None


def clip_yield(
    clip: Clip,
    signals: Signals,
    templates: Sequence[Template],
    settings: AskSettings,
    seed: int,
    maps: SigmaCalibration | None = None,
) -> list[ClipYield]:
    """One entry per template. `maps` calibrate the σ of the signals; by default the packaged factors do. Reads a few
    pictures, and raises what reading footage raises."""
    mapped = with_sigma_calibration(signals, packaged_calibration() if maps is None else maps)
    return scene_yield(pictures_of(clip), scenes_of(clip, mapped), templates, settings, seed)


def scene_yield(
    pictures: Pictures, scenes: tuple[Scene, ...], templates: Sequence[Template], settings: AskSettings, seed: int
) -> list[ClipYield]:
    """The same for a clip whose pictures are read and whose scenes are built."""
    unlimited = AskSettings(min_confidence=settings.min_confidence, facts_per_template=10**9)
    found = []
    for template in templates:
        reasons: Reasons = Counter()
        facts = candidates(pictures, template, seed)
        if not len(facts):
            reasons[None, NOT_DRAWN] += 1
        if missing := template.lacks(scenes[0]):
            reasons[None, why_missing(scenes[0], missing[0])] += len(facts)
            asked = []
        else:
            asked = ask_about(template, template.placed(facts, scenes[0]), scenes, unlimited, seed, reasons)
        found.append(
            ClipYield(
                clip=pictures.clip.id,
                template=template.name,
                ability=template.ability,
                drawn=len(facts),
                decided=len({id for one in asked for id in one.fact_ids.tolist()}),
                reasons=_by_reason(reasons),
            )
        )
    return found


def total_yield(parts: Iterable[ClipYield]) -> Yield:
    """The sum over templates and clips."""
    parts = list(parts)
    reasons: Counter[str] = Counter()
    for part in parts:
        reasons.update(part.reasons)
    return Yield(
        drawn=sum(part.drawn for part in parts),
        decided=sum(part.decided for part in parts),
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    )


def _by_reason(reasons: Reasons) -> dict[str, int]:
    found: Counter[str] = Counter()
    for (_, reason), count in reasons.items():
        found[reason] += count
    return dict(sorted(found.items()))
