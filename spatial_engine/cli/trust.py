"""`spatial-engine audit-labels`: compares a dataset with ground truth."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import Data
from spatial_engine.cli.sequence import sequence

Truth = Annotated[
    list[str],
    typer.Option(
        "--truth",
        metavar="SEQUENCE...",
        help="Folder of a known layout or with a sequence.yaml, such a file, or FOLDER=SEQUENCE.yaml. More may follow.",
    ),
]
More = Annotated[list[str] | None, typer.Argument(metavar="[SEQUENCE]...", help="More of --truth.")]
AuditOut = Annotated[Path | None, typer.Option("-o", "--out", help="Folder to write; by default DATASET.truth.")]
FromStore = Annotated[
    Path | None,
    typer.Option("--store", help="What the dataset was made from: tells the yield. By default the store beside it."),
]


def audit_labels(dataset: Data, truth: Truth, more: More = None, out: AuditOut = None, store: FromStore = None) -> None:
    """Compare every label with ground truth. Pictures go to OUT; counts also to the dataset's audit and card."""
    from spatial_engine.progress import for_terminal
    from spatial_engine.trust.audit_dataset import audit_labels as audit_dataset
    from spatial_engine.trust.audit_pages import default_out
    from spatial_engine.trust.audit_summary import show_audit

    target = default_out(dataset) if out is None else out
    with for_terminal() as progress:
        audit = audit_dataset(dataset, [*truth, *(more or ())], target, store=store, progress=progress)
    show_audit(audit)
    print(f"look at: {target / 'index.html'}")
    raise typer.Exit(1 if audit.errors else 0)


def register(app: typer.Typer) -> None:
    """Adds the commands to the app."""
    app.command("audit-labels")(audit_labels)
    app.command()(sequence)
