import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_graphs.offline import slug


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Migrate Billing Database", "migrate-billing-database"),
        ("  龙井绿茶, 咖啡 ", "龙井绿茶-咖啡"),
        ("Café Ω — Ünï", "café-ω-ünï"),
        ("C++ and C#", "cpp-and-csharp"),
        ("CON", "con-note"),
        ("Ana's [[x]] #1|2", "anas-x-1-2"),
        ("???", ""),
        ("ＡＢＣ", "abc"),
    ],
)
def test_a_title_becomes_a_readable_stem(title: str, stem: str) -> None:
    assert slug(title) == stem


@settings(deadline=None)
@given(st.text(max_size=300))
def test_a_stem_is_short_stable_and_free_of_path_syntax(title: str) -> None:
    stem = slug(title)
    assert len(stem) <= 65
    assert len(stem.encode()) <= 190
    assert not set(stem) & set("/\\[]#|:. ")
    assert slug(stem) in (stem, f"{stem}-note")
