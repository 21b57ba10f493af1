"""Every request on the page of the service has the response that follows it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pages import ROOT

from made_retrievers import article, made
from postil.service.config import ServiceConfig
from postil.service.operations import OPERATIONS, OpenModels
from postil.threads.quality import FEATURES, Quality

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs/serve-requests.md").read_text(encoding="utf-8")
PARTS = {
    found[1]: re.findall(r"```json\n(.*?)```", found[2], re.DOTALL)
    for found in re.finditer(r"^\*\*`(?:POST|GET) /v1/(\w+)`\*\*(.*?)(?=^\*\*`|^## )", PAGE, re.MULTILINE | re.DOTALL)
}
NEWS = (
    article(
        "a7", "Snow closes the road to the airport", "Bring a coat, the trains have no heating either.", "ok", lang="en"
    ),
    article(
        "a9",
        "More snow in the north",
        "bring a coat, the trains have no heating either!",
        "Look at www.snow.example for the roads.",
        lang="en",
    ),
    article("b2", "Chess final ends in a draw", "Nobody wants to lose, so nobody wins.", lang="en"),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> OpenModels:
    folder: Path = tmp_path_factory.mktemp("serve")
    made(folder / "news", NEWS)
    Quality(np.zeros(len(FEATURES)), "words", "votes").save(folder / "polite", {})
    return OpenModels.open(ServiceConfig.of_folders([str(folder / "news"), str(folder / "polite")]))


def test_the_page_has_the_operations() -> None:
    assert {"suggest", "rank", "screen", "score", "interesting", "models"} <= PARTS.keys() <= OPERATIONS.keys()


@pytest.mark.parametrize("name", PARTS)
def test_the_response_is_the_one_on_the_page(name: str, service: OpenModels) -> None:
    request, shown = PARTS[name] if name != "models" else ("{}", *PARTS[name])
    found = json.dumps(json.loads(service.call(name, request.encode())), ensure_ascii=False)
    # On the page lines are broken behind commas, colons and opening brackets.
    words = re.sub(r"([\[{]) ", r"\1", " ".join(shown.split()))
    assert re.fullmatch(re.escape(words).replace("…", '[^"]*'), found), f"{words}\n{found}"
