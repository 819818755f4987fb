"""What a signal was computed from: all experts behind it, and their licences."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from experts.provenance import MAKER, Provenance, makers

SOURCES = st.lists(
    st.builds(
        Provenance,
        expert=st.sampled_from(["colmap", "klt", "depth"]),
        version=st.sampled_from(["1", "2"]),
        weights_licence=st.sampled_from([None, "CC-BY-NC-4.0"]),
        commercial_ok=st.booleans(),
    )
)


@given(first=SOURCES, second=SOURCES)
def test_each_expert_once_in_any_order(first: list[Provenance], second: list[Provenance]) -> None:
    assert makers(first + second) == makers(second + first + first)
    assert {tuple(each) for each in makers(first)} <= {MAKER}


@given(first=SOURCES, second=SOURCES)
def test_experts_behind_experts_are_kept(first: list[Provenance], second: list[Provenance]) -> None:
    derived = Provenance(expert="derived", version="1", made_from=makers(first))
    found = makers([derived, *second])
    assert all(each in found for each in makers(first) + makers(second))
    assert len(found) == len(makers([replace(derived, made_from=[]), *first, *second]))


def test_a_source_alone() -> None:
    assert makers([]) == []
    assert makers([Provenance(expert="klt", version="2", settings={"cells": 8}, seed=0)]) == [
        {
            "expert": "klt",
            "version": "2",
            "code_licence": "Apache-2.0",
            "weights_sha256": None,
            "weights_licence": None,
            "commercial_ok": True,
        }
    ]
