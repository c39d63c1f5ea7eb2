"""Items: their answers follow from the rules as printed, and grades tell right from wrong."""

import json
import re

import pytest
from click.testing import CliRunner

import ggp
from gdl.program import Program
from gdl.syntax.parser import parse
from ggp.cli.main import app
from ggp.engines.loading import make_game
from ggp.items.grading import GradingError, grade, mark
from ggp.items.making import KINDS, ItemMaker, ItemTerms, rule_depths
from tests.ggp.percept_games import COIN

STATE_KINDS = ("legal", "next", "ahead", "goal", "turn", "terminal", "percepts")


def items_of(game, **terms):
    return list(ItemMaker(game, ItemTerms(**terms)).items())


def answer_by_rules(rules: Program, item) -> object:
    """The answer by forward chaining from nothing but the text of the question."""
    state, *moves, question = item.question.split("\n")
    state = state.removeprefix("State: ")
    facts = [] if state == "nothing" else terms_of(state)
    kept = tuple(rule for rule in rules.rules if rule.predicate != ("init", 1))
    start = parse(" ".join(f"(init {fact})" for fact in facts))
    game = make_game(Program(kept + start.rules), engine="reasoner")
    state = before = game.initial_state()
    for line in moves:
        done = [fact.arguments[1] for fact in terms_of(line.partition(": ")[2])]
        before, state = state, game.next_state(state, done)
    role = next((role for role in game.roles if re.search(rf"\b{role}\b", question)), None)
    return {
        "legal": lambda: {str(move) for move in game.legal_moves(state, role)},
        "next": lambda: {str(fact) for fact in game.facts(state)},
        "ahead": lambda: {str(fact) for fact in game.facts(state)},
        "goal": lambda: game.goal(state, role),
        "turn": lambda: {str(each) for each in game.roles if len(game.legal_moves(state, each)) > 1},
        "terminal": lambda: game.is_terminal(state),
        "percepts": lambda: {str(each) for each in game.percepts(before, done, role)},
    }[item.kind]()


def terms_of(text):
    """The terms in a line of KIF or infix."""
    if text.startswith("(") or " " not in text:
        return [rule.head for rule in parse(text).rules]
    return [parse(f"{part}.", syntax="infix").rules[0].head for part in re.split(r", (?=\w+\()", text)]


@pytest.mark.parametrize(
    ("rules", "notation", "is_scrambled"),
    [("tictactoe", "kif", False), ("tictactoe", "infix", False), ("nim", "kif", True), (COIN, "kif", False)],
)
def test_answers_follow_from_the_rules_as_printed(rules, notation, is_scrambled):
    game = ggp.load(rules, engine="reasoner")
    terms = ItemTerms(
        count=40, seed=3, kinds=STATE_KINDS, notation=notation, is_scrambled=is_scrambled, horizon=3
    )
    maker = ItemMaker(game, terms)
    items = list(maker.items())
    printed = parse(maker.wording.rules())
    assert {item.kind for item in items} >= {"legal", "next", "terminal", "goal"}
    for item in items:
        expected = answer_by_rules(printed, item)
        answer = item.answer
        if isinstance(answer, list):
            assert len(set(answer)) == len(answer)
            answer = {str(terms_of(text)[0]) for text in answer}
        assert answer == expected, item


@pytest.mark.parametrize("rules", ["nim", COIN])
def test_every_engine_makes_the_same_items(rules):
    on_lanes, by_rules = (
        items_of(ggp.load(rules, engine), count=200, seed=5, kinds=STATE_KINDS)
        for engine in ("lanes", "reasoner")
    )
    assert on_lanes == by_rules
    assert len(on_lanes) > 10


def test_lines_of_json_are_those_of_json():
    items = items_of(ggp.load("nim"), count=40, seed=2)
    assert {item.kind for item in items} >= {"best", "goal", "terminal", "legal"}
    for item in items:
        line = json.loads(item.to_json())
        assert item.to_json() == json.dumps(line)
        assert {**line.pop("difficulty"), **line} == {"schema": 1, **item._asdict()}
        assert json.loads(item.to_json('"\n\u00fc'))["question"] == '"\n\u00fc' + item.question


def test_seed_decides_the_items():
    game = ggp.load("tictactoe", engine="reasoner")
    first, again, other = (items_of(game, seed=seed, count=20, kinds=STATE_KINDS) for seed in (1, 1, 2))
    assert first == again
    assert [item.question for item in first] != [item.question for item in other]


def test_no_question_is_asked_twice_and_a_note_says_when_none_is_left():
    game = ggp.load("(role x) (init on) (legal x a) (<= terminal (not (true on))) (goal x 100)", "reasoner")
    maker = ItemMaker(game, ItemTerms(count=50, kinds=("legal", "terminal", "next")))
    items = list(maker.items())
    assert len({item.question for item in items}) == len(items) == 4  # `on` and the state without facts
    assert "hardly any others" in maker.notes[0]


def test_values_of_nim_are_those_of_its_theory():
    """Bouton 1902: the mover wins unless the exclusive or of the heaps is 0."""
    for item in items_of(ggp.load("nim"), count=60, seed=1, kinds=("value", "best")):
        heaps = [int(size) for size in re.findall(r"\(heap \w+ (\d)\)", item.question)]
        nim_sum = heaps[0] ^ heaps[1] ^ heaps[2] ^ heaps[3]
        mover = re.search(r"\(control (\w+)\)", item.question)[1]
        if item.kind == "value":
            asked = re.search(r"does (\w+) get", item.question)[1]
            assert item.answer == (100 if (asked == mover) == (nim_sum != 0) else 0)
        else:
            assert nim_sum != 0
            assert item.answer["best"] == [m for m, regret in item.answer["regret"].items() if regret == 0]
            assert set(item.answer["regret"].values()) == {0, 100}


