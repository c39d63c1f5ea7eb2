"""Files of caches: a damaged one counts as absent, and a folder that cannot be written is a warning."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ggp.jit.checked_store import CheckedStore
from tests.ggp.small_disk import SMALL, small_disk

CONTENT = bytes(range(256)) * 4

DAMAGES = {
    "truncated": lambda data: data[: len(data) // 2],
    "cut in the checksum": lambda data: data[:7],
    "empty": lambda data: b"",
    "zeroed": lambda data: bytes(len(data)),
    "bit in the checksum": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "bit in the content": lambda data: data[:-1] + bytes([data[-1] ^ 128]),
    "longer": lambda data: data + b"x",
}


@pytest.fixture
def store(tmp_path):
    return CheckedStore(tmp_path / "store")


def test_what_is_saved_is_loaded(store):
    assert store.load("a") is None
    assert store.save("a", CONTENT)
    assert store.save("b", b"")
    assert (store.load("a"), store.load("b"), store.load("c")) == (CONTENT, b"", None)
    assert sorted(path.name for path in store.folder.iterdir()) == ["a", "b"]


def test_the_folder_is_private(store):
    store.save("a", CONTENT)
    assert store.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_removed_with_one_line_in_the_log(store, damage, caplog):
    store.save("a", CONTENT)
    path = store.folder / "a"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert store.load("a") is None
    assert not path.exists()
    assert store.load("a") is None
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: damaged (wrong checksum); compiling it again"
    ]
    store.save("a", CONTENT)
    assert store.load("a") == CONTENT


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        lambda path: (path / "in the way").mkdir(parents=True),
        lambda path: path.symlink_to("/dev"),
        lambda path: path.symlink_to("/dev/full"),
    ],
    ids=["pipe", "folder", "link to a folder", "link to a device"],
)
def test_what_is_no_file_is_replaced_without_reading_it(store, make, caplog):
    store.save("b", b"")
    make(store.folder / "a")
    assert store.load("a") is None
    assert [": damaged (" in record.getMessage() for record in caplog.records] == [True]
    assert store.save("a", CONTENT)
    assert store.load("a") == CONTENT
    assert os.path.exists("/dev/full")


def test_a_file_under_another_name_is_damaged(store):
    store.save("a", CONTENT)
    (store.folder / "a").rename(store.folder / "b")
    assert store.load("b") is None
    assert not list(store.folder.iterdir())


def test_a_folder_that_cannot_be_made_is_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    store = CheckedStore(tmp_path / "file")
    for name in "abc":
        assert not store.save(name, CONTENT)
        assert store.load(name) is None
    assert len(caplog.records) == 1
    assert f"{tmp_path / 'file'}: cannot be written" in caplog.text


def test_a_full_disk_is_one_warning(tmp_path):
    script = f"""
from pathlib import Path
from ggp.jit.checked_store import CheckedStore
store = CheckedStore(Path({str(tmp_path)!r}))
print(store.save("small", b"x"), store.save("a", bytes({SMALL})), store.save("b", bytes({SMALL})))
"""
    run = subprocess.run(
        [sys.executable, "-c", script], preexec_fn=small_disk, capture_output=True, text=True, check=True
    )
    assert run.stdout == "True False False\n"
    assert run.stderr.count("cannot be written (File too large)") == 1
    assert os.listdir(tmp_path) == ["small"]


def test_a_store_without_a_folder_keeps_nothing(caplog):
    store = CheckedStore(None)
    assert not store.save("a", CONTENT)
    assert store.load("a") is None
    assert not caplog.records


def test_readers_see_whole_files_while_others_write(store, caplog):
    contents = [bytes([number]) * 100_000 for number in range(4)]
    store.save("a", contents[0])

    def work(number):
        store.save("a", contents[number % 4])
        return store.load("a")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(200)))
    assert set(found) <= set(contents)
    assert not caplog.records
