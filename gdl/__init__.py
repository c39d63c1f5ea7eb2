"""The Game Description Language: reading, checking, reasoning, grounding."""