def test_notes_say_why_items_are_missing():
    game = ggp.load("tictactoe", engine="reasoner")
    clock = map(float, range(10_000)).__next__
    maker = ItemMaker(game, ItemTerms(count=10_000, kinds=STATE_KINDS, seconds=100.0), clock=clock)
    assert 0 < len(list(maker.items())) < 10_000
    assert "time is up" in maker.notes[0]
    maker = ItemMaker(game, ItemTerms(kinds=("percepts",)))
    assert not list(maker.items())
    assert "no such question suits the game" in maker.notes[0]


def test_rule_depth_counts_mutual_recursion_once():
    depths = rule_depths(parse("(<= terminal a) (<= a b) (<= b a) (<= b (true on)) (succ 1 2)"))
    assert (depths["terminal"], depths["a"], depths["b"], depths["succ"]) == (2, 1, 1, 0)


def test_right_answers_score_in_every_form():
    for notation in ("kif", "infix", "sentences"):
        items = items_of(ggp.load("nim"), count=40, seed=1, notation=notation)
        lines = [item.to_json().encode() for item in items]
        for form in (as_data, as_text):
            given = [json.dumps({"id": item.id, "answer": form(item.answer)}).encode() for item in items]
            found = grade(lines, given)
            assert found.total.correct == found.total.items == 40
            assert found.strange == 0


def as_data(answer):
    return answer["best"][-1:] if isinstance(answer, dict) else answer


def as_text(answer):
    """The answer as a program writes it that knows no JSON."""
    if isinstance(answer, bool):
        return "Yes." if answer else "No."
    answer = answer["best"][-1].upper() if isinstance(answer, dict) else answer
    return "\n".join(answer) if isinstance(answer, list) else str(answer)


@pytest.mark.parametrize(
    ("right", "answer", "is_correct", "is_readable"),
    [
        (["(a 1)", "(a 2)"], ["(a 2)"], False, True),
        (["(a 1)"], ["(a 1)", "(a 2)"], False, True),
        (["(a 1)"], {"a": 1}, False, False),
        ([], "nothing", True, True),
        (50, 50.004, True, True),
        (50, "51", False, True),
        (50, True, False, False),
        (True, 1, False, False),
        ({"best": ["a"], "regret": {"a": 0, "b": 30}}, "b", False, True),
        ({"best": ["a"], "regret": {"a": 0, "b": 30}}, ["a", "b"], False, False),
        ({"best": ["a"], "regret": {"a": 0, "b": 30}}, "c", False, False),
    ],
)
def test_mark_of_an_answer(right, answer, is_correct, is_readable):
    found = mark({"answer": right}, answer)
    assert (found.is_correct, found.is_readable) == (is_correct, is_readable)
    assert found.regret == (30 if answer == "b" else None)


def test_overlap_says_how_near_a_list_came():
    assert mark({"answer": ["a", "b", "c"]}, ["a"]).overlap == 0.5


ITEM = (
    b'{"id": "a", "kind": "goal", "game": "g", "answer": 50,'
    b' "difficulty": {"horizon": 0, "state_size": 1, "rule_depth": 1}}'
)


def test_missing_and_strange_lines_are_counted():
    strange = [b"no json", b'{"id": "other", "answer": 1}', b"[" * 100_000, b'{"id": ["x"], "answer": 1}']
    found = grade([ITEM], strange)
    assert (found.total.items, found.total.answered, found.total.correct, found.strange) == (1, 0, 0, 4)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        *(([line], "line 1 is not an item") for line in (b"{}", b"1", ITEM.replace(b"50", b'"text"'))),
        ([ITEM, ITEM], "line 2 has the id of an earlier item"),
    ],
)
def test_files_without_items_or_with_the_same_ids_are_errors(lines, words):
    with pytest.raises(GradingError, match=words):
        grade(lines, [])


def test_one_bad_sheet_does_not_stop_the_others(tmp_path):
    bad = tmp_path / "bad.kif"
    bad.write_text("(role x")
    files = [str(bad), "nim", "nim"]
    arguments = ["items", "make", *files, "--count", "4", "--with-rules"]
    result = CliRunner().invoke(app, [*arguments, "--kinds", "legal,turn"])
    assert result.exit_code == 1
    assert "unclosed '('" in result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["kind"] == "rules" for line in lines] == [True, *[False] * 4] * 2
    assert len({line["id"] for line in lines if "id" in line}) == 8
    assert all(line["question"].startswith(f"Rules:\n{lines[0]['rules']}") for line in lines if "id" in line)


def test_commands_write_and_grade_items(tmp_path):
    items, answers = tmp_path / "items.jsonl", tmp_path / "answers.jsonl"
    written = CliRunner().invoke(
        app, ["items", "make", "nim", "--count", "9", "--kinds", "goal", "--scramble"]
    )
    items.write_text(written.stdout)
    answers.write_text("".join(written.stdout.splitlines(keepends=True)[:5]))
    found = json.loads(CliRunner().invoke(app, ["items", "grade", str(items), str(answers), "--json"]).stdout)
    assert (found["total"]["items"], found["total"]["correct"]) == (9, 4)
    assert found["groups"]["kind"]["goal"]["items"] == 9
    table = CliRunner().invoke(app, ["items", "grade", str(items), str(answers)]).stdout
    assert "kind goal" in table
    assert "0.444" in table
    assert (
        CliRunner().invoke(app, ["items", "grade", str(answers.parent / "none"), str(answers)]).exit_code == 2
    )
    assert CliRunner().invoke(app, ["items", "nim", "--kinds", "odd"]).exit_code == 2
    assert set(found["groups"]["game"]) == {"nim"}
    assert set(KINDS) >= set(found["groups"]["kind"])
