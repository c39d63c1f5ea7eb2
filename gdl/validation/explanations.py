"""Explanations of all diagnostics of `gdl` by stable code.

`ggp validate --explain CODE` and the site show them. Each is one paragraph of Markdown: what is wrong, or
what to write instead. The titles are in `gdl.validation.titles`.
"""

from __future__ import annotations

from collections.abc import Mapping

EXPLANATIONS: Mapping[str, str] = {
    "GDL101": (
        "Reported at the opening parenthesis. Rules stand only at the outermost level, so a rule inside "
        "another form shows which form is unclosed."
    ),
    "GDL102": "There is nothing left to close. Often an earlier form was closed too soon.",
    "GDL103": "More than 200 levels. Real sheets need about ten.",
    "GDL104": "A character such as NUL outside of a comment.",
    "GDL105": "More than 2,000,000 characters.",
    "GDL106": "`()` has no meaning in GDL; a term without arguments is `(name)`.",
    "GDL107": "`((a) b)` or `(?relation a)`: relations and functions are constants.",
    "GDL108": "`(<=)` alone. A fact needs no arrow; a rule is `(<= head body ...)`.",
    "GDL109": "A `?` by itself.",
    "GDL110": "`(not a b)` is ambiguous. Write `(not (and a b))` or `(not (or a b))`.",
    "GDL111": (
        "`and`, `or` and `not` combine formulas in bodies, never heads; `<=` only opens a rule. For terms "
        "see GDL215."
    ),
    "GDL112": "An infix rule is `head :- formula`; `&` and `|` join formulas, `~` negates the next one.",
    "GDL113": "Bodies consist of atoms of named relations; variables stand only inside them.",
    "GDL114": (
        "Quoted infix names may hold anything but blanks, parentheses and semicolons, and end on their line."
    ),
    "GDL115": "A move or a fact is one term.",
    "GDL116": "More than 1,000 arguments of a relation or function. Real sheets have a few dozen.",
    "GDL117": (
        "Sentences, fences of Markdown, a START message, lines of a log, JSON or HTML surround the rules. "
        "Keep only the rules; a comment begins with `;`, in infix form with `%`."
    ),
    "GDL118": (
        "Pages and word processors replace characters: `&lt;` stands for `<`, `（` is not `(`, and a zero "
        "width space is invisible. Comments may hold any character."
    ),
    "GDL119": "A comment begins with `;`, in infix form also with `%`, and ends with its line.",
    "GDL120": (
        "Calls such as `p(a, b)`, operators between operands, other arrows and negations belong to Prolog, C "
        "or Stanford's operation language. In KIF `(<= (p ?x) (q ?x) (not (r ?x)) (distinct ?x a))`, in "
        "infix form `p(X) :- q(X) & ~r(X) & distinct(X,a)`."
    ),
    "GDL121": "In infix form a name with a capital letter is a variable. `role(white)`, or `role('White')`.",
    "GDL201": "There is no `role` fact. Write `(role robot)` for each player.",
    "GDL202": (
        "`role`, `init`, `true`, `next` take one; `legal`, `does`, `goal`, `distinct` two; `terminal` none."
    ),
    "GDL203": "`true` and `does` come from the match, `distinct` is built in.",
    "GDL204": (
        "`init`, `next` and `sees` are conclusions; bodies ask for `true`. `base` and `input` describe the "
        "game from outside."
    ),
    "GDL205": (
        "Every variable of the head, of a negation and of `distinct` needs a positive literal in the same "
        "body (in every branch of an `or`) that gives it a value. Facts have no variables."
    ),
    "GDL206": (
        "`role`, `init`, `base` and `input` depend on neither `true` nor `does`; `legal`, `goal` and "
        "`terminal` precede moves, so they do not depend on `does`. The message shows the path."
    ),
    "GDL207": (
        "A rule requires its own conclusion to be false, perhaps through other rules, so it has no meaning. "
        "For rules that cannot apply to the same ground atoms see GDL303."
    ),
    "GDL208": (
        "`(<= (number (s ?n)) (number ?n))` derives terms without end. Restrict the variable by a positive "
        "literal outside the recursion, such as `(small ?n)`."
    ),
    "GDL209": "Goals are whole numbers from 0 to 100, in heads and in bodies.",
    "GDL210": (
        "Without `or`, the rule would become more than 10,000 rules. Give a part of its body a relation of "
        "its own."
    ),
    "GDL211": (
        "Without `or`, all rules together would have more than 400,000 literals. Real sheets have about a "
        "thousand at most."
    ),
    "GDL212": (
        "The first argument of `legal`, `does`, `sees` and `input` is a role (for `goal` see GDL330). A name "
        "is misspelled or a `role` fact missing. Not reported if rules define roles (GDL213)."
    ),
    "GDL213": "Roles are facts: readers that only count the players of a match do not reason.",
    "GDL214": "`legal`, `next`, `goal` or `terminal` is missing. For `init` see GDL327.",
    "GDL215": (
        "`(true (does robot press))` asks for a fact called `does`; `(does robot press)` was meant. "
        "`(true (or a b))` is `(or (true a) (true b))`. `or`, `and`, `not`, `<=` and `distinct` cannot be "
        "constants. Usually a parenthesis is in the wrong place."
    ),
    "GDL216": (
        "If the head of a rule and a literal of its body belong to one recursion, every argument of that "
        "literal must be ground, an argument of the head, or in a positive literal outside the recursion "
        "(2008, recursion restriction). `(<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))` becomes `(<= (reach "
        "?x ?z) (step ?x ?y) (reach ?y ?z))`."
    ),
    "GDL217": (
        "`(<= (sees robot ?f) (next ?f))` shows the facts of the state after the moves. The definition of "
        "GDL-II gives percepts from `does` and `true`; other programs may refuse this."
    ),
    "GDL218": (
        "GDL has `distinct`, and no equality, order, arithmetic, implication or quantifier. Values and their "
        "order are facts, such as `(succ 1 2)` and `(less 1 2)`. Not reported if the sheet has rules for the "
        "relation."
    ),
    "GDL219": (
        "`(knows robot p)` asks what follows from a role's percepts. Without it another game would be "
        "played, so programs refuse the sheet. A sheet may define a relation of this name."
    ),
    "GDL301": "The relation has rules for another number of arguments only, so this is never true.",
    "GDL302": "`(cell 1 b)` here and `(cell 1 1 b)` there are unrelated functions. Relations likewise.",
    "GDL303": (
        "The specification forbids a relation that depends on its own negation. Here constants keep its "
        "atoms apart, as in `(<= (goal ?r 0) (not (goal ?r 100)))`: this program plays such games, others "
        "may not. Use a relation of its own: `(<= (goal ?r 0) (role ?r) (not (won ?r)))`."
    ),
    "GDL304": (
        "It joins nothing and may be misspelled. If any value will do, begin its name with an underscore: "
        "`?_x`. Reported once per sheet, and only if selected (`--select ALL`), because most sheets have "
        "such variables on purpose."
    ),
    "GDL305": (
        "A body asks for a relation with neither rules nor facts: it is never true, and its negation always "
        "holds."
    ),
    "GDL306": (
        "A body asks for `(true f)` although no rule for `init` or `next` makes a fact of that name and "
        "number of arguments, or for `(does r m)` although no `legal` makes such a move."
    ),
    "GDL307": (
        "No path leads from a keyword's rules to this relation. What only unneeded relations need is not "
        "reported."
    ),
    "GDL308": (
        "Its body contradicts itself or the facts: a literal and its negation, `(distinct ?x ?x)`, the "
        "negation of a fact, a literal that nothing matches, a variable for which two literals leave no "
        "common value. A report is certain. Rules that only wait for an impossible rule are not reported."
    ),
    "GDL309": "The same rule stands earlier, perhaps with other variable names or another order of literals.",
    "GDL310": "A more general rule, or a fact, concludes everything this rule concludes.",
    "GDL311": "`(or a (or b c))` is `(or a b c)`, `(or a)` is `a`, and `(or)` never holds.",
    "GDL312": "`(<= p)` is the fact `p`.",
    "GDL313": (
        "As a term `(f)` differs from the constant `f`. As an atom, `(p)` and `p` are the same, which some "
        "programs do not know."
    ),
    "GDL314": (
        "Besides letters and digits, names consist of `_ + - * / < > = .`; other programs may read other "
        "characters differently. A comma is not a separator in GDL."
    ),
    "GDL315": (
        "Letter case is ignored: `Cell` and `cell` are the same, and so are the variables `?X` and `?x` of a "
        "rule. Use one spelling."
    ),
    "GDL316": "A rule for `init` or `next` makes a fact that cannot be among those that `base` lists.",
    "GDL317": "A rule for `legal` makes a move that cannot be among those that `input` lists.",
    "GDL318": (
        "A fact or move is wrapped in a function each time, as in `(<= (next (count (s ?n))) (true (count "
        "?n)))`, perhaps without end. Join the variable with a relation that has finitely many values for it."
    ),
    "GDL319": "Allowed, but hard to read.",
    "GDL320": (
        "`(cell 1 1 b)` in a body asks for the relation `cell`, not for the fact `(true (cell 1 1 b))`. If "
        "you mean both, use two names."
    ),
    "GDL321": (
        "`sees`, `base` and `input` are younger than the language. With another number of arguments they are "
        "ordinary relations, which confuses readers and some programs."
    ),
    "GDL322": "No rule for `legal`, or for `goal`, can be about this role. The role `random` needs no goal.",
    "GDL323": (
        "`base` or `input` lists a fact or move of a name that no rule makes. Listing more values than occur "
        "is fine."
    ),
    "GDL324": (
        "The goal is a variable with other values too: `(goal ?r ?n)` with `(score ?r ?n)`, if a score may "
        "be 150. The rest of the body may prevent it; `--play` and `--prove` look for it."
    ),
    "GDL325": (
        "A name that is not a role stands where the rules expect roles, and nothing else in the sheet "
        "mentions it: probably a role misspelled in `init` or `next`, such as `(init (control whyte))`. "
        "Often GDL308 follows. Arguments that may be a role or something else, such as who occupies a cell, "
        "are not reported. For the keywords' own arguments see GDL212."
    ),
    "GDL326": (
        "After the moves only what rules for `next` conclude holds. Here they make facts of this name, but "
        "none reads the current ones, so all others vanish. Write a rule for what stays, such as `(<= (next "
        "(cell ?x ?y b)) (true (cell ?x ?y b)) ...)`. Reported for facts of two or more arguments of which "
        "several hold at first, unless every move of a role makes its own fact again. `random` may wait."
    ),
    "GDL327": (
        "There is no `init`: the match starts in a state in which nothing holds. If that is intended, a fact "
        "such as `(init start)` says so."
    ),
    "GDL328": (
        "`(not (distinct ?x ?y))` says that the two are equal. Use one variable, or the constant, for both."
    ),
    "GDL329": (
        "`(<= (sees robot (does red ?m)) (does red ?m))` is allowed, but a percept is neither a move nor a "
        "fact of the game: another name is clearer. Elsewhere this is GDL215."
    ),
    "GDL330": (
        "Players ignore such a goal. A name is misspelled, a `role` fact is missing, or the rule can go."
    ),
    "GDL331": (
        "`; gdl: ignore` with a code that does not exist, that cannot be silenced, or of which there is no "
        "finding where the comment stands."
    ),
    "GDL332": (
        "`(+ ?n 1)` is a term like any other and is never added up. Join the variable with a relation: `(<= "
        "(next (count ?m)) (true (count ?n)) (succ ?n ?m))`. Not reported if the sheet has such terms "
        "without variables."
    ),
}
