"""Every option of the command line exists in Python under the same name; what only prints has a reason here."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import typer

import spatial_engine as se
from spatial_engine import adjudication
from spatial_engine.actions import command as actions
from spatial_engine.annotation import doctor, weights
from spatial_engine.cli.main import app
from spatial_engine.dataset.split import SHARES
from spatial_engine.evaluation.fake_server import serve
from spatial_engine.options import AdjudicateOptions, ExpertOptions, FetchOptions, JudgeOptions, WeightsFolder
from spatial_engine.sources.trajectories import read_trajectory

PYTHON: dict[str, list[Callable[..., Any]]] = {
    "run": [se.run, se.RunOptions],
    "annotate": [se.annotate, se.AnnotateOptions],
    "generate": [se.generate, se.GenerateOptions],
    "export": [se.export],
    "push": [se.push],
    "report": [se.report],
    "actions": [read_trajectory, actions.show_actions, actions.show_replay],
    "doctor": [doctor.examine],
    "evaluate": [
        se.evaluate,
        se.RequestOptions,
        se.Server,
        JudgeOptions,
        se.Prices,
        se.BenchmarkOptions,
        se.MonitoringOptions,
    ],
    "merge-runs": [se.merge_runs],
    "score": [se.score, JudgeOptions],
    "navigate": [se.navigate, se.NavigationOptions, se.Server],
    "serve-fake-model": [serve],
    "audit-labels": [se.audit_labels],
    "sequence": [se.open_sequence],
    "calibrate": [se.calibrate, ExpertOptions],
    "adjudicate": [se.adjudicate, AdjudicateOptions],
    "leaks": [se.audit_leaks],
    "split": [se.split],
    "rephrase": [se.rephrase, se.RephraseOptions, se.Server, se.Spending],
    "view": [se.view, se.ViewOptions],
    "store merge": [se.merge_stores],
    "store check": [se.check_store],
    "store repair": [se.repair_store],
    "store gc": [se.gc_store],
    "store stats": [se.store_stats],
    "weights list": [WeightsFolder],
    "weights fetch": [weights.fetch, FetchOptions],
    "weights verify": [weights.verify, WeightsFolder],
}
ELSEWHERE: dict[tuple[str, str], object] = {
    ("run", "plan"): se.plan,
    ("annotate", "plan"): se.plan,
    ("evaluate", "dry_run"): "evaluation.evaluate.plan",
    ("generate", "plan"): se.plan_questions,
    ("rephrase", "plan"): "dataset.rephrase.plan",
    ("adjudicate", "summary"): adjudication.Verdicts,
    ("adjudicate", "to_label_studio"): adjudication.to_label_studio,
    ("adjudicate", "to_dataset"): adjudication.to_dataset,
    ("adjudicate", "from_label_studio"): adjudication.from_label_studio,
    ("sequence", "quick"): "Sequence.findings, which are examined when they are looked at",
    ("calibrate", "out"): "write_json(path, Calibration.maps.to_json())",
    ("split", "by"): "there is one way",
    ("split", "train"): SHARES,
    ("split", "validation"): SHARES,
    ("split", "test"): SHARES,
    ("actions", "json"): "as_json: json is a module",
    ("actions", "replay"): actions.show_replay,
}
"""Options that call another function, write the result, or only print."""
UNITS = ("", "_s")
OUT = {"out", "store", "dataset"}
"""-o: the second argument of the function."""


def commands(group: Any = None, path: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, (*path, name))
        else:
            found[" ".join((*path, name))] = command
    return found


def known(kind: Callable[..., Any]) -> set[str]:
    if is_dataclass(kind):
        return {field.name for field in fields(kind)}
    return set(inspect.signature(kind).parameters)


def test_every_command_is_looked_at() -> None:
    assert set(commands()) == set(PYTHON)


@pytest.mark.parametrize("command", sorted(PYTHON))
def test_options_have_the_names_of_python(command: str) -> None:
    names = {name for kind in PYTHON[command] for name in known(kind)}
    options = [p for p in commands()[command].params if p.param_type_name == "option" and p.name != "help"]
    missing = [
        option.name
        for option in options
        if not any(option.name + unit in names for unit in UNITS)
        and (command, option.name) not in ELSEWHERE
        and not (option.name in OUT and "-o" in option.opts)
    ]
    assert missing == []


@pytest.mark.parametrize(
    "kind", [se.RunOptions, se.RequestOptions, se.Server, se.Prices, JudgeOptions, se.BenchmarkOptions]
)
def test_every_option_of_python_is_one_of_the_command_line(kind: Any) -> None:
    command = "run" if kind is se.RunOptions else "evaluate"
    flags = {flag for option in commands()[command].params for flag in option.opts}
    assert {f"--{field.name.replace('_', '-')}" for field in fields(kind)} <= flags


def test_help_is_that_of_the_field() -> None:
    (option,) = [p for p in commands()["run"].params if p.name == "max_side"]
    assert option.help == se.OpenOptions.__annotations__["max_side"].__metadata__[0].documentation
    assert option.default == se.OpenOptions().max_side


def test_python_takes_the_options_as_one_object_or_by_name() -> None:
    from spatial_engine.errors import UsageError
    from spatial_engine.options import chosen

    assert chosen(se.AnnotateOptions, se.OpenOptions(upright=True), {"workers": 2}) == se.AnnotateOptions(
        upright=True, workers=2
    )
    assert chosen(se.GenerateOptions, se.RunOptions(seed=4, upright=True)) == se.GenerateOptions(seed=4)
    with pytest.raises(UsageError, match="no option is called uprihgt") as caught:
        se.annotate("videos", "store", uprihgt=True)
    assert "upright" in caught.value.remedy
