"""Which task does an update belong to, and what counts as finished?"""

from typing import Any

import pytest

from reme_graphs.messages import Message
from reme_graphs.synchronizer.location import (
    Task,
    choose_earlier,
    choose_today,
    free_name,
    is_said_done,
    likeness,
    read_hint,
)
from reme_store.errors import InvalidPathError


def task(title: str, day: str = "2026-01-12", stem: str = "", **more: Any) -> Task:
    stem = stem or title.lower().replace(" ", "-")
    return Task(f"daily/{day}/{stem}/{stem}.md", day, title, more.pop("status", "active"), more.pop("text", ""), **more)


def user(*texts: str) -> list[Message]:
    return [Message(id=str(n), role="user", content=text) for n, text in enumerate(texts)]


@pytest.mark.parametrize("hint", ["Migrate Billing", "CI/CD move", "数据库迁移", ""])
def test_a_title_is_a_hint(hint: str) -> None:
    assert read_hint(hint) == (hint, "")


@pytest.mark.parametrize("hint", ["daily/2026-01-12/a/", "daily/2026-01-12/a", "daily/2026-01-12/a/a.md"])
def test_a_folder_is_a_hint(hint: str) -> None:
    assert read_hint(hint) == ("", "daily/2026-01-12/a")


@pytest.mark.parametrize(
    "hint",
    [
        "../x/",
        "daily/../../x/",
        "/etc/",
        "~/x",
        "daily/",
        "digest/wiki/",
        "daily/2026-01-12/a/b/",
        "C:\\x",
        "daily/2026-01-12/.x/",
    ],
)
def test_any_other_path_is_refused(hint: str) -> None:
    with pytest.raises(InvalidPathError):
        read_hint(hint)


@pytest.mark.parametrize(
    "title",
    [
        "migrate BILLING database",
        "Migrate Billing Database",
        "Billing database migration",
        "Migrating the billing database",
    ],
)
def test_a_varied_title_finds_the_task_of_today(title: str) -> None:
    assert choose_today([task("Plan Party"), task("Migrate Billing Database")], title, {}, []) == task(
        "Migrate Billing Database"
    )


def test_another_title_is_another_task() -> None:
    assert choose_today([task("Migrate Billing Database")], "Plan the summer party", {}, []) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Write chapter 1 of the book", "Write chapter 2 of the book"),
        ("Fix bug in v1", "Fix bug in v2"),
        ("Deploy service to staging cluster", "Deploy service to production cluster"),
        ("🎉", "🚀"),
        ("迁移用户库", "迁移订单库"),
    ],
)
def test_a_title_that_differs_in_a_number_or_a_word_is_another_task(one: str, other: str) -> None:
    assert choose_today([task(one, stem="task")], other, {}, []) is None


def test_a_title_with_another_word_is_the_same_task_where_the_conversation_goes_on() -> None:
    known = task("Deploy service to staging cluster", heard=frozenset({"a"}))
    assert choose_today([known], "Deploy service to staging machines", {}, ["a", "b"]) == known


def test_a_renamed_task_is_known_by_its_conversation_and_its_work() -> None:
    known = task("Migrate Billing Database", text="dump the tables, restore to Postgres", heard=frozenset({"a", "b"}))
    same = {"progress": ["dump of tables done"], "next": [{"text": "restore Postgres"}]}
    other = {"objective": "bake a cake", "progress": ["bought flour and sugar"]}
    assert choose_today([known], "Postgres Rollout", same, ["a", "b", "c"]) == known
    assert choose_today([known], "Postgres Rollout", same, ["x", "c"]) is None
    assert choose_today([known], "Bake a cake", other, ["a", "b", "c"]) is None


def test_the_latest_active_task_of_the_title_is_carried_on() -> None:
    tasks = [task("Move", "2026-01-09"), task("Move", "2026-01-10"), task("Move", "2026-01-11", status="completed")]
    assert choose_earlier(tasks, "move") == task("Move", "2026-01-10")
    assert choose_earlier(tasks, "Move the house of Ana") is None


def test_titles_are_alike_in_every_script() -> None:
    assert likeness("迁移账单数据库", "账单数据库迁移") >= 0.6
    assert likeness("迁移账单数据库", "准备聚会") == 0.0
    assert likeness("", "x") == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "The task is done, thanks.",
        "We are done!",
        "That's it, everything is finished.",
        "Please mark it as completed.",
        "任务已经完成了。",
        "全部做完了，可以结束。",
        "The billing move is complete.",
        "Great, that finishes the task.",
        "Task completed.",
        "done",
        "All done, thank you",
        "We can close this task now.",
        "收工",
    ],
)
def test_a_person_says_that_it_is_finished(text: str) -> None:
    assert is_said_done(user("Start.", text), "Billing move")


@pytest.mark.parametrize(
    "text",
    [
        "Is it done?",
        "The first step is done.",
        "It is not done yet.",
        "When everything is done, tell me.",
        "还没完成。",
        "等任务完成之后再说。",
        "Almost finished.",
        "We should complete the plan.",
        "任务要在周五完成",
        "项目计划下周上线",
    ],
)
def test_no_completion_is_read_out_of_other_words(text: str) -> None:
    assert not is_said_done(user(text), "Billing move")


def test_an_assistant_does_not_complete_a_task() -> None:
    assert not is_said_done([Message(id="1", role="assistant", content="The task is done.")], "Billing move")


def test_a_material_gets_a_name_nobody_has() -> None:
    assert free_name("Auth error.md", []) == "auth-error.md"
    assert free_name("../../Auth Error", ["AUTH-ERROR.md", "auth-error-2.md"]) == "auth-error-3.md"
    assert free_name("???", []) == "material.md"
