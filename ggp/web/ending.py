"""Why a match ended as it did, in words: nothing here knows a game by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from gdl.dependencies import DISTINCT, TRUE
from gdl.program import Program, Rule, arguments_of, body_literals
from gdl.terms import Term, Variable
from ggp.analysis.board_style import owner_of
from ggp.analysis.figures import is_card, words_of
from ggp.analysis.fluent_domains import fluent_domains
from ggp.analysis.goal_support import deciding_facts, goal_conditions, goal_support
from ggp.analysis.notation import IDLE
from ggp.analysis.picture import Picture
from ggp.game import RANDOM_ROLE, GameError, Role, hides_information
from ggp.web.match_history import MatchHistory
from ggp.web.reasons import Reasoning, capital, draw_reason, has, reason

_VERB = re.compile(
    "accept|answer|ask|attack|bet|bid|buy|call|challenge|check|choose|claim|cut|discard|doubt|drop|"
    "fire|flip|fold|give|go|guess|hit|hold|keep|move|open|pass|pay|pick|place|play|put|raise|reject|"
    "reveal|roll|say|sell|send|shoot|show|stand|stay|switch|take|throw|turn|wait|walk"
)
"""Names of moves that are surely verbs, whose third person ends in `s` or `es`."""


def deciding(history: MatchHistory, picture: Picture) -> frozenset[Term]:
    """The facts that decide a match that is over, none if a role has no move left; looked for once."""
    last = history.steps[-1]
    if last.decided_by is None and _lack(history, picture)[1] == "move":
        last.decided_by = frozenset()
    if last.decided_by is None:
        before = (history.facts(step) for step in reversed(range(len(history.steps))))
        last.decided_by = deciding_facts(history.game.program, history.facts(), _goals(history), before)
    return last.decided_by


def explanation(history: MatchHistory, picture: Picture, you: Role | None = None) -> str:
    """Why a match that is over ended so, in a sentence or two; "" if there is nothing to say.

    you   the only person, who is called so
    """
    if not history.steps or not history.is_over:
        return ""

    def name(role: object) -> str:
        return "you" if you is not None and str(role) == str(you) else str(role)

    why = _reveal(history, picture, name) or _loss(history, picture, name)
    goals = {role: goal for role, goal in _goals(history).items() if role != RANDOM_ROLE and goal is not None}
    if why or not goals:
        return why
    best, support = max(goals, key=lambda role: goals[role]), deciding(history, picture)
    if list(goals.values()).count(goals[best]) > 1 or not goals[best]:
        support = goal_support(history.game.program, history.facts(), best, goals[best])
        return draw_reason(Reasoning(history, picture, support, best, name))
    return reason(Reasoning(history, picture, support, best, name)) if support else ""


def _goals(history: MatchHistory) -> dict[Role, int | None]:
    return dict(zip(history.game.roles, history.goals() or (), strict=False))


# --- hidden information: what was chosen last, and what chance had dealt ----------------------------


def _reveal(history: MatchHistory, picture: Picture, name: Callable[[object], str]) -> str:
    """The last moves, what chance had dealt, what that proves, and who loses.

    `You bid 2×3, first doubts. Turned over: …. So your bid 2×3 was right, and first loses.`
    """
    dealt = _dealt(history, picture) if hides_information(history.game) else []
    if not dealt:
        return ""
    said = [_clause(name(role), move, picture.notation.text(move)) for role, move in _last_choices(history)]
    goals = {role: goal for role, goal in _goals(history).items() if role != RANDOM_ROLE and goal is not None}
    best = [role for role, goal in goals.items() if goal == max(goals.values())]
    found = [_claim(history, picture, dealt, best[0], name)]
    if len(best) == 1 < len(goals):
        losers = [role for role in goals if role not in best]
        who, verb = (losers[0], "loses") if len(losers) == 1 else (best[0], "wins")
        found.append(f"{name(who)} {verb.removesuffix('s') if name(who) == 'you' else verb}")
    end = ", and ".join(filter(None, found))
    text, roles = ", ".join(said), list(map(str, history.game.roles))
    over = ", ".join(_holding(fact, roles, name) for fact in dealt)
    return f"{capital(text)}. Turned over: {over}.{end and f' So {end}.'}"


def _claim(
    history: MatchHistory,
    picture: Picture,
    dealt: Sequence[Term],
    winner: Role,
    name: Callable[[object], str],
) -> str:
    """`your bid 2×3 was right`: a move whose words the goal compares with what was dealt; "" without one.

    The comparison is a relation of which every rule asks for the same value in a fact that the move has left
    and in one that was dealt, and denies nothing.
    """
    goal, program = _goals(history).get(winner) or 0, history.game.program
    hidden = {(fact.name, len(arguments_of(fact))) for fact in dealt}
    for atom, holds in goal_conditions(program, history.facts(), winner, goal).items():
        compared = [_compared(program, rule, hidden) for rule in program.rules_for(*_family(atom))]
        families = set.intersection(*compared) if compared else set()
        for fact in history.facts():
            maker = _maker(history, fact) if _family(fact) in families else None
            if maker is not None:
                whose = "your" if name(maker[0]) == "you" else f"{maker[0]}'s"
                return f"{whose} {picture.notation.text(maker[1])} was {'right' if holds else 'wrong'}"
    return ""


def _family(term: Term) -> tuple[str, int]:
    return term.name, len(arguments_of(term))


def _compared(program: Program, rule: Rule, hidden: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """The fluents of which a rule compares a value with one of `hidden`; none if it denies anything."""
    body = list(body_literals(rule))
    if not all(is_positive and each.predicate != DISTINCT for each, is_positive in body):
        return set()
    roles = {str(arguments_of(each.head)[0]) for each in program.rules_for("role", 1)}
    domains = fluent_domains(program)
    facts = [arguments_of(each.atom)[0] for each, _ in body if each.predicate == TRUE]
    values = [
        {
            value
            for value, domain in zip(arguments_of(fact), domains.get(_family(fact), ()), strict=False)
            if isinstance(value, Variable) and not domain <= roles
        }
        for fact in facts
    ]
    shown = {each for fact, own in zip(facts, values, strict=True) if _family(fact) in hidden for each in own}
    return {
        _family(fact)
        for fact, own in zip(facts, values, strict=True)
        if _family(fact) not in hidden and own & shown
    }


def _maker(history: MatchHistory, fact: Term) -> tuple[Role, Term] | None:
    """The role and the move that has left a fact with all of its words; None if it was no player's."""
    for number in reversed(range(len(history.steps))):
        if fact not in history.facts(number):
            for role, move in zip(history.game.roles, history.steps[number].joint_move, strict=True):
                words = arguments_of(move) if role != RANDOM_ROLE else ()
                if words and set(words) <= set(arguments_of(fact)):
                    return role, move
            return None
    return None


