"""Syntax: rule sheets as text, in KIF and in infix form.

foreign_notation  what other languages, web pages and chat answers put into sheets, recognized before parsing
foreign_text      of it, what surrounds the rules, and characters that only look right
foreign_in_kif    of it, habits in KIF: calls, commas, arrows, operators, comments, prose
foreign_in_infix  of it, habits in infix form
brackets        checks before parsing: parentheses, nesting, control characters
kif.lark        grammar of the prefix form
infix.lark      grammar of the infix form
term_builders   parser callbacks that build terms
syntax_errors   diagnostics from the parser's exceptions
forms           terms to rules, atoms and formulas
parser          text to `Program` or term, through all of the above
printer         terms, rules and programs to text, in both forms
formatting      canonical layout of a KIF text, comments included
"""
