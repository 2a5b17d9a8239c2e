"""What the offline tests share: notes as the graphs keep them, and the sentences a note states."""

import re
from collections.abc import Callable

import pytest

from reme_graphs.offline import Candidate, Material, OfflineOutcome


def squeezed(text: str) -> str:
    return re.sub(r"[\s*_`]+", "", text)


def stated(text: str) -> list[str]:
    """Lines of a note that state something: no front matter, headings, predicates, fences."""
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    lines = [line for line in body.split("\n") if line.strip() and not re.match(r"\s*(?:#|\w+::|```)", line)]
    return [re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line) for line in lines]


@pytest.fixture
def said() -> Callable[..., list[dict[str, str]]]:
    """Messages from (role or name, text) pairs."""

    def make(*turns: tuple[str, str]) -> list[dict[str, str]]:
        rows = []
        for number, (who, text) in enumerate(turns):
            known = who in ("user", "assistant", "tool", "system")
            rows.append(
                {"id": str(number), "role": who if known else "user", "name": "" if known else who, "text": text}
            )
        return rows

    return make


@pytest.fixture
def daily() -> Callable[[str, str], Material]:
    """A daily note of a path and a body."""

    def make(path: str, body: str) -> Material:
        return Material(path, f"---\nname: {path.rsplit('/', 1)[-1][:-3]}\n---\n{body}")

    return make


@pytest.fixture
def kept() -> Callable[[OfflineOutcome], Candidate]:
    """The note an outcome leaves, as recall would find it."""

    def make(outcome: OfflineOutcome) -> Candidate:
        return Candidate(outcome.target_path, outcome.target_path.rsplit("/", 1)[-1][:-3], "", outcome.text)

    return make
