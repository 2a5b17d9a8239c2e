"""Which task is this: today's, one of the days before, or a new one?

Pure rules over what is known of the tasks in reach.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reme_graphs.messages import Message
from reme_graphs.offline import slug
from reme_graphs.offline.terms import stem, terms
from reme_store.errors import InvalidPathError

SAME_TITLE = 0.6
"""Share of words two titles of one task have in common, at least."""
SAME_WORK = 0.3
"""Share of an update's words that the task's note knows, at least, where the conversation goes on."""
_FOLDER = re.compile(r"daily/(\d{4}-\d{2}-\d{2})/([^/]+)(?:/\2\.md)?")
_PATHLIKE = re.compile(r"^(?:/|~|\.{1,2}/|daily/|[A-Za-z]:[\\/])|\.\.|\\|/$")
_DONE = re.compile(
    r"\b(?:task|project|migration|work|everything|all of it|it all|this|that|it|job|all|we)\b.{0,30}?"
    r"(?:\b(?:is|are|has been|have been|was|got)\b|'s|'re)\s+(?:all |now |fully |completely |finally )*"
    r"(?:done|finished|complete|completed|delivered|shipped|closed|wrapped up)\b|"
    r"\b(?:mark|close|consider|set|call)\b.{0,40}\b(?:done|finished|complete|completed|closed)\b|"
    r"\b(?:finished|completed|delivered|shipped|closed) (?:the|this|our|my) (?:\w+ ){0,3}(?:task|project|work|job)\b|"
    r"\b(?:task|project|work|job|everything) (?:all )?(?:done|finished|completed?|closed|delivered)\s*(?:[.!]|$)|"
    r"\b(?:finishes|completes|concludes) (?:the|this|our|my) (?:\w+ ){0,3}(?:task|project|work|job)\b|"
    r"\bclose (?:the|this|our|my) (?:task|project|job)\b|"
    r"^(?:all )?(?:done|finished|completed|shipped|delivered)\s*(?:[.!]|,? thank|$)|^all done\b|^that'?s (?:all|it)\b|"
    r"(?:任务|项目|工作|迁移|全部|都|整个|已经|事情|这个).{0,12}(?:完成|做完|结束|交付|搞定|上线)了?|"
    r"(?:完成|搞定|结束|交付)了|收工|大功告成",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:not|isn'?t|aren'?t|n't|never|almost|nearly|half|until|when|once|if|before|after|partly|"
    r"step|part|phase|first)\b|"
    r"[?？]|没|未|还差|快要|之前|之后|如果|等.{0,8}再|要在|将[在于要]|必须|争取|下周|计划.{0,4}(?:上线|完成|交付|结束)|一半|第.步|部分|什么时候",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Task:
    """A task note in reach."""

    note_path: str
    day: str
    title: str
    status: str
    text: str
    heard: frozenset[str] = frozenset()
    """Hashes of the messages of its last run."""

    @property
    def folder(self) -> str:
        """Its folder, without a trailing slash."""
        return self.note_path.rpartition("/")[0]

    @property
    def slug(self) -> str:
        """Name of its folder."""
        return self.folder.rpartition("/")[2]


def read_hint(hint: str) -> tuple[str, str]:
    """Tell a title from a folder. Returns (title, folder without a trailing slash), one of them empty.

    Raises:
        InvalidPathError: the hint is a path, but none of a task's folder.
    """
    text = hint.strip()
    if not text or not _PATHLIKE.search(text):
        return text, ""
    found = _FOLDER.fullmatch(text.rstrip("/"))
    if not found or ".." in text or "\\" in text or found[2].startswith("."):
        raise InvalidPathError(
            f"the workspace hint {hint!r} is no folder of a task; give a title or 'daily/<YYYY-MM-DD>/<slug>/'",
            path=hint,
        )
    return "", f"daily/{found[1]}/{found[2]}"


def choose_today(tasks: Sequence[Task], title: str, update: Mapping[str, Any], heard: Collection[str]) -> Task | None:
    """The task of today that an update goes on with.

    The same slug, else nearly the same title with the same numbers, else the conversation of the task's last run going
    on about the same work: a model that varies its title does not start a second folder. Titles that each have a word
    of their own name one task only where conversation or note says so too.
    """
    wanted = slug(title)
    exact = [t for t in tasks if t.title == title or (wanted and wanted in (slug(t.title), t.slug))]
    alike = sorted(tasks, key=lambda task: -likeness(task.title, title))
    near = [
        task
        for task in alike
        if likeness(task.title, title) >= SAME_TITLE
        and _numbers(task.title) == _numbers(title)
        and (_says_no_more(task.title, title) or task.heard & set(heard) or knows(task.text, update) >= SAME_WORK)
    ]
    said = set(heard)
    going_on = [task for task in tasks if task.heard and task.heard <= said and knows(task.text, update) >= SAME_WORK]
    return next(iter([*exact, *near, *going_on]), None)


def choose_earlier(tasks: Sequence[Task], title: str) -> Task | None:
    """The latest active task of the same title in the days before."""
    active = [task for task in tasks if task.status != "completed"]
    same = [task for task in active if slug(task.title) == slug(title) or likeness(task.title, title) == 1.0]
    return max(same, key=lambda task: (task.day, task.note_path), default=None)


def likeness(left: str, right: str) -> float:
    """Share of words two titles have in common, order and form of words ignored; 0 where one has none."""
    first, second = _words(left), _words(right)
    return len(first & second) / len(first | second) if first and second else 0.0


def knows(text: str, update: Mapping[str, Any]) -> float:
    """Share of the words of an update that a note has."""
    parts = [update.get("title", ""), update.get("objective", ""), *update.get("plan", []), *update.get("progress", [])]
    parts += [*update.get("findings", []), *update.get("decisions", [])]
    parts += [str(step.get("text", "")) for step in update.get("next", [])]
    said = set(terms("\n".join(str(part) for part in parts)))
    return len(said & set(terms(text))) / len(said) if said else 0.0


def hash_messages(messages: Sequence[Message]) -> list[str]:
    """Short hashes of what people and the assistant said, by which a conversation is known again."""
    spoken = [m for m in messages if m["role"] in ("user", "assistant") and m["content"].strip()]
    return [hashlib.sha256(f"{m['role']}\n{m['content']}".encode()).hexdigest()[:16] for m in spoken]


def is_said_done(messages: Sequence[Message], title: str) -> bool:
    """Tell whether a person said that the whole task is finished; an assistant's word does not count."""
    lines = [line for m in messages if m["role"] == "user" for line in re.split(r"(?<=[.!。！])\s*|\n", m["content"])]
    named = re.compile(
        rf"{re.escape(title)}.{{0,20}}(?:done|finished|complete|delivered|shipped|完成|结束|交付)", re.IGNORECASE
    )
    return any((_DONE.search(line) or named.search(line)) and not _NOT_DONE.search(line) for line in lines)


def free_name(name: str, taken: Iterable[str]) -> str:
    """A descriptive file name for a material that no file of the folder has, case ignored.

    Args:
        name: as the model gave it; a folder before it and its extension go.
        taken: names of the folder.
    """
    stem_of = (
        slug(re.sub(r"\.(?:md|markdown|txt)$", "", name.strip().rsplit("/", 1)[-1], flags=re.IGNORECASE)) or "material"
    )
    used = {other.casefold() for other in taken}
    free, number = f"{stem_of}.md", 2
    while free.casefold() in used:
        free, number = f"{stem_of}-{number}.md", number + 1
    return free


def _says_no_more(left: str, right: str) -> bool:
    """Tell whether one of two titles has all the words of the other."""
    first, second = _words(left), _words(right)
    return first <= second or second <= first


def _numbers(title: str) -> list[str]:
    return re.findall(r"\d+", title)


def _words(title: str) -> frozenset[str]:
    latin = {stem(word) for word in re.findall(r"[^\W\d_]+|\d+", title.casefold()) if word.isascii()}
    return frozenset(latin - {"the", "a", "an", "of", "for", "to", "and", "in", "on"}) | frozenset(
        t for t in terms(title) if not t.isascii()
    )
