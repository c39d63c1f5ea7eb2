"""Kernels on disk: each is checked before it is unpickled, and compiled again if anything is wrong."""

import pickle

import numpy as np
import pytest

from ggp.jit import compiling
from ggp.jit.checked_store import CheckedStore
from tests.ggp.jit.test_checked_store import DAMAGES

pytestmark = pytest.mark.skipif(not compiling.IS_COMPILED, reason="kernels run as plain Python")


def plus_one(x):
    return x + 1


@pytest.fixture
def store(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "kernels")
    return CheckedStore(tmp_path / "kernels")


def run(function=plus_one, argument=1):
    """What the kernel returns, and whether it was loaded; as in a new process."""
    kernel = compiling.kernel(function)
    return kernel(argument), bool(kernel.stats.cache_hits)


def files(store):
    return sorted(store.folder.iterdir())


def test_a_kernel_is_compiled_once_for_each_signature(store):
    assert run() == (2, False)
    assert run(argument=1.5) == (2.5, False)
    assert run() == (2, True)
    assert run(argument=1.5) == (2.5, True)
    assert len(files(store)) == 2


def test_a_flipped_bit_anywhere_is_found(store, caplog):
    run()
    (path,) = files(store)
    whole = path.read_bytes()
    for place in np.random.default_rng(1).integers(0, 8 * len(whole), 100).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        assert store.load(path.name) is None


def test_a_kernel_for_other_types_of_the_same_name_is_not_loaded(store):
    run()
    (of_int,) = files(store)
    content = store.load(of_int.name)
    run(argument=1.5)
    (of_float,) = set(files(store)) - {of_int}
    store.save(of_float.name, content)
    assert run(argument=1.5) == (2.5, False)
    assert run(argument=1.5) == (2.5, True)


def test_functions_of_one_name_are_told_apart(store):
    def make(number):
        def added(x):
            return x + number

        return added

    assert run(make(1)) == (2, False)
    assert run(make(2)) == (3, False)


def test_a_kernel_is_used_although_it_cannot_be_kept(monkeypatch, tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "file" / "kernels")
    for _ in range(2):
        assert run() == (2, False)
    assert len(caplog.records) == 1


def test_a_process_that_compiles_for_the_cache_ends_if_that_is_full(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "file" / "kernels")
    monkeypatch.setattr("ggp.jit.compiling.KernelCache.is_required", True)
    with pytest.raises(SystemExit, match="1"):
        run()


OTHER_CONTENTS = [b"", b"no pickle", pickle.dumps(1), pickle.dumps((1, 2, 3, 4))]


@pytest.mark.parametrize("damage", [*DAMAGES.values(), *OTHER_CONTENTS], ids=[*DAMAGES, *"abcd"])
def test_a_damaged_kernel_is_compiled_again(store, damage, caplog):
    run()
    (path,) = files(store)
    if callable(damage):
        path.write_bytes(damage(path.read_bytes()))
    else:
        store.save(path.name, damage)
    assert run() == (2, False)
    assert caplog.text.count("compiling it again") == 1
    assert run() == (2, True)
