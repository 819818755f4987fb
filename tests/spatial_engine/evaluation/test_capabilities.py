from spatial_engine.evaluation.result import CAPABILITIES, LEAF_CAPABILITIES, capabilities
from templates.ability import LEAVES


def test_every_leaf_has_tags_and_a_reason() -> None:
    assert tuple(LEAF_CAPABILITIES) == LEAVES
    for tagged in LEAF_CAPABILITIES.values():
        assert tagged.tags and len(set(tagged.tags)) == len(tagged.tags) and set(tagged.tags) <= set(CAPABILITIES)
        assert tagged.reason.strip() and "\n" not in tagged.reason


def test_every_capability_is_asked_for_somewhere() -> None:
    used = {tag for tagged in LEAF_CAPABILITIES.values() for tag in tagged.tags}
    assert used == set(CAPABILITIES) == {"MM", "MR", "SR", "PT", "DA", "CR"}


def test_a_leaf_that_is_not_ours_has_none() -> None:
    assert capabilities("L9/Nothing") == () and capabilities("L1/Geometry/Distance") == ("MM",)
