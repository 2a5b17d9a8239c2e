"""What a search_filter lets through, and which ones are refused."""

from typing import Any

import pytest

from reme_store.errors import InvalidRequestError
from reme_store.search_filter import note_date, parse_filter


@pytest.mark.parametrize(
    "given",
    [
        {"start_date": "yesterday"},
        {"end_date": "2026-02-30"},
        {"start_date": "2026-02-02", "end_date": "2026-02-01"},
        {"path": 7},
        {"path": "../outside"},
        {"path": "/"},
        ["digest"],
    ],
)
def test_a_wrong_filter_is_refused(given: Any) -> None:
    with pytest.raises(InvalidRequestError):
        parse_filter(given)


@pytest.mark.parametrize("given", [None, {}, {"path": ""}, {"path": None, "start_date": ""}])
def test_no_filter_has_the_default_scope(given: Any) -> None:
    assert parse_filter(given).prefixes == ()
    assert parse_filter(given).is_plain


def test_a_folder_is_named_with_or_without_slash() -> None:
    assert parse_filter({"path": "./digest/wiki/"}).prefixes == ("digest/wiki",)
    assert parse_filter({"path": ["digest", "daily"]}).prefixes == ("digest", "daily")


def test_the_day_of_a_note_is_that_of_its_path_else_of_its_front_matter() -> None:
    assert note_date("daily/2026-01-02/x.md", {"updated": "2026-03-03"}) == "2026-01-02"
    assert note_date("digest/x.md", {"created": "2026-01-01", "updated": "2026-03-03T10:00:00"}) == "2026-03-03"
    assert note_date("digest/x.md", {"created": "2026-01-01"}) == "2026-01-01"
    assert note_date("digest/2026-99-99.md", {}) == ""
