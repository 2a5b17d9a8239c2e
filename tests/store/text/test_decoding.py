"""Bytes that are text, in which encoding, and bytes that are none."""

import pytest

from reme_store.text.decoding import decode_text

TEXTS = {
    "utf-8": "Grüße aus 北京 🌍",
    "utf-16": "Grüße aus 北京",
    "gb18030": "我们决定使用新的计费系统，从四月开始。",
    "big5": "我們決定使用新的計費系統，從四月開始。",
    "shift_jis": "新しい請求システムを四月から使うことに決めました。",
    "euc_jp": "新しい請求システムを四月から使うことに決めました。",
    "euc_kr": "우리는 사월부터 새로운 청구 시스템을 사용하기로 결정했습니다.",
    "latin-1": "El señor Muñoz decidió usar el café de la estación en año nuevo; Änderung und Größe.",
    "cp1252": "“Café” – naïve…",
    "cp1251": "Мы решили использовать новую систему с апреля",
}
CHINESE = "据说这座仓库的数据很乱，我们把库存清点了一遍。"


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_chinese_text_is_read_in_its_encoding(encoding: str) -> None:
    decoded = decode_text(CHINESE.encode(encoding))
    assert decoded is not None
    assert CHINESE in decoded.text


def test_western_text_of_one_byte_is_read() -> None:
    decoded = decode_text(("Déjà vu à la crème brûlée, naïve façade. " * 20).encode("cp1252"))
    assert decoded is not None
    assert "vu" in decoded.text


def test_a_byte_order_mark_stays_in_the_text() -> None:
    decoded = decode_text(b"\xef\xbb\xbfhello")
    assert decoded is not None
    assert decoded.text == "\ufeffhello"


def test_utf8_with_nul_is_text() -> None:
    decoded = decode_text(b"a\x00b")
    assert decoded is not None
    assert decoded.encoding == "utf-8"


def test_an_image_holds_no_text() -> None:
    assert decode_text(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\xff\xfe\x00" * 50) is None


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("times", [1, 40])
def test_the_encoding_of_everyday_text_is_found(encoding: str, times: int) -> None:
    text = f"id,text\n1,{TEXTS[encoding]}\n" * times
    decoded = decode_text(text.encode(encoding))
    assert decoded is not None
    assert decoded.text.removeprefix("\ufeff") == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("text", ["We decided to use X.\n", "我们决定了，预算是120万元。\n", "Grüße aus Köln\n"])
def test_wide_text_is_read_without_a_mark(text: str, encoding: str) -> None:
    decoded = decode_text(text.encode(encoding))
    assert decoded is not None and decoded.text.removeprefix("\ufeff") == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("决定：用甲方案\n", "gb18030"),
        ("客户反馈很好", "gb18030"),
        ("姓名,电话\n张三,138\n", "gb18030"),
        ("결정: 갑안을 사용합니다\n", "cp949"),
        ("이름,도시\n김철수,서울\n", "cp949"),
    ],
)
def test_a_few_words_are_enough(text: str, encoding: str) -> None:
    decoded = decode_text(text.encode(encoding))
    assert decoded is not None and decoded.text == text
