"""Uploads a data set or an export to the Hugging Face Hub, if the licences of its records allow it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import DATASET_FILES, Dataset
from spatial_engine.errors import SetupError, SpatialEngineError, UsageError
from spatial_engine.export.exporter import REPORT
from spatial_engine.options import StrPath
from spatial_engine.progress import counted, printable
from templates.world import NO_FOOTAGE

_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
_OPEN = re.compile(r"(cc0|cc-by|apache-2\.0|mit|bsd|isc|odbl|odc-by|pddl|cdla|public domain)\b", re.IGNORECASE)
"""Licences that allow copies of the footage to be published."""
_NO_CHANGES = re.compile(r"(?<![a-z])nd(?![a-z])|no-?_? ?deriv", re.IGNORECASE)
"""Questions change pictures: they crop them, and draw marks into them."""
_PICKED = 5


@dataclass(frozen=True, kw_only=True)
class Upload:
    """What is uploaded, or would be."""

    name: str
    """OWNER/NAME on the Hub."""
    public: bool
    files: Mapping[str, int]
    """Sizes in bytes by path."""
    card_licence: str | None
    """What the front matter of the card says; None without one."""
    licences: Mapping[str, int]
    """Number of records by licence of their footage."""
    barred: Mapping[str, int]
    """Those that may not be published, as far as we know."""
    done: bool = False
    """Whether it was uploaded."""

    def in_words(self) -> list[str]:
        """Lines for the user."""
        size = sum(self.files.values())
        largest = sorted(self.files.items(), key=lambda file: (-file[1], file[0]))[:_PICKED]
        return [
            f"{'uploaded' if self.done else 'would upload'}: {counted(len(self.files), 'file')}, {_size(size)}, to "
            f"datasets/{self.name} ({'public' if self.public else 'private, if it is new'})",
            *(f"  {_size(bytes)}  {printable(path)}" for path, bytes in largest),
            *([f"  and {len(self.files) - _PICKED} more"] if len(self.files) > _PICKED else []),
            "card: README.md, "
            + (f"license: {printable(self.card_licence)}" if self.card_licence else "which states no licence"),
            *(
                f"footage: {printable(licence)}: {counted(count, 'record')}"
                + (": MAY NOT BE PUBLISHED" if licence in self.barred else "")
                for licence, count in self.licences.items()
            ),
        ]


def push(
    path: StrPath,
    to_hub: str,
    *,
    public: bool = False,
    allow_licence: Sequence[str] = (),
    dry_run: bool = False,
) -> Upload:
    """Uploads a data set or an export, in one commit. Only files that this program wrote are uploaded.

    Args:
        path: a folder that `generate` or `export` wrote.
        to_hub: OWNER/NAME of the data set on the Hub. It is made if there is none.
        public: whether a new one is public.
        allow_licence: licences of footage, as records state them, of which the caller knows that copies with marks may
            be published.
        dry_run: whether to upload nothing, and return what would be.

    Raises:
        UsageError: `path` is neither, or holds records that may not be published: their footage has no known licence,
            or one that allows no copies or no changes.
        SetupError: huggingface_hub is not installed.
        SpatialEngineError: the Hub refuses, or cannot be reached.
    """
    if not _NAME.fullmatch(to_hub):
        raise UsageError(f"--to-hub {to_hub}", "give OWNER/NAME, with letters, digits, . - and _")
    folder = Path(path)
    names, licences = _content(folder)
    barred = {
        licence: count
        for licence, count in licences.items()
        if licence not in allow_licence and not _may_be_published(licence)
    }
    upload = Upload(
        name=to_hub,
        public=public,
        files=_files(folder, names),
        card_licence=_card_licence(folder / "README.md"),
        licences=licences,
        barred=barred,
        done=not dry_run,
    )
    if dry_run:
        return upload
    if barred:
        some = ", ".join(f"{licence} ({counted(count, 'record')})" for licence, count in barred.items())
        raise UsageError(
            f"{folder} holds footage that may not be published, as far as its licences say: {some}",
            "leave those records out, or state that you may publish them: --allow-licence TEXT",
        )
    _upload(folder, upload)
    return upload


def _content(folder: Path) -> tuple[Sequence[str], Mapping[str, int]]:
    """The files and folders that this program wrote there, and the number of records by licence of the footage."""
    if (folder / REPORT).is_file():
        report = read_json(folder / REPORT)
        if "licences" not in report:
            raise UsageError(f"{folder / REPORT} names no licences: an older version wrote it", "export it again")
        return report["files"], report["licences"]
    dataset = Dataset.open(folder)
    found = Counter(str(question.licence.get("footage", "unknown")) for question in dataset.questions)
    return sorted(DATASET_FILES), dict(sorted(found.items()))


def _may_be_published(licence: str) -> bool:
    return licence == NO_FOOTAGE or bool(_OPEN.match(licence.strip()) and not _NO_CHANGES.search(licence))


def _files(folder: Path, names: Sequence[str]) -> dict[str, int]:
    places = [path for name in names for path in (folder / name, *sorted((folder / name).rglob("*"))) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in places}


def _card_licence(card: Path) -> str | None:
    if not card.is_file():
        return None
    head = card.read_text(encoding="utf-8").removeprefix("---\n").partition("\n---\n")[0]
    found = re.search(r"^license: (.+)$", head, re.MULTILINE)
    return found[1] if found else None


def _upload(folder: Path, upload: Upload) -> None:
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError
    except ModuleNotFoundError as error:
        raise SetupError("push needs huggingface_hub, which is not installed", "pip install '.[hub]'") from error
    api = HfApi()
    try:
        api.create_repo(repo_id=upload.name, repo_type="dataset", private=not upload.public, exist_ok=True)
        api.upload_folder(
            repo_id=upload.name,
            repo_type="dataset",
            folder_path=str(folder),
            allow_patterns=list(upload.files),
            commit_message="Data set of Spatial Engine",
        )
    except (HfHubHTTPError, OSError) as error:  # no token is an OSError, too
        raise SpatialEngineError(
            f"the Hub did not take {upload.name}: {str(error).splitlines()[0]}",
            "log in with `hf auth login`, or set HF_TOKEN to a token that may write",
        ) from error


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
