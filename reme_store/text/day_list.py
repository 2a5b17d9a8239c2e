"""Where does a day's page list its notes? Between two markers, each at the margin of a line of its own.

The list is derived from the notes it names. It is therefore no text of a person, no material of a dream, and nothing
a search should find beside the notes themselves.
"""

import re

from reme_store.text.quoted import quoted_spans

OPENER = "<!-- reme:index -->"
CLOSER = "<!-- /reme:index -->"
_LIST = re.compile(
    rf"(?:^|(?<=\ufeff)){re.escape(OPENER)}(?:(?!{re.escape(OPENER)}).)*?{re.escape(CLOSER)}", re.DOTALL | re.MULTILINE
)
"""Opened at the margin of a line: a marker that a person mentions in a sentence is text."""
_FENCES = ("```", "~~~")
_DAY_PAGE = re.compile(r"daily/\d{4}-\d{2}-\d{2}\.md")
_TOPICS = re.compile(r"daily/\d{4}-\d{2}-\d{2}/interests\.yaml")
_CHARACTERS = re.compile(r"[^\r\n]+")


def is_day_page(path: str) -> bool:
    """Tell whether a path is that of a day's index page."""
    return _DAY_PAGE.fullmatch(path) is not None


def is_topics(path: str) -> bool:
    """Tell whether a path is that of a day's topics of interest."""
    return _TOPICS.fullmatch(path) is not None


def list_spans(page: str) -> list[tuple[int, int]]:
    """Return the offsets of the lists; one that is shown as code is a person's text."""
    found = [match.span() for match in _LIST.finditer(page)]
    code = [span for span in quoted_spans(page) if _is_closed_fence(page[slice(*span)])] if found else []
    return [(start, end) for start, end in found if not any(first < start < last for first, last in code)]


def blank_lists(page: str) -> str:
    """Return the page with its lists emptied; every other line keeps its number."""
    pieces, last = [], 0
    for start, end in list_spans(page):
        pieces += [page[last:start], _CHARACTERS.sub("", page[start:end])]
        last = end
    return "".join([*pieces, page[last:]])


def _is_closed_fence(quoted: str) -> bool:
    """Whether quoted text is a fence with an end of its own; an open one would swallow every list below it."""
    return quoted.lstrip(" \t>").startswith(_FENCES) and quoted.rstrip().endswith(_FENCES)
