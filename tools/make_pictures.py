"""Take the pictures of reports that the docs show: the bundled sample's, in Chromium.

python tools/make_pictures.py docs/pictures
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from typer.testing import CliRunner

from postil.cli.main import app

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
WIDTH, COLORS = 900, 32
HEIGHTS = {"report": 1475, "audit": 660}
"""Height of each page's picture, from its top."""

METRICS = "-m meteor -m w-meteor -m rouge-l -m w-rouge-l"
COMMANDS = (
    "demo --out demo",
    f"score demo/candidates.en.jsonl -r demo/references.en.jsonl --scale 1:5 {METRICS} --controls --items scores.jsonl",
    "correlate scores.jsonl --judgements demo/judgements.jsonl --report report.html",
    "correlate scores.jsonl --judgements demo/judgements.jsonl --audit --report audit.html",
)


def main() -> None:
    """The command."""
    out = Path(sys.argv[1]).resolve()
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        sys.exit("expected Chromium or Chrome")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for command in COMMANDS:
            result = CliRunner().invoke(app, command.split())
            if result.exit_code:
                sys.exit(result.output)
        for name, height in HEIGHTS.items():
            page, picture = Path(f"{name}.html").resolve().as_uri(), Path(f"{name}.png").resolve()
            how = [*FLAGS, f"--window-size={WIDTH},{height}", f"--screenshot={picture}", f"--user-data-dir={folder}/it"]
            subprocess.run([chromium, *how, page], check=True, capture_output=True, timeout=120)  # noqa: S603 - our page
            Image.open(picture).convert("RGB").quantize(COLORS).save(out / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
