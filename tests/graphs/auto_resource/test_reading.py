"""Is every type of resource shown in a form that can be read, and is nothing half-parsed?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme_graphs.auto_resource.reading import SAMPLED, read_material, sample_places, split_material

PAGE = """<!doctype html><html><head><title>Price list</title><style>p{}</style><script>alert("no")</script>
<body><nav>menu</nav><h2>Panels</h2><p>Good  &amp; cheap.<br>New line</p><ul><li>one<li>two</ul>
<table><tr><th>Name</th><th>Watt</th></tr><tr><td>A1</td><td>400</td></tr></table>
<img src=x alt="a roof"></body></html>"""


def test_a_page_becomes_readable_text() -> None:
    text = read_material("resource/a.html", PAGE).text
    assert "# Price list" in text and "## Panels" in text and "Good & cheap.\nNew line" in text
    assert "- one\n- two" in text and "| A1 | 400" in text and "[image: a roof]" in text
    assert "alert" not in text and "menu" not in text and "p{}" not in text


def test_a_small_table_is_shown_whole_and_counted() -> None:
    material = read_material("resource/a.csv", "name;price\npear;2\nplum;3\n")
    assert material.text == "name;price\npear;2\nplum;3\n" and material.about == "table of 2 rows and 2 columns"


def test_a_long_table_is_described_counted_and_sampled_from_all_over() -> None:
    rows = [f'{n},"city, {n % 7}",{n * 1.5}' for n in range(5000)]
    material = read_material("resource/a.csv", "\n".join(["id,place,amount", *rows, "1,short"]))
    assert material.about.startswith("table of 5001 rows and 3 columns, 1 of them with another number of cells")
    assert "- amount: 5000 filled, 5000 different, numbers from 0 to 7498.5" in material.text
    assert (
        "city, 0 (" in material.text
        and "row 1: 0 | city, 0 | 0.0" in material.text
        and "row 5001: 1 | short" in material.text
    )
    assert len(material.text) < 20_000


def test_quotes_of_a_table_are_read_wherever_they_begin() -> None:
    rows = [f"{n},plain text number {n}" for n in range(1000)] + ['1000,"he said ""x, y"" ok"'] * 10
    material = read_material("resource/a.csv", "\n".join(["id,quote", *rows]))
    assert material.about.startswith("table of 1010 rows and 2 columns;")
    assert 'row 1010: 1000 | he said "x, y" ok' in material.text
    torn = 'id,text\n1,"never closed\n' + "2,more words\n" * 3000
    material = read_material("resource/a.csv", torn)
    assert material.text == torn and "no readable table" in material.about


def test_decimal_commas_are_no_thousands_and_figures_are_whole() -> None:
    german = "\n".join(["id;price;sum", *(f'{n};{n},50;"{n + 1},000,000.5"' for n in range(1, 3000) if n < 999)])
    text = read_material("resource/a.csv", german + "\n" + " " * 20_000).text
    assert "- price: 998 filled, 998 different, most often 1,50 (1)" in text
    assert "- sum: 998 filled, 998 different, numbers from 2000000.5 to 999000000.5" in text


def test_records_within_an_object_have_fields_counts_and_samples_from_all_over() -> None:
    orders = [{"id": n, "city": "Lisbon", "note": "words " * 5} for n in range(2000)]
    outline = json.loads(read_material("resource/a.json", json.dumps({"version": 3, "orders": orders})).text)
    assert outline["version"] == 3 and outline["orders"]["fields"] == {"id": 2000, "city": 2000, "note": 2000}
    assert outline["orders"]["…"].startswith("2000 records") and outline["orders"]["record 2000"]["id"] == 1999


def test_a_page_with_an_element_that_never_ends_is_read_to_its_end() -> None:
    page = "<body><nav>menu<p>The price is 40.</p><pre>a\n  b</pre><script>no()</script></body>"
    text = read_material("resource/a.html", page).text
    assert "The price is 40." in text and "a\nb" in text and "no()" not in text


def test_records_are_described_by_their_fields() -> None:
    records = [{"id": n, "text": "words " * 30, **({"rare": 1} if n % 10 == 0 else {})} for n in range(1000)]
    for path, text in (("a.json", json.dumps(records)), ("a.jsonl", "\n".join([*map(json.dumps, records), '{"torn']))):
        material = read_material(f"resource/{path}", text)
        assert "1000 records" in material.about or "1001 JSON lines, 1 of them not readable" in material.about
        assert "- id: in 1000 records" in material.text and "- rare: in 100 records" in material.text
        assert "record 1000" in material.text and len(material.text) < 60_000


def test_a_long_object_is_outlined_with_counts() -> None:
    material = read_material(
        "resource/a.json", json.dumps({"title": "T", "rows": list(range(9000)), "text": "x" * 30_000})
    )
    outline = json.loads(material.text)
    assert (
        outline["title"] == "T" and outline["rows"] == [0, 1, 2, 3, 4, "… 9000 items"] and len(outline["text"]) < 2000
    )


@pytest.mark.parametrize("text", ['{"a": 1', "[" * 100_000])
def test_what_does_not_parse_is_shown_as_text_and_called_so(text: str) -> None:
    material = read_material("resource/a.json", text)
    assert material.text == text and "no valid JSON" in material.about


@given(st.text(max_size=400), st.integers(1, 60))
def test_pieces_cover_the_text_and_fit(text: str, room: int) -> None:
    pieces = split_material(text, room)
    assert "".join(pieces) == text and all(len(piece) <= room for piece in pieces)


@given(st.integers(0, 5000))
def test_samples_are_places_that_exist(count: int) -> None:
    places = sample_places(count)
    assert places == sorted(set(places)) and len(places) <= SAMPLED and all(0 <= place < count for place in places)
    assert not count or {0, count - 1} <= set(places)
