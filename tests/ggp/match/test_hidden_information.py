"""Nobody is shown what the rules hide, in whatever way a match is played."""

import asyncio
import json
from contextlib import AsyncExitStack
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from gdl.syntax.parser import parse_term
from ggp.cli.main import app
from ggp.engines.loading import find_rules, load
from ggp.match.player import Player
from ggp.match.record import MatchRecord, read_record
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player
from ggp.players.human import HumanPlayer
from ggp.protocol.manager import manage_match
from ggp.protocol.messages import Play, Stop
from ggp.tournament.play import play_task
from ggp.tournament.schedule import Schedule
from tests.ggp.match import spies
from tests.ggp.match.spies import Spy
from tests.ggp.tournament.plans import small_plan
from tests.ggp.wire import answering, scripted_player
from tests.oracles.naive_beliefs import first_belief, step

NAMES = ["kuhn_poker", "monty_hall", "krieg_tictactoe"]
TERMS = MatchTerms(60, 60, seed=4)
SEARCHING = "mcts:simulations=30,search=reference"


def expected_observations(record: MatchRecord, role: str) -> list[tuple[str, list[str]]]:
    """What the rules let a role know of each step of a recorded match: own move and percepts."""
    game = load(record.game_name, engine="reasoner")
    state, index, found = game.initial_state(), record.roles.index(role), []
    for row in record.moves:
        joint_move = [parse_term(move) for move in row]
        found.append((row[index], list(map(str, game.percepts(state, joint_move, game.roles[index])))))
        state = game.next_state(state, joint_move)
    return found


