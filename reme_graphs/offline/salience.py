"""Is a sentence worth remembering, and as what: a decision, a preference, an open task, a step, a fact?

Plain rules for English and Chinese; in other languages what a person states in a full sentence counts. A score of
``WORTH`` or more is worth a line in a note; greetings, thanks, praise and questions never reach it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from reme_graphs.offline import words
from reme_graphs.offline.sentences import has_cjk

Kind = Literal["decision", "preference", "task", "procedure", "fact"]

WORTH = 1.2
"""Least score of a sentence worth a line."""
WORTH_OF_PERSON = 0.6
"""The same where people with names talk of their lives: less is marked, and more of it is asked for later."""


@dataclass(frozen=True, slots=True)
class Salience:
    """What a sentence is and how much it is worth remembering."""

    kind: Kind
    score: float


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE)


_DECISION = _any(
    (
        r"\b(?:we|i|they|he|she|team|board|[A-Z]\w+)(?:'ve| have| has)?(?: finally| all| both|"
        r" also)? (?:decided|agreed|chose|chosen|settled on|opted|picked|approved|rejected|concluded)\b"
    ),
    (
        r"\b(?:we|i)(?:'ll| will|'re going to| are going to) (?:use|go with|adopt|stick with|"
        r"standardi[sz]e on|drop|stop using|keep using|migrate to|switch to)\b"
    ),
    r"\blet'?s (?:use|go with|stick with|adopt|drop|switch to|keep)\b",
    r"\b(?:decision|agreed|resolved|conclusion)\s*:",
    (
        r"\b(?:made|make) (?:a|the|my|our) decision\b|\bwe (?:went with|dropped|replaced|are switching|"
        r"switched)\b|\bthe reason (?:is|was|for)\b"
    ),
    r"(?:我们|大家|团队|会议|最终|最后|一致|已经|已)?(?:决定|商定|敲定|确定(?:了|为|采用|使用|用)|拍板|选定|同意采用|否决)(?!性|因素)",
    r"(?:我们|大家|团队|以后|今后)[^。，]{0,8}(?:改用|改成|改为|换成|采用|弃用|统一使用|统一用|一律)|^(?:改用|采用|弃用|统一使用|统一用)",
    r"(?:原因是|理由是|之所以)",
)
_PREFERENCE = _any(
    (
        r"\bI(?:'m| am)? ?(?:really |absolutely |also |still |just |always |totally |much |do |would |'d |"
        r"now )*(?:like|love|prefer|enjoy|adore|hate|dislike|loathe|avoid|favou?r|can'?t stand|"
        r"don'?t (?:like|drink|eat|want|enjoy|care for|use)|do not (?:like|drink|eat|want|enjoy|use)|"
        r"never (?:drink|eat|use|wear|work))\b"
    ),
    r"\b(?:he|she|they|[A-Z][a-z]+) (?:really |also )?(?:likes|loves|prefers|enjoys|hates|dislikes|avoids)\b",
    (
        r"\bmy (?:all-time |absolute )?fav(?:ou?rite)?s?\b|\bI(?:'m| am) (?:a (?:big |huge )?fan of|into|"
        r"keen on|fond of|passionate about|drawn to|allergic|vegan|vegetarian|obsessed with)\b"
    ),
    (
        r"\b(?:kids?|children|son|daughter|wife|husband|mom|dad|sister|brother|cat|dog)s? (?:really |"
        r"both |all )?(?:loves?|likes?|enjoys?|hates?)\b"
    ),
    (
        r"\b(?:I|we)(?:'ve| have)? changed (?:my|our) minds?\b|\bfrom now on\b|\bI(?:'d| would) rather\b|"
        r"\ballergic to\b|\bI no longer\b|\bI(?:'ve| have)? (?:switched|stopped|quit|given up|gave up)\b"
    ),
    (
        r"\bplease (?:always|never|don'?t|do not|use|keep|avoid|write|answer|reply)\b|\b(?:always|"
        r"never) (?:use|write|answer|send|call|schedule|put|add|push|deploy|ask)\b"
    ),
    (
        r"(?:我|他|她|我们|本人)(?:很|最|更|特别|非常|比较|一直|还是|也|都|现在|真的|其实|就)*(?:喜欢|喜爱|偏好|偏爱|爱(?=[喝吃看听玩读用])|讨厌|不喜欢|不爱|"
        r"不喝|不吃|受不了|习惯|倾向于|热衷)"
    ),
    r"(?:最喜欢|更喜欢|不喜欢|过敏|忌口|口味|请(?:不要|别|用|始终|一律|尽量|以后)|以后(?:请|不要|别)|不再(?:喝|吃|用|喜欢)|戒了|千万别)",
)
_TASK = _any(
    (
        r"\b(?:remember|remind me|don'?t forget|make sure) to\b|\b(?:to-?do|action item|next steps?|"
        r"follow[- ]up)s?\s*:|\bdeadline\b|\bdue (?:on|by|date)\b"
    ),
    (
        r"\b(?:we|i|you|they|he|she|[A-Z][a-z]+) (?:still )?(?:need|needs|have|has) to\b|\b(?:must|"
        r"should) (?:be )?\w+ (?:\w+ ){0,8}(?:by|before|until) (?:the )?(?:mon|tue|wed|thu|fri|sat|sun|"
        r"end|next|tomorrow|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d)"
    ),
    (
        r"\bplease (?:send|finish|prepare|review|check|book|order|call|submit|schedule|remind|remember)\b|"
        r"\bI(?:'ll| will| am going to|'m going to|'m gonna) \w+ .*\b(?:by|before|on|next|tomorrow|this) "
    ),
    r"\b(?:I|we)(?:'m| am|'re| are) (?:planning|hoping|going) (?:to|on)\b|\b(?:I|we) plan to\b",
    r"(?:记得|别忘了|不要忘记|提醒我|待办|截止)",
    (
        r"(?:周[一二三四五六日天]|星期[一二三四五六日天]|月底|月末|\d+[号日]|明天|下周|今天|本周)[^。，]{0,6}(?:之前|以前|前)[^。]*(?:[发交完提给做])|"
        r"(?:需要|必须|得|要)在.{1,12}(?:前|之前)|下一步"
    ),
)
_PROCEDURE = _any(
    (
        r"\bstep \d+\b|\bsteps? (?:to|for|are)\b.*:|\bhow to \w+|^to (?:\w+ ){1,7}?\w+, (?:\w+ly )?(?:run|"
        r"use|open|set|type|click|call|first|start|stop|execute|go|create|add|delete|copy|edit)\b"
    ),
    (
        r"^(?:(?:first(?:ly)?|second(?:ly)?|then|next|after that|finally|afterwards|always|"
        r"never),? )?(?:run|execute|type|restart|install|deploy|roll ?back|revert|configure|enable|"
        r"disable|stop|drain|freeze|back up|verify|rotate|copy|click|open) (?:the|a|an|all|it|every|each|"
        r"`|[-\w./]+)"
    ),
    (
        r"\b(?:before|after) (?:\w+ing|you|the|each|every)\b.*\b(?:run|check|make sure|verify|stop|start|"
        r"restart|drain|freeze|back up|test)\b|\bif (?:it|the|this|that|you)\b.*\b(?:fails?|breaks?|"
        r"hangs?|crash\w*|times? out)\b.*\b(?:run|check|verify|stop|start|restart|roll|revert|call|use|"
        r"set)\b"
    ),
    (
        r"\b(?:workaround|the fix is|runbook|troubleshoot\w*)\b|\bthe (?:\w+ ){0,3}procedure (?:is|must|"
        r"has|observes|needs|starts)\b"
    ),
    (
        r"第[一二三四五六七八九十\d]+步|步骤[:：]|流程.{0,12}(?:[:：]|第|更正|新增)|先.{1,24}(?:，再|再|然后|后再|之后)|如果.{1,20}(?:失败|报错|"
        r"超时|出错)|务必先|之前(?:必须|要先|先)|^(?:首先|其次|然后|接着)"
    ),
)
_HANDLING = _any(
    r"\b(?:run|execute|restart|install|deploy|rollback|roll back|configure|back up|procedure|release)\b",
    r"流程|步骤|执行|运行|重启|回滚|部署|安装|配置|备份|发布",
)
_REMEMBER = _any(
    r"\bremember(?: that|:)|\b(?:note|keep in mind|fyi|important)(?: that|:)|\bfor the record\b",
    r"记住|请注意|注意[:：]|重要[:：]|备忘",
)
_CHANGE = _any(
    (
        r"\bswitch(?:ed|ing)?\b.*\b(?:from|to)\b|\bno longer\b|\b(?:not|no|n'?t) .{0,40}\bany ?more\b|"
        r"\bchanged (?:my|our|his|her|the) (?:mind|plan|decision)\b|\bchanged? .{0,30}\bfrom .{1,40} to\b"
    ),
    (
        r"\b(?:moved|postponed|delayed|brought forward|rescheduled|pushed back) .{0,40}?\bto\b|"
        r"\binstead of\b|\brather than\b|\breplac(?:e|ed|es|ing)\b.*\b(?:with|by)\b|\bcorrection\b|"
        r"\bturns? out\b|\bactually,? .*\bnot\b"
    ),
    (
        r"\b(?:i|we|he|she|they)(?:'ve| have| has)? (?:stopped|quit|given up|gave up|dropped|abandoned|"
        r"reverted|reversed)\b|\bnow (?:prefer|use|drink|eat|like|work|live)s?\b|\b(?:is|are|was|"
        r"were) wrong\b|\bsuperse\w+\b|\bused to\b.*\bbut\b"
    ),
    (
        r"改成|改为|换成|改用|改喝|改吃|改到|改在|改口|不再|戒了|戒掉|已经不|取消了?|推迟到|提前到|更正(?!以?后)|纠正(?!以?后)|调整为|弃用|而不是|原来.{1,20}现在|"
        r"以前.{1,20}现在|现在(?:更|改|只|不)|替代|取代|说错了|搞错了"
    ),
)
_IDENTITY = _any(
    (
        r"\b(?:I|we|he|she|they)(?:'m| am|'ve been| have been| was| were| is| are)? (?:live|lives|work as|"
        r"works as|work at|work for|works at|works for|born|graduated|married|divorced|moved to|grew up|"
        r"speak|speaks|own|owns|study|studies|studied|teach|teaches|quit my|started (?:a|my)|joined|"
        r"adopted|bought|launched|opened|won|lost|founded|volunteer)\b"
    ),
    (
        r"\bmy (?:name|wife|husband|partner|son|daughter|kids?|mother|mom|mum|father|dad|brother|sister|"
        r"grand\w+|boss|team|job|company|birthday|cat|dog|turtles?|address|phone|email|hobby|hobbies|goal|"
        r"dream|business|degree|hometown|home country)\b"
    ),
    (
        r"\b(?:I|we)(?:'d| would)? (?:really )?(?:want|love|like|hope|dream)(?:ing)? (?:to|of)\b|\b(?:I'm|"
        r"we're|I am|we are) (?:thinking of|looking into|working on|saving|training|preparing)\b"
    ),
    r"\bI(?:'m| am) (?:an? |the |from |based |working |studying |living |single|married|trans|learning )",
    (
        r"我(?:叫|是|住|在.{1,12}(?:工作|上班|读书|学习)|来自|今年|的(?:名字|妻子|丈夫|爱人|儿子|女儿|孩子|妈妈|爸爸|母亲|父亲|老板|团队|公司|生日|邮箱|电话|"
        r"工作|专业|猫|狗))|我(?:妻子|丈夫|爱人|儿子|女儿|妈妈|爸爸|老婆|老公|家)"
    ),
)
_EVENT = _any(
    (
        r"\b(?:I|we|he|she|they|[A-Z][a-z]+)(?:'ve| have| has|'d| had)? (?:just |also |finally |recently |"
        r"actually |even |already |once )*(?:went|visited|attended|bought|made|built|painted|wrote|read|"
        r"ran|took|got|met|signed up|applied|passed|finished|completed|finalized|released|shipped|found|"
        r"fixed|adopted|took up|hosted|organi[sz]ed|created|participated|performed|played|gave|saw|tried|"
        r"started|joined|received|watched|cooked|baked|planted|fell|broke|hurt|lost|won|raised|submitted|"
        r"published|traveled|travelled|hiked|camped|volunteered|celebrated|been (?:to|working|practicing|"
        r"learning|looking|doing|writing|reading|painting|playing))\b"
    ),
    r"\b(?:I|we)(?:'ve| have)? (?:\w+ly |just |also |even )?(?!need|want|hop|wonder|appreciat|agree|miss)\w{3,}ed\b",
    r"(?:去了|参加了|买了|完成了|收到|发布了|上线了?|修复了|签了|通过了|搬到|入职|离职|毕业|结婚|开始了|做了|写了|学了|看了)",
)
_DATE = _any(
    (
        r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b|\b(?:january|february|march|"
        r"april|june|july|august|september|october|november|december)\b|\b(?:jan|feb|mar|apr|may|jun|jul|"
        r"aug|sept?|oct|nov|dec)\.? \d{1,2}\b"
    ),
    (
        r"\b(?:yesterday|tomorrow|tonight|last (?:week|month|year|night|weekend|mon|tue|wed|thu|fri|sat|"
        r"sun)\w*|next (?:week|month|year|weekend|mon|tue|wed|thu|fri|sat|sun)\w*|this (?:week|month|year|"
        r"weekend|mon|tue|wed|thu|fri|sat|sun|summer|fall|winter|spring)\w*)\b"
    ),
    (
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d+ (?:years?|months?|weeks?|days?)(?: ago|"
        r" old)?\b|\b(?:few|couple of|ten|two|three|four|five|six|seven) (?:years|months|weeks|days)\b"
    ),
    r"\d{1,4}\s*年|\d{1,2}\s*月|\d{1,2}\s*[号日]|[一二三四五六七八九十]+月|周[一二三四五六日天]|星期[一二三四五六日天]|上周|下周|昨天|明天|后天|上个月|下个月|去年|明年|月底",
)
_NUMBER = re.compile(
    (
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|"
        r"thousand|million)\b|[一二三四五六七八九十百千万两]+[个只台次年天块元人件条位名杯倍]"
    ),
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<=[a-z,;:] )(?:the )?[A-Z][\w&'’.-]*[a-z0-9](?:\s+[A-Z][\w&'’.-]*)*|(?<=\s)[A-Z]{2,}[\w+-]*|"
    r"\b[a-z]+[A-Z]\w+|`[^`]+`|“[^”]{2,}”|\"[^\"]{2,}\"|《[^》]+》"
)
_ZH_NAME = re.compile(
    r"[A-Za-z][\w.+#-]+|"
    r"(?:[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟]"
    r"|[谭陆汪范石廖贾夏韦付白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤])"
    r"[\u4e00-\u9fff]{1,2}(?=[，。、 的说把给和在负]|$)|"
    r"[\u4e00-\u9fff]{2,6}(?:公司|大学|医院|银行|服务|系统|平台|项目|数据库|市|省|区|路)"
)
_REASON = _any(
    r"\bbecause\b|\bso that\b|\bin order to\b|\bdue to\b|\bsince (?:it|we|the|our|I)\b",
    r"因为|由于|为了|所以|原因|避免",
)
_FIRST = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|we|our|we're|we've|mine|me|us)\b|我|咱", re.IGNORECASE)
_SECOND = re.compile(
    (
        r"^(?:so |and |but |well,? |yeah,? |wow,? |it's |that's )*(?:you|your|you're|you've|you'd|"
        r"you'll)\b|\byou(?:'re| are| got|'ve got| can do| should be| must|'ll)\b|^你|你真|您真"
    ),
    re.IGNORECASE,
)
_LEAD = re.compile(
    (
        r"^(?:(?:hey|hi|hello|yo|wow|whoa|woah|yay|oh|aw+|haha\w*|yes|yeah|yep|yup|no|nope|nah|ok|okay|"
        r"sure|cool|nice|great|thanks|thank you|thx|congrats|sorry|well|so|actually|btw|by the way|"
        r"absolutely|definitely|totally|true|right|of course|noted|got it|understood)\b(?: (?:so|"
        r"a) (?:much|lot))?(?:[,.!]? ?[A-Z]\w{1,15}(?=[,.!]))?[,.!]+\s*|(?:好的?|嗯+|哦|是的|对|谢谢|收到|没问题|行|"
        r"哈哈)[，,。！!]\s*)+"
    ),
    re.IGNORECASE,
)
_TALK = _any(
    (
        r"^(?:hey|hi|hello|yo|wow|whoa|woah|yay|oh|aw+|haha\w*|lol|omg|yes|yeah|yep|yup|no|nope|nah|ok|"
        r"okay|sure|cool|nice|great|awesome|sweet|thanks|thank you|thx|congrats|congratulations|"
        r"good (?:morning|evening|night|luck|to|on|for)|bye|goodbye|see (?:you|ya)|take care|"
        r"talk (?:to you )?(?:soon|later)|sounds|no (?:worries|problem)|you(?:'re| are) welcome|"
        r"my pleasure|noted|got it|understood|absolutely|definitely|exactly|totally|agreed|right|true|"
        r"certainly|of course|glad|happy to|appreciate|sorry)\b"
    ),
    (
        r"\b(?:good|nice|great|awesome|lovely) to (?:see|hear|talk|chat|catch)\b|\b(?:what'?s up|"
        r"how are you|how have you been|long time no|keep it up|way to go|good for you|i'?m here for you|"
        r"let me know|can'?t wait|look(?:ing)? forward|fingers crossed|you got this|keep me posted|"
        r"check (?:it|this|these|out)|take a look|here'?s (?:a|the|my|another) (?:pic|photo|picture|one|"
        r"look)|thanks|thank you|no doubt|have (?:a|fun)|stay safe|happy for you|proud of you|so (?:cool|"
        r"nice|sweet|true))\b"
    ),
    (
        r"^(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|晚安|好的?|好呀|好吧|嗯+|哦|哇|是的|对的?|没错|可以的?|行|谢谢|多谢|感谢|不客气|没关系|没问题|收到|明白|了解|"
        r"知道了|辛苦|恭喜|太好了|太棒了|再见|拜拜|加油|哈哈)"
    ),
)
_SMALL_TOPIC = _any(
    (
        r"^let'?s (?:fix|see|look|talk|start|discuss|begin|go|plan|do)\b|\bthe weather (?:is|was|looks)\b|"
        r"\bnice (?:weather|day)\b"
    ),
    r"天气(?:真|很|不错|挺|好)|今天真(?:热|冷)",
)
_REQUEST = _any(
    (
        r"^(?:please |can|could|would|will) ?(?:you|we|i)\b|^(?:please )?(?:write|explain|show|give|list|"
        r"summari[sz]e|translate|tell|help) (?:me|us|a|an|the|this|my)\b"
    ),
    r"^(?:请|麻烦|帮我|能不能|可以)(?:你|您)?(?:帮我|帮忙)?(?:写|解释|列|总结|翻译|介绍|说明|看看|分析)",
)
_REMIND = _any(r"\bremind me\b|\bremember (?:that|to)\b|\bdon'?t forget\b", r"提醒我|记得|记住|别忘")
_VAGUE = re.compile(
    (
        r"^(?:it|that|this|they|these|those|which|who|he|she)(?:'s|'re| is| was| are| were| has| had|"
        r" will| would| can| could| really| just| sounds?| looks?| makes?| must| gives?| gave| made|"
        r" helps?)?\b"
    ),
    re.IGNORECASE,
)

_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of which one or two make a word."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer."""
_LATIN_WORD = re.compile(rf"(?:(?!{_DENSE.pattern}|{_UNSPACED.pattern})[^\W_]|')+")
_OTHER_SCRIPT = re.compile("[\u0370-\u1cff\u3040-\u30ff\uac00-\ud7af]")
"""Letters of scripts the rules know nothing of: neither Latin nor Han."""
_OTHER_WORDS = frozenset(words.OTHER_LATIN.split())


