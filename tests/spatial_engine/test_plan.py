"""Needs are met, in order, or it is said who could meet them."""

from pathlib import Path

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.plan import choose, choose_experts, named_expert, steps
from tests.spatial_engine.fake_experts import FakeExpert, chain

LOG = Path("unused")


def test_needs_come_first() -> None:
    fakes = chain(LOG)
    backwards = {name: fakes[name] for name in ("up", "tracks", "area")}
    names = [expert.name for expert in choose(None, backwards)]
    assert names.index("area") < names.index("tracks")
    assert sorted(names) == ["area", "tracks", "up"]


def test_only_what_is_wanted_and_what_that_needs() -> None:
    assert [expert.name for expert in choose(["image_tracks"], chain(LOG))] == ["area", "tracks"]
    assert [expert.name for expert in choose(["gravity"], chain(LOG))] == ["up"]


def test_the_first_provider_is_preferred() -> None:
    rival = FakeExpert(name="rival", provides=frozenset({"gravity"}), log=LOG)
    assert [expert.name for expert in choose(["gravity"], {"rival": rival, **chain(LOG)})] == ["rival"]
    assert [expert.name for expert in choose(["gravity"], {**chain(LOG), "rival": rival})] == ["up"]


def test_given_experts_all_run() -> None:
    rival = FakeExpert(name="rival", provides=frozenset({"valid_area", "gravity"}), log=LOG)
    chosen = choose_experts([*chain(LOG).values(), rival])
    assert sorted(expert.name for expert in chosen) == ["area", "rival_check", "tracks", "up"]
    assert next(e for e in chosen if e.name == "rival_check").provides == {"gravity_check"}, "the second is the check"


def test_an_unmet_need_names_who_provides_it() -> None:
    with pytest.raises(UsageError, match="nothing provides valid_area") as caught:
        choose_experts(["klt"])
    assert "valid_area (provides valid_area)" in caught.value.remedy


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="no expert is called 'colnap'") as caught:
        named_expert("colnap")
    assert "colmap" in caught.value.remedy
    with pytest.raises(UsageError, match="no signal is called smell"):
        choose(["smell"], chain(LOG))


def test_a_circle_is_named() -> None:
    fakes = chain(LOG)
    fakes["area"].needs = frozenset({"image_tracks"})
    with pytest.raises(UsageError, match="circle"):
        choose(None, fakes)


def test_measured_seconds_replace_guesses() -> None:
    klt = named_expert("klt")
    [guess], [measured] = steps([klt], {}), steps([klt], {"klt": 1.25})
    assert guess.seconds is not None
    assert not guess.measured
    assert (measured.seconds, measured.measured) == (1.25, True)
    [unknown] = steps([chain(LOG)["up"]], {})
    assert unknown.seconds is None
