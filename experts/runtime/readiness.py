"""What an expert lacks on this machine before it can run."""

import re
from collections.abc import Iterator, Sequence

from experts.checkpoints.weights import RANDOM, WEIGHTS, located
from experts.comparing.as_check import original
from experts.expert import Expert
from experts.runtime.model_expert import Package, missing_package
from experts.setup_problem import SetupProblem

_PLAIN = re.compile(r"pip install ((?:\w[\w.\[\]=-]* ?)+)")
"""A command without options or quotes: several of them can be one."""


def lacking(expert: Expert, weights: str | None = None) -> list[SetupProblem]:
    """Packages, an environment of its own, and weight files that are not here, each with the command that adds it.

    `weights` as for `Expert.load`. Imports no package; reads weight files once, and remembers that they are whole.
    """
    return list(_lacking(original(expert), weights))


def hindrance(expert: Expert, weights: str | None = None) -> SetupProblem | None:
    """Everything that is lacking as one problem, with one command; None if nothing is."""
    found = lacking(expert, weights)
    if not found:
        return None
    remedies = dict.fromkeys(problem.remedy for problem in found)
    return SetupProblem("; ".join(problem.cause for problem in found), " && ".join(remedies))


def _lacking(expert: Expert, weights: str | None) -> Iterator[SetupProblem]:
    absent = [package for package in getattr(expert, "packages", ()) if missing_package((package,))]
    if absent:
        names = ", ".join(package.module for package in absent)
        yield SetupProblem(f"{names}: not installed", " && ".join(_commands(absent)))
    try:
        getattr(expert, "environment", lambda: None)()
    except SetupProblem as problem:
        yield problem
    for name in getattr(expert, "weight_names", ()) if weights != RANDOM else ():
        if name not in WEIGHTS:
            continue  # a plug-in's own: its `load` says what is missing
        try:
            located(name, weights)
        except SetupProblem as problem:
            yield problem


def _commands(packages: Sequence[Package]) -> list[str]:
    """Each command once; those without options joined to one, which comes first."""
    commands = list(dict.fromkeys(part for package in packages for part in package.install.split(" && ")))
    plain = {command: match for command in commands if (match := _PLAIN.fullmatch(command))}
    names = dict.fromkeys(name for match in plain.values() for name in match[1].split())
    joined = [f"pip install {' '.join(names)}"] if names else []
    return joined + [command for command in commands if command not in plain]
