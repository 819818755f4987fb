"""The answers of a run in one file and in one order, whichever machine asked for which, and when."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack

from spatial_engine.atomic_file import one_writer
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.responses import Key, Response, latest
from spatial_engine.evaluation.runs import RunFolder


def arrange(run: RunFolder, asked: Iterable[Presentation], others: Mapping[Key, Response] | None = None) -> None:
    """Writes one line per answer into `responses.jsonl`, in the order of the dataset; what is not asked any more comes
    last. The files of shards, whose answers it then holds, are removed.

    `others`: answers of other machines. Raises `BusyError` while another process asks.
    """
    with ExitStack() as held:
        shards = run.of_shards
        for file in (run.responses, *shards):
            held.enter_context(one_writer(file.path))
        found = latest([*run.answers().values(), *(others or {}).values()])
        order = dict.fromkeys(shown.key for shown in asked)
        with run.responses.replacing() as lines:
            for key in (*order, *sorted(found.keys() - order.keys())):
                if key in found:
                    lines.append(found[key])
        for file in shards:
            file.path.unlink(missing_ok=True)