@lru_cache(maxsize=16384)
def judge(sentence: str, *, assistant: bool = False) -> Salience:
    """Judge one sentence.

    Args:
        sentence: verbatim text.
        assistant: whether an unnamed assistant said it; such a sentence counts only by the facts and steps it holds.
    """
    text = sentence.strip()
    core = _LEAD.sub("", text) or text
    kind, marked = _kind(core)
    score = marked + _evidence(core) - _emptiness(core) - (0.3 if core != text else 0.0)
    if _is_question(text) and not _REMIND.search(text):
        score -= 6
    if assistant:
        score -= 0.6 if kind in ("decision", "procedure") or _DATE.search(text) else 1.4
    return Salience(kind, round(score, 3))


def is_change(sentence: str) -> bool:
    """Tell whether a sentence says that something earlier holds no more."""
    return bool(_CHANGE.search(sentence))


def is_negative(sentence: str) -> bool:
    """Tell whether a preference or rule is stated as a dislike or a prohibition."""
    return bool(_NEGATIVE.search(sentence))


def is_preference(sentence: str) -> bool:
    """Tell whether a sentence says what someone likes, avoids or asks for."""
    return bool(_PREFERENCE.search(sentence))


def is_personal(sentence: str) -> bool:
    """Tell whether a sentence speaks of who someone is or likes to be."""
    return bool(_PREFERENCE.search(sentence) or _IDENTITY.search(sentence))


