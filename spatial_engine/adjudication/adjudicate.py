"""The command's work: serve a page to one annotator until Ctrl-C, then fold in what was said."""

import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from spatial_engine.adjudication.server import AdjudicationServer
from spatial_engine.adjudication.session import Clock, Session
from spatial_engine.adjudication.standing import disagreements, fold_in
from spatial_engine.adjudication.step import holding
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.progress import counted


def system_clock() -> Clock:
    """This machine's."""
    return Clock(now=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), seconds=time.monotonic)


def adjudicate(
    dataset: str | Path,
    *,
    annotator: str,
    port: int = 8766,
    sample: int | None = None,
    seed: int = 0,
    leaf: Sequence[str] | None = None,
    third: bool = False,
) -> None:
    """Serves until Ctrl-C, and says where. `third`: only what others disagree on. Raises `UsageError`."""
    verdicts = Verdicts(Dataset.open(dataset))
    chosen = verdicts.chosen(leaf=leaf, sample=sample, seed=seed)
    if third:
        disputed = {one.question.id for one in disagreements(verdicts) if annotator not in one.said}
        already = verdicts.history(annotator).judgements()
        mine = {id for id, one in already.items() if one.verdict is not None and one.verdict.third}
        chosen = [question for question in chosen if question.id in disputed | mine]
        if not disputed & {question.id for question in chosen}:
            raise UsageError("nothing left that others disagree on", "see --summary")
    with holding(verdicts.file(annotator)) as file:
        session = Session(chosen, verdicts.history(annotator), file, system_clock(), third=third)
        server = AdjudicationServer(verdicts.dataset.path, session, token=secrets.token_urlsafe(16), port=port)
        print(f"{annotator}: {counted(len(chosen), 'question')}; open {server.url}", flush=True)
        print("Ctrl-C ends it; every key is saved as it is pressed", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve()
        server.close()
    fold_in(verdicts.dataset)
