"""Are secrets of known shapes masked, and is everything else left as it is?"""

import pytest

from reme_graphs.secrets import mask_secrets, mask_values

SECRETS = {
    "my key is sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4 ok": "sk-proj",
    "AWS AKIAIOSFODNN7EXAMPLE here": "AKIA",
    "push with ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9": "ghp_",
    "slack xoxb-123456789012-abcdefghijkl": "xoxb",
    "Authorization: Bearer abcDEF123456.ghiJKL789": "abcDEF",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop": "eyJ",
    "postgres://app:hunt@er2@db.example.org:5432/x": "hunt@er2",
    "redis://:s3cr3tpw@cache:6379": "s3cr3tpw",
    "the password is Tr0ub4dor&3, keep it": "Tr0ub4dor",
    'API_KEY="abcdef123456"': "abcdef123456",
    "密码是 Qwer1234!，别告诉别人": "Qwer1234",
    "card 4111 1111 1111 1111 exp 12/27": "4111",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----": "MIIabc",
    "access token: a1b2c3d4e5f6a7b8c9d0": "a1b2c3",
    "用sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4来调用": "sk-proj",
    "令牌ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9请保密": "ghp_",
    "密钥sk_live_aB3dE6gH9jK2mN5pQ8sT": "sk_live",
    "访问令牌是a1b2c3d4e5f6a7b8c9d0": "a1b2c3",
    "我的卡号4111111111111111，过期": "4111",
    "连接postgres://app:hunter2@db/x": "hunter2",
    "密码是abc123别忘了": "abc123",
    "密码abc12345": "abc12345",
    "mysql://root:pa/ss1@db/x": "pa/ss1",
    "Server=db;User=sa;Pwd=S3cret!x;": "S3cret",
    'password: "correct horse 9 battery"': "horse",
    r"{\"password\": \"hunter2x\"}": "hunter2x",
    "Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==": "dXNlcjpw",
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IF==;": "Eby8",
    "my_sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4": "sk-proj",
    r"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEF": "MIIEvQ",
}


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced_by_a_marker(text: str) -> None:
    masked = mask_secrets(text)
    assert SECRETS[text] not in masked
    assert "[secret: " in masked
    assert mask_secrets(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password again.",
        "The password is stored in the vault.",
        "password: 8-16 characters",
        "We need an API key for the map service.",
        "The secret is to keep it simple.",
        "tokens: 1234567890123456 were used",
        "order 1234 5678 9012 3456 was shipped",
        "epoch 1772676000000 and 4 111 items",
        "see https://example.org:8080/a@b and mail ana@example.org",
        "commit 3f2a9c1d4e5b6f7a8b9c0d1e2f3a4b5c6d7e8f90",
        "uuid 550e8400-e29b-41d4-a716-446655440000",
        "the task skill-sk-learn is done",
        "密码是每3个月更换一次",
        "密钥是放在保险柜2号的",
        "密码是什么？请重置密码2次",
        "The password is 12-chars-long minimum",
        "password reset link: https://example.com/reset2",
        "A file that begins with -----BEGIN PRIVATE KEY----- is one. More text follows.",
        "IMEI 490154203237518",
        "http://host:80/a:b@c",
    ],
)
def test_ordinary_words_and_numbers_stay(text: str) -> None:
    assert mask_secrets(text) == text


def test_structured_data_is_masked_by_the_names_of_its_keys() -> None:
    key = "sk-aB3dE6gH9jK2mN5pQ8sT1vW4"
    data = {"user": "ana", "login": [{"password": "hunter", key: 1}], "api_key": 123456, "passwords": 3, "password": ""}
    masked = mask_values(data)
    assert masked["login"] == [{"password": "[secret: password]", "[secret: API key]": 1}]
    assert (masked["user"], masked["api_key"], masked["passwords"], masked["password"]) == (
        "ana",
        "[secret: password]",
        3,
        "",
    )
    assert mask_values(masked) == masked
    schema = {"properties": {"password": {"type": "string"}}, "error": {"password": "This field is required"}}
    assert mask_values(schema) == schema


def test_a_long_text_is_masked_in_linear_time() -> None:
    text = "password policy and api keys, " * 40_000 + "sk-aB3dE6gH9jK2mN5pQ8sT1vW4"
    assert mask_secrets(text).endswith("[secret: API key]")
