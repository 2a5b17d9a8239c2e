"""Whatever tools, people and crashes do, in any order: files, link graph, index and history agree with a rebuild."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reme_store import FileStore, InvalidRequestError, open_store
from reme_store.file_store import StoreOptions
from reme_store.history import History
from reme_store.transactions import Transactions

NAMES = ("a", "b", "c d", "é", "光伏", "v1.2", "sub/x", "sub/y", "sub/deep/z")
PATHS = st.sampled_from(
    [f"{folder}/{name}.md" for folder in ("digest/wiki", "daily/2026-01-01", "notes") for name in NAMES]
)
WORDS = st.lists(
    st.sampled_from(["walrus", "narwhal", "光伏产业", "R", "\r\n", "\n\n", "`[[x]]`", "# H\n"]), max_size=4
)


class _Killed(BaseException):
    """The process died here."""


class Workspace(RuleBasedStateMachine):
    """A workspace and, for each file, the text it must have."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="reme-any-"))
        self.texts: dict[str, str] = {}
        self._open()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.root)

    def _open(self) -> None:
        self.store = FileStore(self.root, StoreOptions(chunk_chars=200))
        self.store.open()

    @rule(path=PATHS, other=PATHS, words=WORDS, predicate=st.sampled_from(["", "is_a:: ", "- rel:: "]))
    def write(self, path: str, other: str, words: list[str], predicate: str) -> None:
        content = f"{' '.join(words)}\n{predicate}[[{other}]] ![[{path}#s|me]]\n"
        try:
            self.store.write(path, content, name="n", overwrite=True)
        except InvalidRequestError:
            assert (self.root / path).is_dir() or self._has_file_above(path)
        self._look(path)

    @rule(path=PATHS, words=WORDS)
    def append(self, path: str, words: list[str]) -> None:
        before = self.texts.get(path)
        try:
            self.store.append(path, " ".join(["end", *words]))
        except InvalidRequestError:
            assert before is None
        self._look(path)
        if before is not None:
            assert self.texts[path].startswith(before)

    @rule(
        path=PATHS,
        key=st.sampled_from(["tags", "status"]),
        value=st.sampled_from(["x", "[[digest/wiki/a.md]]", "2026-01-01"]),
    )
    def frontmatter_update(self, path: str, key: str, value: str) -> None:
        if path in self.texts:
            self.store.frontmatter_update(path, {key: value})
            self._look(path)

    @rule(source=PATHS, to=PATHS, overwrite=st.booleans())
    def move(self, source: str, to: str, overwrite: bool) -> None:
        try:
            self.store.move(source, to, overwrite=overwrite)
        except InvalidRequestError:
            return
        self._look_at_all()
        assert source == to or source not in self.texts

    @rule(
        source=st.sampled_from(["notes", "notes/sub", "digest/wiki/sub"]),
        to=st.sampled_from(["notes/new", "digest/wiki/sub", "top/sub"]),
    )
    def move_folder(self, source: str, to: str) -> None:
        try:
            self.store.move(source, to)
        except InvalidRequestError:
            return
        self._look_at_all()

    @rule(path=PATHS)
    def there_and_back(self, path: str) -> None:
        if path in self.texts and not (self.root / "moved/away.md").exists():
            before = dict(self.texts)
            self.store.move(path, "moved/away.md")
            self.store.move("moved/away.md", path)
            self._look_at_all()
            assert self.texts == before

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        if path in self.texts:
            self.store.delete(path)
            assert not (self.root / path).exists()
            self._look(path)

    @rule(path=PATHS, data=st.data())
    def restore(self, path: str, data: st.DataObject) -> None:
        try:
            versions = self.store.history(path).metadata["versions"]
        except InvalidRequestError:
            return
        kept = [each["version"] for each in versions if each["available"]]
        if kept:
            version = data.draw(st.sampled_from(kept))
            try:
                self.store.restore(path, version)
            except InvalidRequestError:
                return
            assert self.store.version_of(path) == version
            self._look(path)

    @rule(path=PATHS, words=WORDS)
    def a_person_writes(self, path: str, words: list[str]) -> None:
        place = self.root / path
        if not place.is_dir() and not self._has_file_above(path):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(" ".join(words).encode())
            self.store.refresh()
            self._look(path)

    @rule(path=PATHS)
    def a_person_deletes(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.store.refresh()
        self._look(path)

    @rule(path=PATHS)
    def a_person_deletes_while_closed(self, path: str) -> None:
        self.store.close()
        (self.root / path).unlink(missing_ok=True)
        self._open()
        self._look(path)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self._open()

    @rule()
    def lose_the_index(self) -> None:
        self.store.close()
        for name in ("file_store", "file_graph", "keyword_index"):
            shutil.rmtree(self.root / "reme_metadata" / name)
        self._open()

    @rule(path=PATHS, to=PATHS, step=st.integers(0, 6), how=st.sampled_from(["move", "apply", "delete"]))
    def crash(self, path: str, to: str, step: int, how: str) -> None:
        """Stop in the middle of carrying out, as a killed process does: nothing after it runs."""
        before, done = dict(self.texts), 0
        carry_out = Transactions._carry_out

        def die(transactions: Transactions, change: Any) -> None:
            nonlocal done
            if done == step:
                raise _Killed
            done += 1
            carry_out(transactions, change)

        Transactions._carry_out = die  # type: ignore[method-assign]  # the moment of death
        try:
            if how == "move":
                self.store.move(path, to)
            elif how == "delete":
                self.store.delete(path)
            else:
                self.store.apply({path: "applied [[notes/a.md]]\n", to: None, "daily/x.md": "x\n"})
        except (InvalidRequestError, _Killed):
            pass
        finally:
            Transactions._carry_out = carry_out  # type: ignore[method-assign]  # alive again
        self.store.close()
        self._open()
        self._look_at_all()
        if how == "delete" and path in before and path not in self.texts:
            assert self.texts == {key: text for key, text in before.items() if key != path}

    def _has_file_above(self, path: str) -> bool:
        return any((self.root / parent).is_file() for parent in Path(path).parents)

    def _look(self, path: str) -> None:
        place = self.root / path
        self.texts.pop(path, None)
        if place.is_file():
            self.texts[path] = place.read_bytes().decode()

    def _look_at_all(self) -> None:
        files = [path for path in self.root.rglob("*.md") if "reme_metadata" not in path.parts]
        self.texts = {path.relative_to(self.root).as_posix(): path.read_bytes().decode() for path in files}

    @invariant()
    def files_are_what_was_done_to_them(self) -> None:
        if hasattr(self, "store"):
            remembered = dict(self.texts)
            self._look_at_all()
            assert remembered == self.texts
            assert not list(self.root.rglob(".reme-*"))

    @invariant()
    def index_equals_a_rebuilt_one(self) -> None:
        if not hasattr(self, "store"):
            return
        shown = picture(self.store)
        assert {path for path, *_ in shown} == set(self.texts)
        assert History(self.root / "reme_metadata/history").pending() is None
        bare = Path(tempfile.mkdtemp(prefix="reme-bare-"))
        try:
            for path, text in self.texts.items():
                (bare / path).parent.mkdir(parents=True, exist_ok=True)
                (bare / path).write_bytes(text.encode())
            with open_store(bare, chunk_chars=200) as rebuilt:
                assert picture(rebuilt) == shown
        finally:
            shutil.rmtree(bare)


def picture(store: FileStore) -> list[tuple[Any, ...]]:
    """Return all that the index says of each note, times left out."""
    store.search("walrus")
    return sorted(
        (
            node.path,
            store.index.known()[node.path].sha256,
            sorted(map(str, node.links)),
            sorted(map(str, store.inlinks(node.path))),
            node.chunk_ids,
            str(node.front_matter),
        )
        for node in store.index.nodes()
    )


Workspace.TestCase.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
TestAnySequence = Workspace.TestCase
