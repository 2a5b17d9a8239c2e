"""Which topics of interest does a day keep?

The day's own come first, then new ones that no recent day has proposed. Two titles are one topic when they differ
only in case, width and punctuation; the first spelling stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reme_graphs.auto_dream.units import clean_paths, fold_words

Topic = dict[str, Any]


def clean_topics(rows: Iterable[Mapping[str, Any]], allowed: Sequence[str]) -> list[Topic]:
    """Keep topics with a title and with a path that was shown."""
    topics = []
    for row in rows:
        paths = clean_paths(row.get("paths", []), allowed)
        if fold_words(str(row["title"])) and paths:
            topics.append({**row, "title": " ".join(str(row["title"]).split()), "paths": paths})
    return topics


def fresh_topics(candidates: Iterable[Topic], same_day: Iterable[Topic], recent: Iterable[Topic]) -> list[Topic]:
    """Return the candidates that are new to the day and to the recent days, each topic once."""
    seen = {key_of(topic) for topic in (*same_day, *recent)}
    fresh: dict[str, Topic] = {}
    for topic in candidates:
        key = key_of(topic)
        if key and key not in seen:
            fresh.setdefault(key, topic)
    return list(fresh.values())


def chosen_of(fresh: Sequence[Topic], selected: Iterable[Mapping[str, Any]], places: int) -> list[Topic]:
    """Return the candidates a model has selected, in its order; what was not offered does not count."""
    offered = {key_of(topic): topic for topic in fresh}
    keys = dict.fromkeys(key_of(topic) for topic in selected)
    return [offered[key] for key in keys if key in offered][:places]


def key_of(topic: Mapping[str, Any]) -> str:
    """Return what tells a topic from others; empty for a title without letters and digits."""
    return fold_words(str(topic.get("title", "")))
