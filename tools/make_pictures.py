"""Take the pictures of pages that the docs show, in Chromium: reports of the bundled sample, and a highlighted article.

python tools/make_pictures.py docs/pictures
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner
from PIL import Image

from postil.cli.main import app

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
COLORS = 64
SIZES = {"report": (900, 1475), "audit": (900, 660), "interesting": (1160, 820)}
"""Width and height of each page's picture, from its top."""

ARTICLE = Path(__file__).with_name("night_ferry.md").resolve()
"""An article that was made up for the picture."""

METRICS = "-m meteor -m w-meteor -m rouge-l -m w-rouge-l"
COMMANDS = (
    "demo --out demo",
    f"score demo/candidates.en.jsonl -r demo/references.en.jsonl --scale 1:5 {METRICS} --controls --items scores.jsonl",
    "correlate scores.jsonl --judgements demo/judgements.jsonl --report report.html",
    "correlate scores.jsonl --judgements demo/judgements.jsonl --audit --report audit.html",
    f"interesting {ARTICLE} -k 6 --page interesting.html",
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
        for name, (width, height) in SIZES.items():
            page, picture = Path(f"{name}.html").resolve().as_uri(), Path(f"{name}.png").resolve()
            how = [*FLAGS, f"--window-size={width},{height}", f"--screenshot={picture}", f"--user-data-dir={folder}/it"]
            subprocess.run([chromium, *how, page], check=True, capture_output=True, timeout=120)  # noqa: S603 - our page
            Image.open(picture).convert("RGB").quantize(COLORS).save(out / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
