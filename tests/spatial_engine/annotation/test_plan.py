"""Needs are met, in order, or it is said who could meet them."""

from pathlib import Path

import pytest

from spatial_engine.annotation.plan import choose, choose_experts, left_out, named_expert, steps
from spatial_engine.errors import UsageError
from spatial_engine.options import ModelOptions
from tests.spatial_engine.fake_adapters import FakeAdapter, Unpacked
from tests.spatial_engine.fake_experts import FakeExpert, chain

LOG = Path("unused")


def test_needs_come_first() -> None:
    fakes = chain(LOG)
    backwards = {name: fakes[name] for name in ("up", "tracks", "area")}
    names = [expert.name for expert in choose(None, backwards)]
    assert names.index("area") < names.index("tracks")
    assert sorted(names) == ["area", "tracks", "up"]


def test_only_wanted_experts_and_their_needs() -> None:
    assert [expert.name for expert in choose(["image_tracks"], chain(LOG))] == ["area", "tracks"]
    assert [expert.name for expert in choose(["gravity"], chain(LOG))] == ["up"]


def test_the_first_provider_is_preferred() -> None:
    rival = FakeExpert(name="rival", provides=frozenset({"gravity"}), log=LOG)
    assert [expert.name for expert in choose(["gravity"], {"rival": rival, **chain(LOG)})] == ["rival"]
    assert [expert.name for expert in choose(["gravity"], {**chain(LOG), "rival": rival})] == ["up"]


def test_named_experts_all_run() -> None:
    rival = FakeExpert(name="rival", provides=frozenset({"valid_area", "gravity"}), log=LOG)
    chosen = choose_experts([*chain(LOG).values(), rival])
    assert {"area", "rival_check", "tracks", "up"} <= {expert.name for expert in chosen}, "and what joins them"
    assert next(e for e in chosen if e.name == "rival_check").provides == {"gravity_check"}, "the second is the check"


def names_of(experts: object) -> list[str]:
    return [expert.name for expert in choose_experts(experts)]  # type: ignore[arg-type]


def test_names_are_added_to_the_default_and_taken_away() -> None:
    default = names_of(None)
    assert names_of("default") == names_of(["default"]) == default
    assert set(names_of("+geocalib")) == {*default, "geocalib_check", "cross_check"}, "and what compares the two"
    assert names_of("default,+geocalib,-sift") == [name for name in names_of("+geocalib") if name != "sift"]
    assert "sift" not in names_of("-sift") and "klt" in names_of("-sift")


def test_what_rests_on_a_removed_expert_goes_too() -> None:
    assert names_of("-colmap") == ["valid_area", "klt", "straight_lines"]
    with pytest.raises(UsageError, match="nothing provides camera_path"):
        names_of("default,track_geometry,-colmap")
    with pytest.raises(UsageError, match="-tapir: no such expert would run") as caught:
        names_of("-tapir")
    assert "colmap" in caught.value.remedy


def test_a_default_expert_whose_need_moves_to_a_check_is_left_out_and_named() -> None:
    asked = "default,+depth_anything_3,+geocalib"
    chosen = choose_experts(asked)
    names = {expert.name for expert in chosen}
    assert {"depth_anything_3", "colmap_check"} <= names and "sift" not in names
    assert left_out(asked, chosen) == [
        f"{name} is left out: no expert of this run provides sparse_points" for name in ("plane_sweep", "sift")
    ]
    assert left_out("-sift", choose_experts("-sift")) == [], "what the user takes away is no surprise"
    with pytest.raises(UsageError, match="nothing provides sparse_points") as caught:
        choose_experts("default,+depth_anything_3,+sift")
    assert caught.value.remedy == "leave out of --experts: sift", "colmap is in the list already"


def test_experts_as_objects_join_the_default() -> None:
    rival = FakeExpert(name="rival", provides=frozenset({"objects"}), log=LOG)
    assert {*names_of(None), "rival"} <= set(names_of(["default", rival]))


def test_an_unmet_need_names_who_provides_it() -> None:
    with pytest.raises(UsageError, match="nothing provides valid_area") as caught:
        choose_experts(["klt"])
    assert "valid_area (provides valid_area)" in caught.value.remedy


def test_an_expert_with_a_signal_of_its_own_is_refused_before_the_run() -> None:
    inventor = FakeExpert(name="inventor", provides=frozenset({"brightness"}), log=LOG)
    with pytest.raises(UsageError, match="expert inventor provides brightness, which is no signal") as caught:
        choose_experts(["default", inventor])
    assert "camera_path" in caught.value.remedy and "docs/extend.md" in caught.value.remedy


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


def test_an_expert_brings_its_own_guess() -> None:
    expert = named_expert("klt")
    assert steps([expert], {}, ModelOptions())[0].seconds == 5.0
    expert.seconds_per_clip = 7.0  # type: ignore[attr-defined]
    assert steps([expert], {}, ModelOptions())[0].seconds == 7.0


def test_memory_of_a_model_is_that_of_its_weights_at_least() -> None:
    [known], [unknown], [core] = (
        steps([FakeAdapter()], {}),
        steps([FakeAdapter("bound")], {}),
        steps([named_expert("klt")], {}),
    )
    assert known.memory_gb == pytest.approx(0.5415, abs=1e-3)
    assert unknown.memory_gb is None
    assert core.memory_gb is not None


def test_obstacles_are_all_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPATIAL_ENGINE_WEIGHTS", str(tmp_path))
    [core, model, bound] = steps([named_expert("klt"), Unpacked(), FakeAdapter("bound")], {})
    assert core.obstacles == ()
    assert [type(obstacle).__name__ for obstacle in model.obstacles] == ["SetupProblem", "SetupProblem"]
    assert [type(obstacle).__name__ for obstacle in bound.obstacles] == ["UsageError", "SetupProblem"]
    [tried] = steps([FakeAdapter("bound")], {}, ModelOptions(random_weights=True))
    assert tried.obstacles == ()