def is_first_person(sentence: str) -> bool:
    """Tell whether the speaker speaks of themselves."""
    return bool(_FIRST.search(sentence))


_NEGATIVE = _any(
    (
        r"\b(?:don'?t|do not|doesn'?t|never|no longer|hate|dislike|can'?t stand|avoid|stopped|quit|"
        r"gave up|not|allergic)\b|n't\b"
    ),
    r"不(?!仅|但|过|错|只|断|管)|讨厌|别|戒|过敏|受不了|拒绝|禁止",
)


def _kind(text: str) -> tuple[Kind, float]:
    """Kind of a sentence and the weight of what marks it; a fact is what nothing marks."""
    marks: list[tuple[float, Kind]] = []
    for pattern, weight, kind in _MARKS:
        if pattern.search(text):
            marks.append((weight, kind))
    if not marks:
        return "fact", 0.0
    weight, kind = max(marks, key=lambda mark: mark[0])
    return kind, weight


_MARKS: tuple[tuple[re.Pattern[str], float, Kind], ...] = (
    (_DECISION, 2.2, "decision"),
    (_PREFERENCE, 2.1, "preference"),
    (_TASK, 1.9, "task"),
    (_PROCEDURE, 1.6, "procedure"),
)


def _evidence(text: str) -> float:
    """Weight of names, numbers, dates, identity, events and reasons."""
    named = _NAME.search(text) or (has_cjk(text) and _ZH_NAME.search(text))
    found = (
        (bool(named), 0.9),
        (bool(_NUMBER.search(text)), 0.7),
        (bool(_DATE.search(text)), 0.9),
        (bool(_IDENTITY.search(text)), 1.3),
        (bool(_EVENT.search(text)), 1.2),
        (bool(_REASON.search(text)), 0.6),
        (bool(_REMEMBER.search(text)), 2.0),
        (bool(_HANDLING.search(text)), 0.5),
        (bool(_CHANGE.search(text)), 1.0),
        (bool(_FIRST.search(text)), 0.3),
        (_is_unruled(text), 1.0),
    )
    return sum(weight for holds, weight in found if holds) + _length_bonus(text)


