"""What signals unlock follows from what templates declare."""

from pathlib import Path

from templates.registry import create_templates
from templates.unlocked import unlocked, unlocked_by
from templates.world import Procedural


def test_every_template_is_asked_or_lacks_what_it_needs() -> None:
    templates = {name: t for name, t in create_templates().items() if not issubclass(t.world, Procedural)}
    for signals in ({"camera_path"}, {"camera_path", "tracks", "gravity"}, {"objects"}, set()):
        known = unlocked(signals)
        asked = [name for names in known.asked.values() for name in names]
        assert sorted([*asked, *known.lacking]) == sorted(templates)
        for name in asked:
            assert templates[name].needs <= signals
        for name, missing in known.lacking.items():
            assert {*missing} == templates[name].needs - signals


def test_objects_unlock_the_leaves_of_objects() -> None:
    without = unlocked(set()).asked  # the edges of the picture show whether the camera moves
    assert without == {"L1/Motion/Ego": ("camera_moves",)}
    assert unlocked({"objects"}).asked == without | {
        "L1/Localization/3D Detection": ("count_in_photo", "object_there"),
        "L1/Localization/3D Grounding": ("point_to_object",),
        "L2/Memory/Memory Retrieval": ("how_many", "first_seen", "last_seen"),
        "L2/Understanding/Affordance": ("use_of",),
        "L4/Open-world Exploration/Knowledge Acquisition": ("enough_seen",),
    }
    assert "L1/Orientation/Object Orientation" in unlocked_by({"object_orientation"})
    assert unlocked_by({"agreement"}) == ()


def test_the_page_about_objects_names_every_template_that_needs_them() -> None:
    page = (Path(__file__).parents[2] / "docs/objects.md").read_text(encoding="utf-8")
    for name, template in create_templates().items():
        assert ("objects" in template.needs) <= (f"| {template.ability} | `{name}` |" in page), name
