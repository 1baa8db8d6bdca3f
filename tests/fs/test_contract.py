"""What every file system promises, each one held to it."""

import os
import threading
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from paimon_nb.base.errors import AccessDenied, MissingFile, NotWritable, OutsideWarehouse, PaimonError
from paimon_nb.fs import FileIO, GuardedFileIO, LocalFileIO, MemoryFileIO, RootedFileIO, open_fs


@pytest.fixture(params=["local", "memory", "rooted local", "rooted memory", "rooted s3"])
def place(request, tmp_path) -> tuple[FileIO, str]:
    if request.param == "rooted s3":
        root = f"s3://lake/{uuid.uuid4().hex}"
        return RootedFileIO(open_fs(root, request.getfixturevalue("s3")), root), root
    inner, root = (LocalFileIO(), str(tmp_path)) if "local" in request.param else (MemoryFileIO(), "memory:/w")
    return (RootedFileIO(inner, root) if "rooted" in request.param else inner), root


class ReadsOnly:
    """A policy that refuses to write."""

    def check_read(self) -> None:
        """Allowed."""

    def check_read_file(self, path: str) -> None:
        pass

    def check_write(self, path: str) -> None:
        raise AccessDenied(f"no right to write {path}", hint="GRANT it")


def test_a_file_is_written_read_and_deleted(place):
    fs, root = place
    path = f"{root}/a/b/c.bin"
    fs.write(path, b"123")
    assert fs.read(path) == b"123"
    assert (fs.exists(path), fs.size(path)) == (True, 3)
    with fs.open(path) as file:
        file.seek(1)
        assert (file.read(2), file.tell()) == (b"23", 3)
    assert (fs.delete(path), fs.delete(path), fs.exists(path)) == (True, False, False)


@pytest.mark.parametrize("act", ["read", "open", "size"])
def test_what_is_not_there_is_named(place, act):
    fs, root = place
    with pytest.raises(MissingFile) as caught:
        getattr(fs, act)(f"{root}/nothing")
    assert caught.value.path == f"{root}/nothing"