def _is_unruled(text: str) -> bool:
    """Tell a sentence in a language that the rules do not know: another script, or telling words of another tongue."""
    letters = sum(map(str.isalpha, text))
    if len(_OTHER_SCRIPT.findall(text)) > 0.3 * letters:
        return True
    return len({word.casefold() for word in _LATIN_WORD.findall(text)} & _OTHER_WORDS) >= 2


def _length_bonus(text: str) -> float:
    size = len(_LATIN_WORD.findall(text)) + len(_DENSE.findall(text)) / 1.6 + len(_UNSPACED.findall(text)) / 4
    return -2.0 if size < 3 else -1.0 if size < 5 else 0.3 if 8 <= size <= 45 else -0.5 if size > 80 else 0.0


def _emptiness(text: str) -> float:
    """Weight of what makes a sentence talk only: greeting, praise of the other, pointing at what was said before."""
    found = (
        (bool(_TALK.search(text)), 1.8),
        (bool(_SECOND.search(text)), 1.5),
        (bool(_VAGUE.match(text)), 1.0),
        (bool(_SMALL_TOPIC.search(text)), 3.0),
        (bool(_REQUEST.match(text)), 2.5),
        (text.endswith(("!", "！")), 0.3),
    )
    return sum(weight for holds, weight in found if holds)


def _is_question(text: str) -> bool:
    return bool(re.search(r"[?？]", text[-6:])) or bool(
        re.match(r"(?:do|does|did|is|are|have|has|what|when|where|who|why|how|which|any)\b.*\?", text, re.IGNORECASE)
    )
