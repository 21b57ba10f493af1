from __future__ import annotations

import base64
import json
import secrets
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from postil.service.sites import parse_webhook_secret, webhook_headers


@pytest.mark.parametrize("length", [24, 25, 26, 32, 64])
@pytest.mark.parametrize("body", [{}, {"title": "Regen ☔ in 艾利", "more": "\x00😀"}])
def test_the_reference_implementation_verifies_what_is_signed(length: int, body: dict[str, str]) -> None:
    mine, other = (f"whsec_{base64.b64encode(secrets.token_bytes(length)).decode()}" for _ in range(2))
    content = json.dumps(body, ensure_ascii=False).encode()
    keys = [parse_webhook_secret(other), parse_webhook_secret(mine)]
    headers = dict(webhook_headers(keys, secrets.token_hex(16), int(time.time()), content))
    assert Webhook(mine).verify(content, headers) == json.loads(content)
    with pytest.raises(WebhookVerificationError):
        Webhook(mine).verify(content + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(mine).verify(content, headers | {"webhook-id": "another"})
