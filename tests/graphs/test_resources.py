"""Are stores shared, closed when idle, and never mistaken for the one of another folder?"""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme_graphs.context import Context
from reme_graphs.resources import OpenStores, Turns, open_workspace


@pytest.fixture
def stores() -> Iterator[OpenStores]:
    opened = OpenStores()
    yield opened
    opened.close_idle()


def test_users_of_one_folder_share_one_store(stores: OpenStores, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "memory")
    with stores.use(tmp_path / "memory", "") as first, stores.use(tmp_path / "link", "") as second:
        assert first is second
    with stores.use(tmp_path / "memory", "") as third:
        assert third is first


def test_a_store_is_closed_only_when_nobody_uses_it(stores: OpenStores, tmp_path: Path) -> None:
    with stores.use(tmp_path / "memory", "") as store:
        stores.close_idle()
        store.write("a.md", "text")
        assert "a.md" in store.search("text").answer
    stores.close_idle()
    with stores.use(tmp_path / "memory", "") as again:
        assert again is not store and "a.md" in again.search("text").answer


def test_a_folder_made_anew_gets_a_store_of_its_own(stores: OpenStores, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with stores.use(folder, "") as store:
        store.write("a.md", "text of old")
    shutil.move(folder, tmp_path / "kept")
    with stores.use(folder, "") as fresh:
        assert fresh is not store and fresh.version_of("a.md") is None
        fresh.write("b.md", "text of new")
    assert (folder / "b.md").exists() and not (tmp_path / "kept/b.md").exists()


def test_zones_do_not_share_a_store(stores: OpenStores, tmp_path: Path) -> None:
    with stores.use(tmp_path, "UTC") as one, stores.use(tmp_path, "Asia/Shanghai") as other:
        assert one is not other
        one.write("a.md", "seen by both")
        assert "a.md" in other.search("seen").answer


def test_a_store_that_fails_to_open_leaves_nothing_behind(stores: OpenStores, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(FileExistsError), stores.use(tmp_path / "file", ""):
        pass
    with stores.use(tmp_path / "memory", "") as store:
        assert store.root == tmp_path / "memory"


def test_a_context_names_its_workspace(workspace: Path) -> None:
    with open_workspace(Context(workspace=str(workspace))) as store:
        assert store.root == workspace


def test_turns_are_taken_one_at_a_time() -> None:
    turns, inside, most = Turns(), [0], [0]

    def work() -> None:
        for _ in range(50):
            with turns.take("a"):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    with turns.take("a"), turns.take("b"):
        pass
