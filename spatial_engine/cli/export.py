"""`spatial-engine export`, `push`: datasets in the forms of others, and on the Hugging Face Hub."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli import leaks as cli_leaks
from spatial_engine.cli import options as o

SystemPrompt = Annotated[
    bool, typer.Option("--system-prompt", help="Put a question's instructions into a system message.")
]
ShardMb = Annotated[
    int | None, typer.Option("--shard-mb", metavar="MB", help="Largest size of a file of hf, webdataset, trl; 500.")
]
Mix = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Other training rows in the form of LLaVA or ShareGPT, among those of train."),
]
Ratio = Annotated[float, typer.Option(metavar="NUMBER", help="Rows of --mix for each row of train.")]
MixMedia = Annotated[
    Path | None,
    typer.Option("--mix-media", metavar="FOLDER", help="Where paths in --mix start; else its folder."),
]
Reasoning = Annotated[
    str,
    typer.Option(
        metavar="none|auto|all",
        help="Chains of thought before the answers in forms that train: none; by level (auto: none for L1 and counts, "
        "short for L2, full for L3 and L4); full for all.",
    ),
]
ToHub = Annotated[
    str | None, typer.Option("--to-hub", metavar="OWNER/NAME", help="The dataset on the Hub; made if needed.")
]
ToUrl = Annotated[
    str | None, typer.Option("--to", metavar="URL", help="A folder of your own, such as s3://BUCKET/FOLDER.")
]
Public = Annotated[bool, typer.Option("--public", help="Make it public; by default a new one is private.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print files, sizes, card and licences; upload nothing.")]
AllowLicence = Annotated[
    list[str] | None,
    typer.Option("--allow-licence", metavar="TEXT", help="You may publish footage of this licence. Can be repeated."),
]


def export(
    dataset: Annotated[Path, typer.Argument(help="A dataset that generate wrote.")],
    out: o.Out,
    to: Annotated[
        str,
        typer.Option(
            help="Whose format: spatialtree, lmms-eval, vlmevalkit, hf, webdataset, trl, llava, llava-1.5, sharegpt."
        ),
    ],
    commercial_ok: cli_leaks.CommercialOk = False,
    system_prompt: SystemPrompt = False,
    hints: o.Hints = "",
    hint_pictures: o.HintPictures = "",
    shard_mb: ShardMb = None,
    mix: Mix = None,
    ratio: Ratio = 3.0,
    mix_media: MixMedia = None,
    reasoning: Reasoning = "none",
) -> None:
    """Write a dataset in another program's format."""
    from spatial_engine import export
    from spatial_engine.cli import summary

    said, shown = (words.split(",") if words else [] for words in (hints, hint_pictures))
    written = export(
        dataset,
        out,
        to=to,
        commercial_ok=commercial_ok,
        system_prompt=system_prompt,
        hints=said,
        hint_pictures=shown,
        shard_mb=shard_mb,
        mix=mix,
        ratio=ratio,
        mix_media=mix_media,
        reasoning=reasoning,
    )
    summary.show_export(written)


def push(
    path: Annotated[Path, typer.Argument(metavar="DATASET|EXPORT", help="What generate or export wrote.")],
    to_hub: ToHub = None,
    to: ToUrl = None,
    public: Public = False,
    allow_licence: AllowLicence = None,
    dry_run: DryRun = False,
) -> None:
    """Upload a dataset or an export to the Hub, or to a URL.

    To the Hugging Face Hub only if the licences of its records allow it.
    """
    from spatial_engine.export.push import push

    upload = push(path, to_hub, to=to, public=public, allow_licence=allow_licence or (), dry_run=dry_run)
    print("\n".join(upload.in_words()))
    raise typer.Exit(2 if upload.barred else 0)


def register(app: typer.Typer) -> None:
    """Adds the commands to the app."""
    app.command()(export)
    app.command()(push)