def read_notes(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def assert_nothing_hidden(notes, record):
    """A seat was given its role, its own moves, its percepts, and states that agree with these."""
    (_, role), *rest = notes
    expected = expected_observations(record, role)
    game = load(record.game_name, engine="reasoner")
    term = game.roles[record.roles.index(role)]
    belief, step_number = first_belief(game), 0
    for what, value in rest:
        if what == "observe":
            own_move, percepts = expected[step_number]
            assert value == [own_move, percepts]
            seen = tuple(map(parse_term, percepts))
            belief, step_number = step(game, term, belief, parse_term(own_move), seen), step_number + 1
        elif what == "choose":
            facts, joint_move = value
            assert joint_move is None
            assert facts in [sorted(map(str, game.facts(state))) for state in belief]
        else:
            assert (what, value) == ("stop", expected[-1][1])
    assert [what for what, _ in rest].count("observe") == step_number == len(record.moves) - 1
    assert rest[-1][0] == "stop"


def spy_spec(path):
    return f"{spies.__file__}:Spy:log={path}"


@pytest.mark.parametrize("name", NAMES)
def test_match_tells_seats_their_observations_only(name, tmp_path):
    record_file, log = tmp_path / "record.json", tmp_path / "spy.log"
    arguments = ["match", name, spy_spec(log), "--engine", "reasoner", "--seed", "4", "--play-clock", "60"]
    others = [] if name == "monty_hall" else ["random"]
    result = CliRunner().invoke(app, [*arguments[:3], *others, *arguments[3:], "--record", str(record_file)])
    assert result.exit_code == 0, result.output
    record = read_record(record_file)
    assert_nothing_hidden(read_notes(log), record)
    assert len(record.states) == len(record.moves) + 1  # records keep everything


@pytest.mark.parametrize("name", NAMES)
def test_tournament_tells_seats_their_observations_only(name, tmp_path):
    log, others = tmp_path / "spy.log", {} if name == "monty_hall" else {"b": "random"}
    plan = small_plan(
        tmp_path,
        rules=find_rules(name).read_text(),
        agents={"a": spy_spec(log), **others},
        repetitions=1,
    )
    task = next(task for _, task in Schedule(plan).tasks())
    data = json.loads(play_task(task).record)
    record = MatchRecord.from_dict({**data, "x-game": name})
    assert_nothing_hidden(read_notes(log), record)


@pytest.mark.parametrize("name", NAMES)
def test_manager_sends_players_their_percepts_only(name):
    game = load(name, engine="reasoner")
    playing = [str(role) for role in game.roles if str(role) != "random"]

    async def scenario():
        async with AsyncExitStack() as stack:
            seats = [await stack.enter_async_context(scripted_player(answering("?"))) for _ in playing]
            addresses = [address for address, _ in seats]
            record = await manage_match(game, addresses, MatchTerms(5, 5, seed=2, match_id="m"))
            return record, [heard for _, heard in seats]

    record, heard = asyncio.run(scenario())
    for role, messages in zip(playing, heard, strict=True):
        told = [message.terms for message in messages if isinstance(message, Play | Stop)]
        texts = [None if terms is None else list(map(str, terms)) for terms in told]
        assert texts == [None, *(percepts for _, percepts in expected_observations(record, role))]


def shown_to_a_person(name, seed, answers):
    """Everything on the terminal of a person until the match is over, and the states of the match."""
    with TemporaryDirectory() as folder:
        others, file = [] if name == "monty_hall" else [SEARCHING], f"{folder}/record.json"
        command = ["match", name, "human", *others, "--engine", "reasoner", "--seed", str(seed)]
        result = CliRunner().invoke(app, [*command, "--record", file], input="\n".join(answers) + "\n")
        record = read_record(file)
    assert record.is_completed, result.output
    output = result.output.replace(f"seed {seed}", "seed")
    return output[: output.rindex(f"{len(record.moves):>4} ")], record


@pytest.mark.parametrize(
    ("name", "answers"), [("kuhn_poker", ["check", "fold"]), ("monty_hall", ["pick 1", "switch"])]
)
def test_a_person_is_shown_the_same_whatever_is_hidden(name, answers):
    """Of matches in which a person observes the same, the screen is the same, though the states differ."""
    screens: dict[str, set[str]] = {}
    states: dict[str, set[str]] = {}
    for seed in range(8):
        screen, record = shown_to_a_person(name, seed, answers)
        known = json.dumps(expected_observations(record, record.roles[0])[:-1])
        screens.setdefault(known, set()).add(screen)
        states.setdefault(known, set()).add(json.dumps(record.states[1:-1]))
    assert all(len(each) == 1 for each in screens.values())
    assert any(len(each) > 1 for each in states.values())


def test_a_person_is_shown_percepts_and_what_is_certain():
    shown, answers = [], iter(["mark 2 2", "mark 1 1"])
    person = HumanPlayer(ask=lambda prompt: next(answers), show=shown.append)

    class First(Player):
        def choose(self, state, deadline, joint_move):
            return parse_term("(mark 2 2)" if len(self.legal_moves(state)) > 8 else "noop")

    game = load("krieg_tictactoe", engine="reasoner")
    play_match(game, [First(), person], MatchTerms(60, 60, seed=1, step_limit=4))
    text = "\n".join(shown)
    assert "o sees: nothing\no knows (certain in 9 possible states):\n  3 . . .\n  2 . . .\n" in text
    assert "o sees: refusal\no knows (the state):\n" in text
    after = text[text.index("o knows (the state):") :]
    assert after.splitlines()[2].split() == ["2", ".", "x", "."]


def test_moves_are_not_taken_back_where_information_is_hidden():
    shown, answers = [], iter(["check", "undo", "fold"])
    person = HumanPlayer(ask=lambda prompt: next(answers), show=shown.append)
    game = load("kuhn_poker", engine="reasoner")
    record = play_match(game, [person, make_player("legal"), None], TERMS)
    assert record.is_completed
    assert "moves cannot be taken back in this match" in shown


def test_chosen_states_are_often_not_the_true_one(tmp_path):
    """A player that asks for states gets one that is possible, not the one that holds."""
    game = load("kuhn_poker", engine="reasoner")
    is_true = []
    for seed in range(12):
        log = tmp_path / f"{seed}.log"
        record = play_match(game, [Spy(str(log)), make_player("legal"), None], MatchTerms(60, 60, seed=seed))
        chosen = [value[0] for what, value in read_notes(log) if what == "choose"]
        is_true.append(f"( {' '.join(chosen[1])} )" == record.states[1])
    assert 0 < sum(is_true) < len(is_true)


def test_games_without_percepts_are_played_by_the_state():
    class Open(Player):
        def choose(self, state, deadline, joint_move):
            game = self.setup.game
            expected = game.initial_state() if joint_move is None else game.next_state(self.last, joint_move)
            assert state == expected
            self.last = state
            return self.legal_moves(state)[0]

        def observe(self, observation, deadline):
            raise AssertionError("observations are for hidden information")

    record = play_match(load("nim", engine="reasoner"), [Open(), make_player("legal")], TERMS)
    assert record.is_completed