def test_publishing_has_one_winner(place):
    fs, root = place
    start, won = threading.Barrier(8), []

    def publish(me: int) -> None:
        start.wait()
        won.extend([(turn, me) for turn in range(20) if fs.put_if_absent(f"{root}/s/snapshot-{turn}", b"%d" % me)])

    threads = [threading.Thread(target=publish, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turn for turn, _ in won) == list(range(20))
    assert {turn: fs.read(f"{root}/s/snapshot-{turn}") for turn, _ in won} == {turn: b"%d" % me for turn, me in won}
    assert [e.name for e in fs.list(f"{root}/s")] == sorted(f"snapshot-{turn}" for turn in range(20))


def test_a_file_is_deleted_only_with_the_content_that_was_seen(place):
    """Two that saw the same file delete it once, and not the one that a third puts there."""
    fs, root = place
    path = f"{root}/s/snapshot-1"
    assert not fs.delete_if_unchanged(path, b"1")
    fs.put_if_absent(path, b"1")
    assert (fs.delete_if_unchanged(path, b"2"), fs.read(path)) == (False, b"1")
    assert (fs.delete_if_unchanged(path, b"1"), fs.exists(path)) == (True, False)
    fs.put_if_absent(path, b"3")
    assert (fs.delete_if_unchanged(path, b"1"), fs.read(path)) == (False, b"3")


def test_overwrite_replaces_the_whole_file(place):
    fs, root = place
    for content in (b"long content", b"x", b""):
        fs.overwrite(f"{root}/hint/LATEST", content)
        assert fs.read(f"{root}/hint/LATEST") == content
    assert [e.name for e in fs.list(f"{root}/hint")] == ["LATEST"]


def test_a_taken_name_is_not_written_over(place):
    fs, root = place
    fs.write(f"{root}/f", b"first")
    with pytest.raises(FileExistsError), fs.create(f"{root}/f") as out:
        out.write(b"second")
    assert fs.read(f"{root}/f") == b"first"


def test_a_file_that_fails_half_way_is_gone(place):
    fs, root = place
    with suppress(ZeroDivisionError), fs.create(f"{root}/d/f") as out:
        out.write(b"half")
        assert out.tell() == 4
        raise ZeroDivisionError
    assert not fs.exists(f"{root}/d/f")
    assert fs.list(f"{root}/d") == []


def test_listing_tells_direct_children_by_name(place):
    fs, root = place
    for name in ("t/b", "t/a", "t/sub/deep", "tt"):
        fs.write(f"{root}/{name}", b"12")
    assert [(e.path, e.size, e.is_dir) for e in fs.list(f"{root}/t")] == [
        (f"{root}/t/a", 2, False),
        (f"{root}/t/b", 2, False),
        (f"{root}/t/sub", 0, True),
    ]
    assert fs.list(f"{root}/nothing") == []


def test_several_files_at_once(place):
    fs, root = place
    paths = [f"{root}/a/1", f"{root}/b/2", f"{root}/b/3"]
    fs.write_each(dict(zip(paths, [b"x", b"", b"z"], strict=True)))
    fs.prefetch((path, 1) for path in paths)
    assert fs.read_each([*paths, f"{root}/none", f"{root}/none/f"]) == [b"x", b"", b"z", None, None]
    with pytest.raises(FileExistsError):
        fs.write_each({f"{root}/new": b"", paths[0]: b"y"})
    fs.delete_each([paths[0], f"{root}/none", paths[2]])
    assert fs.read_each(paths) == [None, b"", None]


def test_a_guarded_view_refuses_several_files_at_once(tmp_path):
    rooted = RootedFileIO(LocalFileIO(), str(tmp_path))
    rooted.write(f"{tmp_path}/f", b"x")
    fs = GuardedFileIO(rooted, ReadsOnly())
    for act in (lambda: fs.write_each({f"{tmp_path}/g": b""}), lambda: fs.delete_each([f"{tmp_path}/f"])):
        with pytest.raises(AccessDenied):
            act()
    assert [e.name for e in rooted.list(str(tmp_path))] == ["f"]


def test_a_rooted_view_of_several_files_never_leaves(tmp_path):
    fs = RootedFileIO(LocalFileIO(), str(tmp_path / "w"))
    inside, outside = f"{tmp_path}/w/a", f"{tmp_path}/b"
    for act in (
        lambda: fs.read_each([inside, outside]),
        lambda: fs.write_each({inside: b"", outside: b""}),
        lambda: fs.delete_each([inside, outside]),
    ):
        with pytest.raises(OutsideWarehouse):
            act()
    assert list(tmp_path.iterdir()) == []


def test_directories_are_moved_and_removed_whole(place):
    fs, root = place
    for name in ("t/a", "t/sub/b", "u/c"):
        fs.write(f"{root}/{name}", name.encode())
    with pytest.raises(FileExistsError):
        fs.move(f"{root}/t", f"{root}/u")
    fs.move(f"{root}/t", f"{root}/v")
    assert fs.read(f"{root}/v/sub/b") == b"t/sub/b"
    assert not fs.exists(f"{root}/t")
    fs.delete_tree(f"{root}/v")
    fs.delete_tree(f"{root}/v")
    assert [e.name for e in fs.list(root)] == ["u"]


def test_only_empty_directories_are_deleted(place):
    fs, root = place
    fs.make_dirs(f"{root}/e")
    fs.write(f"{root}/full/f", b"")
    assert [fs.delete_empty_dir(f"{root}/{n}") for n in ("e", "full", "nothing")] == [True, False, False]
    assert fs.exists(f"{root}/full/f")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    with pytest.raises(NotWritable) as caught:
        LocalFileIO().write(f"{tmp_path}/locked/f", b"")
    assert "permission" in str(caught.value).lower()


def test_a_file_in_the_way_of_a_directory_says_so(tmp_path):
    (tmp_path / "f").touch()
    with pytest.raises(NotWritable, match="a file exists where a directory is needed"):
        LocalFileIO().write(f"{tmp_path}/f/g", b"")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "{root}/../x", "{root}x/y", "{root}/a/../../x", "relative", "{root}/./a", "{root}/a\0b"]
)
@pytest.mark.parametrize("act", ["read", "open", "exists", "list", "size", "delete", "delete_tree", "delete_empty_dir", "make_dirs", "create"])  # fmt: skip
def test_a_rooted_view_never_leaves(tmp_path, act, path):
    fs = RootedFileIO(LocalFileIO(), str(tmp_path / "w"))
    with pytest.raises(OutsideWarehouse):
        getattr(fs, act)(path.format(root=fs.root))
    assert list(tmp_path.iterdir()) == []


def test_a_link_out_of_the_root_is_not_followed(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "f").write_text("x")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "out").symlink_to(tmp_path / "secret")
    fs = RootedFileIO(LocalFileIO(), str(tmp_path / "w"))
    with pytest.raises(OutsideWarehouse, match="is a link that leads outside"):
        fs.read(f"{tmp_path}/w/out/f")
    (tmp_path / "w2").symlink_to(tmp_path / "w")
    behind = RootedFileIO(LocalFileIO(), str(tmp_path / "w2"))
    behind.write(f"{tmp_path}/w2/f", b"a root behind a link is fine")
    assert Path(tmp_path, "w", "f").read_bytes() == b"a root behind a link is fine"


def test_schemes_choose_the_file_system(tmp_path):
    assert isinstance(open_fs(str(tmp_path), {}), LocalFileIO)
    assert isinstance(open_fs(f"file:{tmp_path}", {}), LocalFileIO)
    assert isinstance(open_fs("memory:/x", {}), MemoryFileIO)
    with pytest.raises(PaimonError, match="gopher"):
        open_fs("gopher://x/y", {})
