import pytest

from reme_graphs.offline.salience import WORTH, WORTH_OF_PERSON, is_change, judge

WORTHY = {
    "We decided to use PostgreSQL 16 for the billing service.": "decision",
    "InfluxDB was dropped because nobody wants to run a second database.": "fact",
    "I prefer short answers without an introduction.": "preference",
    "I switched from coffee to green tea.": "preference",
    "Please always use metric units.": "preference",
    "I have to send the report by Friday.": "task",
    "The migration starts on 2026-04-01 and Ana Lopes owns it.": "fact",
    "My daughter Lena was born in Oslo in 2019.": "fact",
    "To roll back, run `ota rollback` on each gateway.": "procedure",
    "我们决定湿度告警加 3% 的回差，因为数值会抖动。": "decision",
    "我喜欢喝龙井绿茶，不喜欢咖啡。": "preference",
    "请记得周五之前把季度报告发给王小明。": "task",
    "发布流程第二步：先升级两台金丝雀网关，再观察 24 小时。": "procedure",
    "我妻子是医生，我们住在杭州。": "fact",
    "记住：ADDR 引脚必须接 VDD，否则和 0x44 冲突。": "fact",
}
TALK = [
    "Hey Mel!",
    "Thanks so much, Caroline!",
    "That sounds great!",
    "Wow, you're doing great work.",
    "What do you think of that?",
    "Can you write a function that sorts a list?",
    "Noted.",
    "The weather is nice.",
    "Take care!",
    "谢谢！",
    "好的，没问题。",
    "今天天气真不错。",
    "你觉得怎么样？",
    "能不能帮我翻译一下这段话？",
]


@pytest.mark.parametrize(("sentence", "kind"), WORTHY.items())
def test_what_a_person_asks_for_later_is_worth_a_line(sentence: str, kind: str) -> None:
    found = judge(sentence)
    assert found.score >= WORTH
    assert found.kind == kind


@pytest.mark.parametrize("sentence", TALK)
def test_talk_is_not_memory(sentence: str) -> None:
    assert judge(sentence).score < WORTH_OF_PERSON


@pytest.mark.parametrize(
    "sentence",
    [
        "私たちはPostgreSQLを使うことに決めました。",
        "コーヒーよりお茶の方が好きです。",
        "우리는 데이터베이스로 MySQL을 사용하기로 결정했습니다.",
        "Мы решили использовать новую базу, потому что старая слишком медленная.",
        "Wir haben uns gegen den zweiten Server entschieden, weil er zu teuer ist.",
        "Je préfère les réponses courtes et sans introduction.",
    ],
)
def test_statements_in_a_language_without_rules_are_kept(sentence: str) -> None:
    assert judge(sentence).score >= WORTH
    assert judge(sentence, assistant=True).score < WORTH


@pytest.mark.parametrize(
    "sentence", ["わかりました。", "ありがとうございます。", "감사합니다!", "Спасибо большое!", "Danke schön!"]
)
def test_talk_in_a_language_without_rules_is_not_memory(sentence: str) -> None:
    assert judge(sentence).score < WORTH


def test_an_assistant_has_to_state_facts_to_be_remembered() -> None:
    assert judge("I think many people enjoy this approach.", assistant=True).score < WORTH
    assert judge("The migration starts on 2026-04-01 and Ana Lopes owns it.", assistant=True).score >= WORTH


@pytest.mark.parametrize(
    "sentence",
    [
        "I no longer drink coffee.",
        "We moved the deadline to May.",
        "会议改到周四了。",
        "我不再喝咖啡了。",
        "Correction: run it before the restart.",
    ],
)
def test_a_change_is_noticed(sentence: str) -> None:
    assert is_change(sentence)


@pytest.mark.parametrize("sentence", ["I drink tea.", "以后就按更正后的版本。", "We meet on Monday."])
def test_what_stays_is_no_change(sentence: str) -> None:
    assert not is_change(sentence)
