"""Footage at a URL (s3://, gs://, https://, ...) becomes local footage: experts and drawings read frames at random.

`STORE.downloads/<hash of the URL>/` holds the files under their own names; a list of their versions lies beside it.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from spatial_engine.atomic_file import atomic_file, one_writer, read_json, write_json
from spatial_engine.errors import SetupError, UsageError
from spatial_engine.options import StrPath
from spatial_engine.progress import Progress


def is_url(place: StrPath) -> bool:
    """Whether it names footage by a protocol."""
    return "://" in str(place)


def local_footage(place: StrPath, downloads: Path, progress: Progress) -> Path:
    """The footage as a local file or folder. Files that are new or changed are fetched, one at a time; those that are
    gone are removed. A path, or file://, is taken as it is.

    Raises:
        UsageError: there is nothing at the URL, it cannot be read, or a name there leads outside its folder.
        SetupError: fsspec, or what it needs for the protocol, is not installed.
    """
    if not is_url(place):
        return Path(place)
    files, root = opened(str(place))
    if "file" in files.protocol:
        return Path(root)
    found = _listed(files, root, str(place))
    folder = downloads / sha256(str(place).encode()).hexdigest()[:16]
    with one_writer(folder, wait=True):
        _fetch(files, found, folder, progress)
    return folder / PurePosixPath(root).name if files.isfile(root) else folder


def opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there. Raises `SetupError`, `UsageError`."""
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise SetupError(f"{url}: URLs need fsspec, which is not installed", "pip install '.[cloud]'") from error
    try:
        files, root = url_to_fs(url)
    except ImportError as error:
        raise SetupError(f"{url}: {error}", "install the package that it names") from error
    except ValueError as error:
        raise UsageError(f"{url}: {error}", "give a URL such as s3://BUCKET/FOLDER, or a local path") from error
    return files, str(root)


def _listed(files: Any, root: str, url: str) -> dict[str, tuple[str, str]]:
    """Path there and version of each file, by its name below the root."""
    from fsspec.utils import tokenize

    try:
        infos: Mapping[str, Any] = files.find(root, detail=True)
    except OSError as error:
        raise UsageError(f"{url} cannot be read: {error}", "check the address and your access to it") from error
    base = PurePosixPath(root).parent if files.isfile(root) else PurePosixPath(root)
    names = {path: PurePosixPath(path).relative_to(base) for path in infos}
    if not names:
        raise UsageError(f"there is nothing at {url}", "give a video file, or a folder of videos or images")
    if outside := [path for path, name in names.items() if ".." in name.parts]:
        raise UsageError(f"{url}: {outside[0]} leads outside its folder", "rename it")
    return {name.as_posix(): (path, tokenize(infos[path])) for path, name in names.items()}


def _fetch(files: Any, found: Mapping[str, tuple[str, str]], folder: Path, progress: Progress) -> None:
    """Makes the folder hold the files found, and no others."""
    versions_file = folder.with_suffix(".json")
    versions: dict[str, str] = read_json(versions_file) if versions_file.is_file() else {}
    due = [name for name in found if versions.get(name) != found[name][1] or not (folder / name).is_file()]
    progress.begin("fetching", len(due))
    for name in due:
        path, versions[name] = found[name]
        with atomic_file(folder / name) as temporary:
            files.get_file(path, str(temporary))
        write_json(versions_file, versions)
        progress.step(name, "done")
    for name in versions.keys() - found.keys():
        (folder / name).unlink(missing_ok=True)
    write_json(versions_file, {name: version for name, (_, version) in found.items()})
