"""Weight files brought to this machine and held against what they must be. Nothing else here uses the network."""

import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from experts.checkpoints.weight_files import (
    LOCK,
    Fault,
    Hashes,
    Lock,
    WeightFile,
    Weights,
    fault,
    file_fault,
    read_lock,
    sha256,
    wanted_sha256,
    write_lock,
)
from experts.checkpoints.weights import WEIGHTS, command, folder_of
from experts.expert import SetupProblem
from spatial_engine.annotation.executor import one_line
from spatial_engine.errors import UsageError

_HUB = "huggingface:"
_PATIENCE_S = 60.0
_BLOCK_BYTES = 1 << 20


def named(words: Sequence[str]) -> list[Weights]:
    """Checkpoints by their names, or by the name of an expert as --experts takes it. Raises `UsageError`."""
    from spatial_engine.annotation.plan import named_expert

    rows = dict.fromkeys(name for word in words for name in ([word] if word in WEIGHTS else _of(named_expert, word)))
    return [WEIGHTS[name] for name in rows]


def _of(expert_of: Callable[[str], object], word: str) -> Sequence[str]:
    try:
        return list(getattr(expert_of(word), "weight_names", ()))
    except UsageError as error:
        known = f"known: {', '.join(WEIGHTS)}; or an expert"
        raise UsageError(f"neither weights nor an expert are called {word!r}", known) from error


def fetch(
    row: Weights,
    weights_dir: str | None = None,
    *,
    allow_noncommercial: bool = False,
    say: Callable[[str], None] = print,
) -> Path:
    """Downloads what is missing or damaged of a checkpoint; goes on where it was stopped; pins what the table leaves
    open. Returns its folder.

    Raises:
        UsageError: it forbids commercial use, and the user did not allow that.
        SetupProblem: it cannot be reached, or what came is not the pinned file.
    """
    if not (row.commercial_ok or allow_noncommercial):
        cause = f"weights {row.name} may not be used commercially ({row.licence})"
        raise UsageError(cause, f"say --allow-noncommercial, or take --experts {row.instead} instead")
    folder = folder_of(row.name, weights_dir)
    hashes = Hashes(folder)
    lacking = [file for file in row.files if file_fault(row, file, folder, hashes)]
    if not lacking:
        say(f"{row.name}: already in {folder}")
        return folder
    say(f"{row.name}: {row.licence}; from {row.source}")
    before = read_lock(folder)
    with _explained(row, weights_dir):
        revision = row.revision or before.revision or _newest(row)
        known = before.sha256 if before.revision == revision else {}
        arrived = {file: _download(row, revision, file, folder / ".part") for file in lacking}
    sums = known | {file.name: _accepted(file, part, known.get(file.name), folder) for file, part in arrived.items()}
    for file, part in arrived.items():
        (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
        part.replace(folder / file.name)
    write_lock(folder, Lock(revision=revision, sha256=sums))
    shutil.rmtree(folder / ".part", ignore_errors=True)
    say(f"{row.name}: in {folder}")
    return folder


def verify(row: Weights, weights_dir: str | None = None, *, pin: bool = False) -> None:
    """Reads every byte of a checkpoint. `pin` accepts files that have no published hash and records their hash, so
    that a later change is noticed. Raises `SetupProblem` for what is missing, damaged or not pinned."""
    folder = folder_of(row.name, weights_dir)
    lock = read_lock(folder)
    unknown = [file.name for file in row.files if wanted_sha256(file, lock) is None and (folder / file.name).is_file()]
    if pin and unknown:
        found = {name: sha256(folder / name) for name in unknown}
        write_lock(folder, Lock(revision=lock.revision, sha256=lock.sha256 | found))
    if wrong := fault(row, folder, always_hash=True):
        raise SetupProblem(wrong.cause, command(row.name, weights_dir, pin=wrong.kind == "unpinned"))


def present(weights_dir: str | None = None) -> list[Weights]:
    """Checkpoints with files on this machine."""
    return [row for row in WEIGHTS.values() if folder_of(row.name, weights_dir).is_dir()]


def checked(weights_dir: str | None = None) -> list[tuple[Weights, Fault | None]]:
    """Every checkpoint with the fault of its files, if any."""
    return [(row, fault(row, folder_of(row.name, weights_dir))) for row in WEIGHTS.values()]


def _accepted(file: WeightFile, part: Path, locked: str | None, folder: Path) -> str:
    """The hash of what arrived. Raises `SetupProblem` where it is not the pinned file, and drops it."""
    found, wanted = sha256(part), file.sha256 or locked
    if wanted in (None, found):
        return found
    part.unlink()
    by = "the table of this version" if file.sha256 else f"{folder / LOCK}, which the first fetch wrote"
    remedy = f"run the same command again; if it stays so, the publisher changed it, and {by} does not know it"
    raise SetupProblem(f"what came as {file.name} has sha256 {found} instead of {wanted}", remedy)


def _newest(row: Weights) -> str | None:
    """The commit that a repository is at now."""
    from huggingface_hub import HfApi

    return str(HfApi().model_info(row.source.removeprefix(_HUB)).sha) if row.source.startswith(_HUB) else None


def _download(row: Weights, revision: str | None, file: WeightFile, parts: Path) -> Path:
    """The file, whole, in a folder of its own."""
    if row.source.startswith(_HUB):
        from huggingface_hub import hf_hub_download

        repository = row.source.removeprefix(_HUB)
        return Path(hf_hub_download(repository, file.name, revision=revision, local_dir=parts))
    part = parts / file.name
    part.parent.mkdir(parents=True, exist_ok=True)
    _from_url(row.source + file.name, part)
    return part


def _from_url(url: str, part: Path) -> None:
    """Appends what is missing of a file."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    from rich.progress import wrap_file

    have = part.stat().st_size if part.exists() else 0
    try:
        answer = urlopen(Request(url, headers={"Range": f"bytes={have}-"} if have else {}), timeout=_PATIENCE_S)
    except HTTPError as error:
        if have and error.code == 416:  # nothing is missing
            return
        raise
    have = have if answer.status == 206 else 0
    with answer, part.open("ab" if have else "wb") as file:
        coming = int(answer.headers.get("Content-Length") or 0)
        with wrap_file(answer, coming, description=part.name) as reader:
            shutil.copyfileobj(reader, file, _BLOCK_BYTES)
    if coming and part.stat().st_size != have + coming:
        raise OSError(f"the connection ended after {part.stat().st_size} of {have + coming} bytes")


@contextmanager
def _explained(row: Weights, weights_dir: str | None) -> Iterator[None]:
    """Whatever the network does becomes a cause and a remedy."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise SetupProblem(f"{error.name} is not installed", 'pip install -e ".[experts]"') from error
    except Exception as error:  # the hub's errors have no common root
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        folder, pin = folder_of(row.name, weights_dir), command(row.name, weights_dir, pin=True)
        raise SetupProblem(
            f"weights {row.name} cannot be fetched from {row.source}: {one_line(error)}",
            f"run it again when this machine is online: it goes on where it stopped; "
            f"or copy the files to {folder} and run: {pin}",
        ) from error
