"""Names that may mean an object of another name."""

import pytest

from experts.objects.object_names import folded
from templates.scene.named import may_be_called


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("person", "Cyclist"), ("Pedestrian", "Person_sitting"), ("Car", "Van"), ("table", "desk"),
        ("coffee table", "office desk"), ("chair", "bar stools"), ("cup", "mugs"), ("rug", "carpet"),
        ("cushion", "pillow"), ("painting", "poster"), ("box", "crate"), ("bag", "backpack"), ("cabinet", "wardrobe"),
        ("tv", "computer monitor"), ("pot", "pan"), ("jar", "bottle"), ("couch", "armchair"), ("bicycle", "cyclist"),
    ],
)  # fmt: skip
def test_names_that_people_use_for_one_another(name: str, other: str) -> None:
    one, another = folded(name), folded(other)
    assert may_be_called(one, ["door", another]) and may_be_called(another, ["door", one])


@pytest.mark.parametrize(
    ("name", "other"), [("table", "table lamp"), ("car", "truck"), ("cup", "plate"), ("sofa", "chair")]
)
def test_other_names_mean_other_kinds(name: str, other: str) -> None:
    assert not may_be_called(name, [other])
