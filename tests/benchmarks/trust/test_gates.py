import numpy as np
import pytest

from benchmarks.trust.asked import Setup
from benchmarks.trust.code_hash import ROOT
from benchmarks.trust.gates import GATES, Gate, no_outliers, one_reconstruction
from benchmarks.trust.switch import set_at, switched_expert, switched_setup
from experts.provenance import Provenance
from experts.registry import EXPERTS
from experts.signals import Matches, NoEstimate
from templates.answers import Label
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.measured import Measured
from templates.media import Photo
from templates.simulation.route import RouteOrder, ShuffledPhotos

SETUP = Setup()
FACT = {"frame_first": 0, "frames_shuffled": [30, 10, 40, 20], "by_time": True}
"""By the clock: photos 3 5 2 4."""
ROUTE = ShuffledPhotos.from_json([FACT])


def labelled(label: str, margin: float = 9.0) -> Label:
    return Label(text=np.array([label]), margin=np.array([margin]))


def without(name: str) -> RouteOrder:
    (gate,) = (gate for gate in GATES if gate.name == name)
    template = gate.templates["route_order"]
    assert isinstance(template, RouteOrder)
    return template


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_every_switch_changes_what_it_names(gate: Gate) -> None:
    """`set_at` refuses a path that does not exist and a value that is set already."""
    experts = {path.split(".")[0] for path in gate.off} & EXPERTS.targets().keys()
    for name in experts:
        expert = EXPERTS.load(name)()
        assert switched_expert(expert, gate).settings != expert.settings
    setup = switched_setup(SETUP, gate)
    changed = [name for name in setup.templates if setup.templates[name] != SETUP.templates[name]]
    assert experts or gate.signals or changed or setup != SETUP
    assert gate.of_expert == bool(experts)


def test_each_gate_has_a_name_and_a_file_of_its_own() -> None:
    assert len({gate.name for gate in GATES}) == len({gate.key for gate in GATES}) == len(GATES)


def test_the_page_has_a_row_for_every_gate() -> None:
    lines = (ROOT / "docs/gates.md").read_text(encoding="utf-8").splitlines()
    _, _, *rows = [tuple(map(str.strip, cells[1:3])) for line in lines if len(cells := line.split("|")) == 11]
    assert rows == [(gate.guards, gate.name) for gate in GATES]


def test_a_switch_to_the_same_value_or_to_nothing_is_refused() -> None:
    with pytest.raises(LookupError, match=r"is 0\.99 already"):
        set_at(SETUP, "ask.min_confidence", 0.99)
    with pytest.raises(LookupError, match="no 'least_confidence' in AskSettings"):
        set_at(SETUP, "ask.least_confidence", 0.5)


def test_signals_without_the_second_reconstruction_and_without_outliers() -> None:
    matches = Matches(
        pairs=np.array([[0, 1]]),
        pair=np.zeros(2, dtype=np.int64),
        xy_a_px=np.zeros((2, 2)),
        xy_b_px=np.zeros((2, 2)),
        sigma_px=np.ones(2),
        outlier_probability=np.array([0.003, 0.05]),
        confirmed_by=np.zeros(2, dtype=np.int32),
        provenance=Provenance(expert="fake", version="1"),
    )
    signals = {"matches": matches, "camera_path": NoEstimate(reason="a"), "camera_path_check": NoEstimate(reason="b")}
    assert one_reconstruction(signals).keys() == {"matches", "camera_path"}
    reliable = no_outliers(signals)["matches"]
    assert (
        isinstance(reliable, Matches) and not reliable.outlier_probability.any() and matches.outlier_probability.any()
    )


def test_a_nearly_as_short_route_is_asked_without_its_gate() -> None:
    near = Measured(
        why=np.array([""]), value=np.ones((1, 24)), sigma=np.ones((1, 24)), label=np.array(["2 3 4 5"]),
        margin=np.array([2.5]),
    )  # fmt: skip
    assert RouteOrder().answer("order", ROUTE, near).why.tolist() == ["another order is nearly as short"]
    found = without("the route is shorter by 3 σ").answer("order", ROUTE, near)
    assert found.why.tolist() == [""] and found.row(0) == Label(text="2 3 4 5", margin=2.5)


def test_the_shortest_route_is_asked_against_time_without_its_gate() -> None:
    plain, gateless, chance = RouteOrder(), without("the route taken is the shortest"), Chance.of(["a" * 16], 0)
    for format in ("order", "choice"):
        for label, refused in (("2 3 4 5", True), ("3 5 2 4", False)):
            answers = Answers.of(labelled(label), np.array([""]))
            first, second = (template.offer(format, ROUTE, answers, chance) for template in (plain, gateless))
            assert first is not None and second is not None
            assert (first.why[0] != "") == refused and second.why.tolist() == [""]
            if format == "choice":
                assert second.values(0)[second.right[0]] == label  # type: ignore[index]
            if not refused:
                assert second.values(0) == first.values(0)
    against, in_time = Label(text="2 3 4 5", margin=9.0), Label(text="3 5 2 4", margin=9.0)
    asked = gateless.phrase("order", FACT, against, None)
    assert asked.answer == [2, 3, 4, 5]
    assert [photo.frame for photo in asked.media if isinstance(photo, Photo)] == [0, 30, 10, 40, 20]
    assert gateless.phrase("order", FACT, in_time, None) == plain.phrase("order", FACT, in_time, None)
