"""What does a conversation say of a task in progress, by plain rules?

The offline second implementation of the synchronizer's judgement: extractive, each line a verbatim sentence. A
conversation that is no work of several steps is skipped with a reason.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reme_graphs.offline.salience import judge
from reme_graphs.offline.sentences import Block, split_blocks, split_sentences, squeeze

_REQUEST = re.compile(
    r"\b(?:let'?s|let us|please|we need to|we have to|i need|i want|i have to|help me|can you|"
    r"could you|task|goal|project)\b|"
    r"请|帮我|我们要|我要|需要|任务|目标|项目|麻烦|开始",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:implement\w*|fix\w*|debug\w*|migrat\w*|refactor\w*|build\w*|deploy\w*|write|writing|"
    r"draft\w*|test\w*|install\w*|configur\w*|"
    r"analy[sz]\w*|investigat\w*|research\w*|design\w*|prepar\w*|organi[sz]\w*|plan\w*|set up|setup|"
    r"upgrad\w*|creat\w*|review\w*|steps?)\b|"
    r"实现|修复|调试|迁移|重构|构建|部署|编写|撰写|测试|安装|配置|分析|调查|研究|设计|准备|整理|计划|升级|创建|评审|步骤|发布|改",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|finished|completed|implemented|fixed|deployed|created|added|wrote|written|ran|passed|passes|merged|"
    r"updated|migrated|installed|configured|dumped|restored|removed|renamed|tested|verified|works now)\b|"
    r"已(?:经)?[\u4e00-\u9fff]{1,6}|完成了?|搞定|修好|通过了|跑通|写好|部署好|做完",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:the (?:cause|reason|problem|issue|culprit|bug)\b.{0,40}\b(?:is|was)|turns out|found (?:that|out)?|"
    r"it fails|fails because|error|because|"
    r"caused by|measured|result(?:s)? (?:is|are|show))\b|原因是|发现|问题是|结果|报错|因为|导致|说明",
    re.IGNORECASE,
)
_NEXT = re.compile(
    (
        r"\b(?:next|todo|to-do|remaining|still (?:need|have|to)|then (?:we|i)|after that|afterwards|"
        r"tomorrow|need to|have to|should)\b|下一步|接下来|还要|还需|待办|之后|明天|剩下"
    ),
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:task|project|everything|all of it|that|it|we)\b.{0,20}(?:is|are|'s|'re)\s+(?:all )?(?:done|"
    r"finished|completed?|delivered)\b|"
    r"(?:任务|项目|全部|都).{0,8}(?:完成|做完|结束|交付)了?",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|so|now|today|please|let'?s|let us|can you|could you|would you|help me(?: to)?|"
    r"i (?:want|need|have|would like) (?:you )?to|we (?:need|have|want) to|(?:my|the) (?:task|goal) is to)\b[, ]*)+|"
    r"^(?:请|帮我|麻烦|你好|我们要|我要|我们来|我想|需要|，)+",
    re.IGNORECASE,
)
"""How a person begins to ask."""
_MOST = 8
"""Most new lines of one section."""
_LONG_BLOCK = 4
"""Lines from which a block of code or a trace is worth a file of its own."""


def task_update(messages: Sequence[Mapping[str, Any]], title: str = "") -> dict[str, Any]:
    """Judge a conversation as the synchronizer's model would.

    Args:
        messages: mappings with ``role``, ``name`` and ``text``.
        title: a title that is known already: a hint, or that of today's task.

    Returns:
        The fields of TaskUpdate, and ``reason`` where ``skip`` is true.
    """
    spoken = [m for m in messages if m.get("role") in ("user", "assistant") and str(m.get("text") or "").strip()]
    said = [(str(m["role"]), text) for m in spoken for text in _sentences(str(m["text"]))]
    reason = "" if title and said else _no_task(messages, said)
    if reason:
        return {**_empty(), "skip": True, "reason": reason}
    objective = _objective(said)
    progress = _pick(said, _DONE, role="assistant", apart=[objective])
    decisions = [text for _, text in said if judge(text).kind == "decision" and judge(text).score >= 2][-_MOST:]
    following = _pick(said, _NEXT, role="", apart=[objective, *progress, *decisions])
    findings = _pick(said, _FOUND, role="", apart=[objective, *progress, *decisions, *following])
    return {
        **_empty(),
        "title": title or title_of_task(objective),
        "description": objective,
        "objective": objective,
        "progress": progress,
        "findings": findings,
        "decisions": decisions,
        "next": [{"text": text, "done": False} for text in following],
        "completed": any(role == "user" and _FINISHED.search(text) for role, text in said),
        "materials": _materials(spoken),
    }


def title_of_task(objective: str) -> str:
    """A short title from the sentence that sets the task: its first words, without the way it asks."""
    text = re.sub(r"[`*_\[\]#|\"“”]", "", objective).strip().rstrip(".!?。！？")
    text = _ASKING.sub("", text).strip()
    text = re.split(r"[,;:，；：。]| because | so that | in order ", text)[0].strip()
    short = text if len(text) <= 60 else text[:60].rsplit(" ", 1)[0]
    return (short[:1].upper() + short[1:]) or "Task"


def _empty() -> dict[str, Any]:
    lists = ("plan", "progress", "findings", "decisions", "next", "materials")
    texts = dict.fromkeys(("title", "description", "objective"), "")
    return {"skip": False, "completed": False, **texts, **{name: [] for name in lists}}


def _no_task(messages: Sequence[Mapping[str, Any]], said: Sequence[tuple[str, str]]) -> str:
    """Say why a conversation is no task in progress; empty when it is one."""
    asked = any(role == "user" and _REQUEST.search(text) and _WORK.search(text) for role, text in said)
    moved = sum(bool(_DONE.search(text) or _NEXT.search(text)) for _, text in said)
    used_tools = any(m.get("role") == "tool" or m.get("tool_calls") for m in messages)
    if len(said) < 2:
        return "the conversation is too short to be a task of several steps"
    if not asked:
        return "nobody asks for work of several steps"
    return "" if moved >= 1 or used_tools else "no step of the work was done or named yet"


def _sentences(text: str) -> list[str]:
    blocks = [block for block in split_blocks(text) if block.kind in ("paragraph", "item")]
    return [s for block in blocks for s in ([block.text] if block.kind == "item" else split_sentences(block.text))]


def _objective(said: Sequence[tuple[str, str]]) -> str:
    """The first thing a user asks for that is work."""
    asked = [text for role, text in said if role == "user" and _WORK.search(text)]
    wanted = [text for text in asked if _REQUEST.search(text)]
    first = [text for role, text in said if role == "user"] or [text for _, text in said]
    return (wanted or asked or first)[0]


def _pick(said: Sequence[tuple[str, str]], pattern: re.Pattern[str], *, role: str, apart: Sequence[str]) -> list[str]:
    """The latest sentences that fit a pattern, in order, each once; no questions, and nothing that is said apart."""
    taken = {squeeze(text) for text in apart}
    found: dict[str, str] = {}
    for who, text in said:
        fits = role in ("", who) and pattern.search(text) and not text.endswith(("?", "？")) and len(text) <= 400
        if fits and squeeze(text) not in taken:
            found[squeeze(text)] = text
    return list(found.values())[-_MOST:]


def _materials(spoken: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Long blocks of code and traces, each as a file of its own."""
    made: list[dict[str, str]] = []
    for message in spoken:
        lead = ""
        for block in split_blocks(str(message["text"])):
            if block.kind == "code" and block.text.count("\n") + 1 >= _LONG_BLOCK:
                made.append(_material(block, lead))
            lead = block.text if block.kind in ("paragraph", "item", "heading") else lead
    unique = {material["content"]: material for material in made}
    return list(unique.values())[-_MOST:]


def _material(block: Block, lead: str) -> dict[str, str]:
    language = re.sub(r"[`~]", "", block.mark).strip()
    trace = re.search(r"^(?:Traceback|\w*(?:Error|Exception)\b.*|.*\bFAILED\b.*)", block.text, re.MULTILINE)
    first = next(iter(split_sentences(lead)), "") if lead else ""
    name = f"error {trace.group()[:40]}" if trace else title_of_task(first) if first else f"{language or 'code'} block"
    fence = "````" if "```" in block.text else "```"
    return {"name": name, "content": f"{fence}{language}\n{block.text}\n{fence}", "note": first[:120]}
