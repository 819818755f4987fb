"""Uploads a dataset or an export: to the Hugging Face Hub, if the licences of its records allow it, or to one's own
storage, by a URL of fsspec."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.annotation.fetching import opened
from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import DATASET_FILES, Dataset
from spatial_engine.errors import SetupError, SpatialEngineError, UsageError
from spatial_engine.export.exporter import REPORT
from spatial_engine.options import StrPath
from spatial_engine.progress import counted, printable
from spatial_engine.report.pages import REPORT_FILES
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

    target: str
    """Where to, in words."""
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
            f"{printable(self.target)}",
            *(f"  {_size(bytes)}  {printable(path)}" for path, bytes in largest),
            *([f"  and {len(self.files) - _PICKED} more"] if len(self.files) > _PICKED else []),
            "card: README.md, "
            + (f"license: {printable(self.card_licence)}" if self.card_licence else "which states no licence"),
            *(["pages: report/gallery.html"] if "report/gallery.html" in self.files else []),
            *(
                f"footage: {printable(licence)}: {counted(count, 'record')}"
                + (": MAY NOT BE PUBLISHED" if licence in self.barred else "")
                for licence, count in self.licences.items()
            ),
        ]


def push(
    path: StrPath,
    to_hub: str | None = None,
    *,
    to: str | None = None,
    public: bool = False,
    allow_licence: Sequence[str] = (),
    dry_run: bool = False,
) -> Upload:
    """Uploads a dataset or an export. Only files that this program wrote are uploaded: to the Hub in one commit, to a
    URL one after the other, with what marks the folder as complete at the end.

    Args:
        path: a folder that `generate` or `export` wrote.
        to_hub: OWNER/NAME of the dataset on the Hub. It is made if there is none.
        to: instead, a folder of one's own, such as s3://BUCKET/FOLDER: that publishes nothing, and asks for no licence.
        public: whether a new one is public.
        allow_licence: licences of footage, as records state them, of which the caller knows that copies with marks may
            be published.
        dry_run: whether to upload nothing, and return what would be.

    Raises:
        UsageError: `path` is neither, or holds records that may not be published: their footage has no known licence,
            or one that allows no copies or no changes.
        SetupError: huggingface_hub, or fsspec, is not installed.
        SpatialEngineError: the target refuses, or cannot be reached.
    """
    if (to_hub is None) == (to is None):
        raise UsageError("push needs one target", "give --to-hub OWNER/NAME, or --to URL")
    if to_hub is not None and not _NAME.fullmatch(to_hub):
        raise UsageError(f"--to-hub {to_hub}", "give OWNER/NAME, with letters, digits, . - and _")
    folder = Path(path)
    names, licences = _content(folder)
    barred = {
        licence: count
        for licence, count in licences.items()
        if to_hub is not None and licence not in allow_licence and not _may_be_published(licence)
    }
    upload = Upload(
        target=to or f"datasets/{to_hub} ({'public' if public else 'private, if it is new'})",
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
    if to is not None:
        _copy(folder, upload, to)
    elif to_hub is not None:
        _commit(folder, upload, to_hub, public)
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
    return [*sorted(DATASET_FILES), *(f"report/{name}" for name in REPORT_FILES)], dict(sorted(found.items()))


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


def _copy(folder: Path, upload: Upload, url: str) -> None:
    """Copies the files; those that make the folder a dataset or an export come last."""
    files, root = opened(url)
    try:
        for name in sorted(upload.files, key=lambda name: (name in ("audit.json", REPORT), name)):
            target = f"{root.rstrip('/')}/{name}"
            files.makedirs(target.rpartition("/")[0], exist_ok=True)
            files.put_file(str(folder / name), target)
    except OSError as error:
        raise SpatialEngineError(f"{url} cannot be written: {error}", "check the address and your access") from error


def _commit(folder: Path, upload: Upload, name: str, public: bool) -> None:
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError
    except ModuleNotFoundError as error:
        raise SetupError("push needs huggingface_hub, which is not installed", "pip install '.[hub]'") from error
    api = HfApi()
    try:
        api.create_repo(repo_id=name, repo_type="dataset", private=not public, exist_ok=True)
        api.upload_folder(
            repo_id=name,
            repo_type="dataset",
            folder_path=str(folder),
            allow_patterns=list(upload.files),
            commit_message="Dataset of Spatial Engine",
        )
    except (HfHubHTTPError, OSError) as error:  # no token is an OSError, too
        raise SpatialEngineError(
            f"the Hub did not take {name}: {str(error).splitlines()[0]}",
            "log in with `hf auth login`, or set HF_TOKEN to a token that may write",
        ) from error


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
