"""Links in code are found at a glance where that is safe, and line by line elsewhere; both agree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.text import quoted, wikilinks
from reme_store.text.wikilinks import parse_wikilinks

LINES = """\
```|```py|~~~|````|  ```|- ```|> ```|> x [[q]]|||[[a]]|    [[b]]|\t[[c]]|- [[d]]|  [[e]] `[[f]]`|# h|text|text ``` x
``` a ``` [[g]]|`x|[[h]]`|- a|      [[i]]|1. x|```\r|rel:: [[j]]|~~~~ z|> > [[k]]|    - [[l]]|$x$ [[m]]|<!-- [[n]]|-->\
""".replace("\n", "|").split("|")


@settings(max_examples=500)
@given(st.lists(st.sampled_from(LINES), max_size=9).map("\n".join))
def test_the_glance_and_the_scan_find_the_same_links(text: str) -> None:
    quick = parse_wikilinks(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikilinks, "spans_with_links", quoted.quoted_spans)
        assert parse_wikilinks(text) == quick


def test_a_quote_sign_inside_a_fence_does_not_end_it() -> None:
    assert parse_wikilinks("```\n> shell prompt\n[[a]]\n```\n[[b]]\n")[0].target == "b"