def _last_choices(history: MatchHistory) -> list[tuple[Role, Term]]:
    """The last move of each role that is not idle, in the order of the match."""
    found: dict[Role, Term] = {}
    for step in reversed(history.steps):
        for role, move in zip(reversed(history.game.roles), reversed(step.joint_move), strict=True):
            if role != RANDOM_ROLE and move.name != IDLE:
                found.setdefault(role, move)
    return list(found.items())[::-1]


def _clause(who: str, move: Term, text: str) -> str:
    """A move as a clause if its name is a verb that rules use, otherwise as it is written: it may be a noun.

    >>> from gdl.syntax.parser import parse_term
    >>> [_clause(who, parse_term("fold"), "fold") for who in ("you", "first")]
    ['you fold', 'first folds']
    >>> _clause("first", parse_term("(guess 4)"), "guess 4"), _clause("x", parse_term("(mark 1 1)"), "a1")
    ('first guesses 4', 'x: a1')
    >>> _clause("first", parse_term("(king 2)"), "king 2")
    'first: king 2'
    """
    verb, _, rest = text.partition(" ")
    if verb != move.name or not _VERB.fullmatch(verb):
        return f"{who}: {text}"
    if who != "you":
        verb += "es" if verb.endswith(("s", "o", "ch", "sh", "x")) else "s"
    return f"{who} {verb} {rest}".rstrip()


def _dealt(history: MatchHistory, picture: Picture) -> list[Term]:
    """The facts of the end, off the board, that say what chance chose."""
    if RANDOM_ROLE not in history.game.roles:
        return []
    place, made = history.game.roles.index(RANDOM_ROLE), set[Term]()
    for number, step in enumerate(history.steps):
        new = set(history.facts(number + 1)) - set(history.facts(number))
        drawn = set(arguments_of(step.joint_move[place]))
        made |= {fact for fact in new if drawn.intersection(arguments_of(fact))}
    board = picture.board
    return [
        fact
        for fact in history.facts()
        if fact in made and not picture.is_turn(fact) and not (board is not None and board.shows(fact))
    ]


def _holding(fact: Term, roles: Collection[str], name: Callable[[object], str]) -> str:
    """A fact in words, of a role what it has: `first has die 1`, `you have king`, `car 2`."""
    arguments = list(map(words_of, arguments_of(fact)))
    if len(arguments) != 2 or arguments[0] not in roles:
        return words_of(fact)
    who, what = name(arguments[0]), "" if is_card(fact.name) else f"{fact.name} "
    return f"{who} {'have' if who == 'you' else 'has'} {what}{arguments[1]}"


# --- a role that cannot go on, and all others -------------------------------------------------------


def _loss(history: MatchHistory, picture: Picture, name: Callable[[object], str]) -> str:
    """`Black has no move left.`"""
    loser, lack = _lack(history, picture)
    return capital(f"{has(name(loser))} no {lack} left.") if lack else ""


def _lack(history: MatchHistory, picture: Picture) -> tuple[Role | None, str]:
    """A role and what it lacks, `piece` or `move`, if the other one wins because the rules deny something."""
    goals = {role: goal for role, goal in _goals(history).items() if role != RANDOM_ROLE}
    if len(goals) != 2 or None in goals.values() or len(set(goals.values())) == 1:
        return None, ""
    loser, winner = sorted(goals, key=lambda role: goals[role] or 0)
    now, before = (_pieces(picture, history.facts(step), loser) for step in (None, len(history.steps) - 1))
    is_stuck = _can_move(history, winner) and not _can_move(history, loser)
    lack = "piece" if now == 0 < before else "move" if is_stuck else ""
    conditions = goal_conditions(history.game.program, history.facts(), winner, goals[winner] or 0)
    if not lack or all(conditions.values()):
        return None, ""
    return loser, lack


def _pieces(picture: Picture, facts: Sequence[Term], role: Role) -> int:
    """The number of pieces of a role on the board."""
    if picture.board is None:
        return 0
    roles = frozenset(picture.board.style.roles)
    stacks = picture.board.contents(facts).values()
    return sum(owner_of(stack[0][-1], roles) == str(role) for stack in stacks)


def _can_move(history: MatchHistory, role: Role) -> bool:
    """Whether a role has a legal move in the last state; rules need not give it one."""
    try:
        return bool(history.legal(role))
    except GameError:
        return False
