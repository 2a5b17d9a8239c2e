"""Which changes of a workspace are tried out on the edge? One a tool, on the workspace of the crash tests."""

from collections.abc import Callable

from reme_store import FileStore

HUB = "digest/wiki/hub.md"


def _restore_first(store: FileStore) -> None:
    store.restore(HUB, store.history(HUB).metadata["versions"][-1]["version"])


def _apply(store: FileStore) -> None:
    writes = {HUB: None, "digest/wiki/in0.md": "zero", "digest/wiki/b.md": "b"}
    store.apply(writes, records={"ledger/dream.json": b"after"})


ACTIONS: dict[str, Callable[[FileStore], object]] = {
    "append": lambda store: store.append(HUB, "more [[digest/wiki/in0.md]]"),
    "apply": _apply,
    "delete": lambda store: store.delete(HUB),
    "edit": lambda store: store.edit(HUB, "center", "middle"),
    "frontmatter_update": lambda store: store.frontmatter_update(HUB, {"status": "active"}),
    "move": lambda store: store.move(HUB, "digest/personal/moved/hub.md"),
    "move_folder": lambda store: store.move("digest/wiki/sub", "digest/personal/sub2"),
    "restore": _restore_first,
    "write": lambda store: store.write("digest/wiki/fresh/new.md", "new [[digest/wiki/hub.md]]" * 9, name="new"),
}
