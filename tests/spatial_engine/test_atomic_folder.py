from pathlib import Path

import pytest

from spatial_engine.atomic_file import atomic_folder
from spatial_engine.errors import UsageError


def never(path):
    raise PermissionError(path)


def test_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(KeyError), atomic_folder(tmp_path / "a", (), never) as folder:
        (folder / "half").write_text("x")
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with atomic_folder(tmp_path / "deep" / "a", (), never) as folder:
        (folder / "whole").write_text("x")
    assert (tmp_path / "deep" / "a" / "whole").read_text() == "x"


def test_a_kill_between_the_renames_is_mended(tmp_path):
    (tmp_path / ".a.old").mkdir()
    (tmp_path / ".a.old" / "kept").write_text("before")
    (tmp_path / ".a.new").mkdir()
    (tmp_path / ".a.new" / "rubbish").write_text("half")
    with atomic_folder(tmp_path / "a", ("written",), lambda path: None) as folder:
        (folder / "written").write_text("after")
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == ["kept", "written"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_what_is_not_ours_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("mine")
    with pytest.raises(PermissionError), atomic_folder(tmp_path / "folder", (), never):
        pass
    for place in (tmp_path / "folder" / "file", tmp_path / "folder" / "file" / "below"):
        with pytest.raises(UsageError, match="is a file"), atomic_folder(place, (), never):
            pass
    assert (tmp_path / "folder" / "file").read_text() == "mine"


def test_the_folder_of_the_shell_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="where you stand"), atomic_folder(Path(), (), never):
        pass


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "big disk").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "big disk")
    for text in ("before", "after"):
        with atomic_folder(tmp_path / "a", ("file",), lambda path: None) as folder:
            (folder / "file").write_text(text)
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "big disk" / "file").read_text() == "after"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "big disk"]
