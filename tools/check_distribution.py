"""Build what a release holds, and try it in fresh environments: `make dist`.

The sdist is built first, then from the sdist a wheel for every Python that is found (on the path and among pyenv's).
Each wheel is installed with nothing but its dependencies and scores a text: the numbers must be the same, and
the kernel the compiled one. `twine check` looks at the metadata, `auditwheel show` at the libraries that a wheel needs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINORS = range(11, 15)
SMOKE = """
import platform, postil, postil.kernel
from importlib.resources import files
sample = files("postil") / "sample"
scores = postil.score(["the cat sat on the mat"], [["a cat sat there", "the cat lay on a mat"]], weights=[[1.0, 0.5]],
                      metrics=["bleu-4", "w-meteor", "w-rouge-l"])
numbers = " ".join(f"{name}={value!r}" for name, value in scores.corpus.items())
print(platform.python_version(), postil.kernel.NAME, len(list(sample.iterdir())), numbers, sep="|")
"""


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command without the environment of this one, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(  # noqa: S603 - build tools and our own package
        [str(word) for word in command], cwd=folder, env=kept, text=True, check=False, capture_output=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> list[Path]:
    """One interpreter of each version that postil supports, as far as they are here."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: list[Path] = []
    for minor in MINORS:
        on_path = shutil.which(f"python3.{minor}")
        others = sorted(pyenv.glob(f"3.{minor}.*/bin/python"))
        for each in [*([Path(on_path)] if on_path else []), *others]:
            if not subprocess.run([each, "-m", "venv", "--help"], capture_output=True, check=False).returncode:  # noqa: S603
                found.append(each)
                break
    return found


def fresh(python: Path, folder: Path) -> Path:
    """Interpreter of a new environment."""
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def build(out: Path, interpreters: list[Path]) -> list[Path]:
    """The sdist, and from it a wheel for each interpreter."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", out)
    (sdist,) = out.glob("*.tar.gz")
    print(f"{sdist.name}  {sdist.stat().st_size / 1e6:.2f} MB", flush=True)
    wheels = []
    for python in interpreters:
        with tempfile.TemporaryDirectory() as folder:
            inside = fresh(python, Path(folder) / "env")
            run(inside, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
            (wheel,) = Path(folder).glob("*.whl")
            wheels.append(Path(shutil.move(wheel, out / wheel.name)))
    return wheels


def main() -> None:
    """Build, install, run, and print one line per wheel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the sdist and the wheels")
    out = parser.parse_args().out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    interpreters = pythons()
    wheels = build(out, interpreters)
    said = set()
    for python, wheel in zip(interpreters, wheels, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            inside = fresh(python, Path(folder) / "env")
            run(inside, "-m", "pip", "install", "--quiet", wheel)
            version, kernel, sample, numbers = run(inside, "-c", SMOKE, folder=Path(folder)).strip().split("|")
            command = run(inside.parent / "postil", "--version", folder=Path(folder)).strip()
        if kernel != "compiled":
            sys.exit(f"{wheel.name}: expected the compiled kernel, got the {kernel} one")
        said.add(numbers)
        tag = next(
            (line for line in run(sys.executable, "-m", "auditwheel", "show", wheel).splitlines() if '"' in line), ""
        )
        print(
            f"{wheel.name}  {wheel.stat().st_size / 1e6:.2f} MB  Python {version}  {command}  {sample} samples  {tag}"
        )
    if len(said) != 1:
        sys.exit(f"the numbers differ between Pythons: {sorted(said)}")
    print(f"the same numbers everywhere: {said.pop()}")
    print(run(sys.executable, "-m", "twine", "check", "--strict", *sorted(out.iterdir())).strip())


if __name__ == "__main__":
    main()
