"""Are secrets of known shapes masked, and is everything else left as it is?"""

import pytest

from reme_graphs.secrets import mask_secrets

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
    ],
)
def test_ordinary_words_and_numbers_stay(text: str) -> None:
    assert mask_secrets(text) == text


def test_a_long_text_is_masked_in_linear_time() -> None:
    text = "password policy and api keys, " * 40_000 + "sk-aB3dE6gH9jK2mN5pQ8sT1vW4"
    assert mask_secrets(text).endswith("[secret: API key]")
