import dataclasses
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ggp.engines.compilation
from gdl.program import Program
from gdl.syntax.parser import parse
from gdl.terms import Symbol
from ggp.circuit.cache import CompiledCircuit, GameCache, cache_folder, check_sound, code_modules, rules_key
from ggp.circuit.circuit import Goal, Percept
from ggp.engines.compilation import CompilationLimits, compile_circuit

SHEET = """
(role random) (role guesser) (init (die (f) 01)) (init f)
(legal random (roll 1)) (legal random (roll 2)) (legal guesser wait)
(<= (sees guesser (rolled ?n)) (does random (roll ?n)))
(<= (next (die ?n 1)) (does random (roll ?n)))
(<= terminal (true (die 2 1)))
(<= (goal guesser 100) (true (die 2 1)))
(<= (goal guesser none) (true f))
"""


@pytest.fixture
def program() -> Program:
    return parse(SHEET)


@pytest.fixture
def cache(tmp_path: Path) -> GameCache:
    return GameCache(tmp_path / "cache")


def entries(cache: GameCache) -> list[Path]:
    assert cache.folder is not None
    return sorted(cache.folder.iterdir())


def test_cache_returns_what_was_stored_until_it_is_removed(cache, program):
    assert cache.load(program) is None
    stored = compile_circuit(program)
    cache.store(program, stored)
    loaded = cache.load(program)
    assert loaded is not None
    assert loaded == stored
    (entry,) = entries(cache)
    entry.unlink()
    assert cache.load(program) is None


def test_compilation_with_a_cache_grounds_once(cache, program, monkeypatch):
    first = compile_circuit(program, cache=cache)
    monkeypatch.setattr(ggp.engines.compilation, "ground", None)
    assert compile_circuit(program, cache=cache) == first
    monkeypatch.undo()
    plain = compile_circuit(program, CompilationLimits(stages=()), cache=cache)
    assert plain.report.stages != first.report.stages
    assert len(entries(cache)) == 2


def test_cache_key_ignores_layout_and_depends_on_rules(program):
    other = parse("; a comment\n" + SHEET.replace("\n", "\n\n  "), name="other")
    assert rules_key(program) == rules_key(other)
    assert rules_key(program) != rules_key(parse(SHEET + "(next f)"))
    assert rules_key(parse("(p f)")) != rules_key(parse("(p (f))"))


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip", "not an entry"])
def test_cache_removes_broken_files(cache, program, damage):
    cache.store(program, compile_circuit(program))
    (place,) = entries(cache)
    content = place.read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    damaged = {"truncate": content[:-100], "empty": b"", "flip": flipped, "not an entry": b"x" * 999}
    place.write_bytes(damaged[damage])
    assert cache.load(program) is None
    assert entries(cache) == []
    cache.store(program, compile_circuit(program))
    assert cache.load(program) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"terminal": 10_000},
        {"initial": ()},
        {"legal": ()},
        {"next": (-1, 0, 0, 0)},
        {"gates": ((0, 99),)},
        {"gates": ((0,),)},
        {"goals": (Goal(7, 0, 0),)},
        {"exclusive": ((0, 99),)},
    ],
)
def test_check_sound_rejects_inconsistent_circuits(program, change):
    with pytest.raises(ValueError, match=r"disagree|range|later node"):
        check_sound(dataclasses.replace(compile_circuit(program).circuit, **change))


def test_cache_key_covers_existing_modules_only():
    modules = code_modules()
    assert len(set(modules)) == len(modules)
    assert [str(module) for module in modules if not module.is_file()] == []


def test_cache_drops_the_least_recently_used_entry(tmp_path):
    cache = GameCache(tmp_path, mebibytes=1)
    sheets = [parse(f"(role a) (legal a (m {number}))") for number in range(3)]
    small = compile_circuit(sheets[0])
    names = tuple(Symbol(hashlib.sha256(bytes([i % 256, i // 256])).hexdigest()) for i in range(4_500))
    terms = dataclasses.replace(small.circuit.terms, percepts=names)
    percepts = (Percept(0, 0),) * len(names)
    # Three of these exceed one mebibyte, two do not.
    large = CompiledCircuit(dataclasses.replace(small.circuit, terms=terms, percepts=percepts), small.report)
    for age, sheet in enumerate(sheets[:2]):
        cache.store(sheet, large)
        os.utime(tmp_path / (rules_key(sheet) + ".circuit"), (age, age))
    assert cache.load(sheets[0]) is not None  # now used more recently than the other
    cache.store(sheets[2], large)
    assert [cache.load(sheet) is not None for sheet in sheets] == [True, False, True]


@pytest.mark.parametrize("folder", [None, "file"])
def test_cache_that_cannot_be_written_keeps_nothing(folder, tmp_path, program):
    (tmp_path / "file").write_text("in the way")
    cache = GameCache(folder and tmp_path / folder)
    cache.store(program, compile_circuit(program))
    assert cache.load(program) is None


def test_cache_survives_concurrent_writers(cache, program):
    found = compile_circuit(program)

    def work(_: int) -> bool:
        cache.store(program, found)
        return cache.load(program) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))
    assert len(entries(cache)) == 1


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.setenv("GGP_CACHE", "off")
    assert cache_folder() is None
    monkeypatch.delenv("GGP_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ggp-lanes"
