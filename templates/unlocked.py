"""What signals unlock: the templates that they suffice for, and what the others lack."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.template import Template


@dataclass(frozen=True, kw_only=True)
class Unlocked:
    """Templates about clips, by whether the signals suffice for them."""

    asked: Mapping[str, tuple[str, ...]]
    """Names of the templates whose needs are met, by leaf of the ability tree. The footage still decides how much of it
    can be asked."""
    lacking: Mapping[str, tuple[str, ...]]
    """The other templates, with the signals that each lacks."""


def unlocked(signals: Iterable[str]) -> Unlocked:
    """What can be asked from signals of these names."""
    provided = frozenset(signals)
    asked: dict[str, tuple[str, ...]] = {}
    lacking: dict[str, tuple[str, ...]] = {}
    for template in _about_clips():
        if missing := template.needs - provided:
            lacking[template.name] = tuple(sorted(missing))
        else:
            asked[template.ability] = (*asked.get(template.ability, ()), template.name)
    return Unlocked(asked=asked, lacking=lacking)


def unlocked_by(signals: Iterable[str]) -> tuple[str, ...]:
    """Leaves of the templates that need one of the signals."""
    provided = frozenset(signals)
    return tuple(dict.fromkeys(template.ability for template in _about_clips() if template.needs & provided))


def _about_clips() -> list[Template]:
    return [template for template in create_templates().values() if issubclass(template.world, Scene)]
