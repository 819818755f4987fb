"""`spatial-engine sequence`: what a dataset's folder holds, and whether its ground truth fits its pictures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from spatial_engine.sequences import Sequence

Place = Annotated[
    Path,
    typer.Argument(metavar="PATH", help="Folder of a known layout or with a sequence.yaml, or FOLDER=SEQUENCE.yaml."),
]
PresetName = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="Layout; by default the one that fits.")
]
ManifestFile = Annotated[
    Path | None, typer.Option("--manifest", metavar="FILE", help="A sequence.yaml elsewhere; its paths are below PATH.")
]
Only = Annotated[str, typer.Option(metavar="PATTERN", help="Sequences of these names: scene-0061/*.")]
Quick = Annotated[bool, typer.Option("--quick", help="Open only; do not hold the truth against the pictures.")]


def sequence(
    path: Place, preset: PresetName = None, manifest: ManifestFile = None, only: Only = "*", quick: Quick = False
) -> None:
    """Print clips, signals and faults of the ground truth. Exit 1: some of it counts for nothing."""
    from spatial_engine.sequences import open_sequence

    well = True
    for opened in open_sequence(path, preset=preset, manifest=manifest, only=only):
        well = _show(opened, quick) and well
    raise typer.Exit(0 if well else 1)


def _show(opened: "Sequence", quick: bool) -> bool:
    """Whether nothing severe was found."""
    from spatial_engine.progress import printable

    stated, clip = opened.manifest, opened.clip
    called = printable(clip.name if stated.stills else stated.name)
    print(f"{called}: clip {clip.id}, {len(clip.frames)} frames, {clip.width_px}x{clip.height_px}")
    for name, line in opened.signals().items():
        print(f"  {name:12} {line}")
    known = "checked on real data" if stated.checked else "from documentation, or your own manifest"
    print(f"  {'truth':12} {stated.truth}; layout {known}; licence {printable(stated.licence)}")
    for note in stated.notes:
        print(f"  {'note':12} {note}")
    if quick:
        return True
    for finding in opened.findings:
        word = "SEVERE" if finding.severe else "finding"
        print(f"  {word:12} {finding.what}\n{'':15}{finding.number}\n{'':15}try: {finding.remedy}")
    if wrong := {k for finding in opened.object_findings for k in finding.objects}:
        print(f"  {'left out':12} {len(wrong)} of {len(opened.truth.objects.labels)} objects")  # type: ignore[union-attr]
    if not opened.findings:
        print(f"  {'findings':12} none")
    elif opened.unsound:
        print(f"  {'unsound':12} {len(opened.unsound)} of {len(clip.frames)} frames count neither for nor against")
    return not any(finding.severe for finding in opened.findings)
