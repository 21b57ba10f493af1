"""Build what a release holds, and try it in fresh environments: `make dist`.

The sdist is built first, then from the sdist a wheel for every Python that is found (on the path and among pyenv's),
and one with the pure-Python kernel. A second build must give the same bytes. Each wheel is installed with nothing but
its dependencies, scores a text and runs the demo: the numbers must be the same everywhere. Beside the files there are
an SBOM, valid by CycloneDX's schema, and their SHA-256. `twine check` looks at the metadata, `auditwheel show` at the
libraries that a wheel needs, `cffconvert` at CITATION.cff, `hadolint` at the definition of the image. The recipe for
conda-forge is written with the hash of the sdist, and `rattler-build` renders it for every Python; its packages are not
asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from make_sbom import LIST_PACKAGES, Package, sbom
from rattler_build import Stage0Recipe, VariantConfig

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
MINORS = range(11, 15)
UNKNOWN = "0" * 64
"""Hash of the sdist in the recipe of the repository."""
PURE = ("-C", "wheel.cmake=false")
SMOKE = """
import platform, postil, postil.kernel
from importlib.metadata import distribution
from importlib.resources import files
assert "htmx" in distribution("postil").read_text("licenses/THIRD_PARTY_NOTICES.md")
sample = files("postil") / "sample"
texts = files("postil") / "locale" / "zh" / "LC_MESSAGES"
assert (texts / "postil.po").is_file()
made = texts / "postil.mo"
assert made.is_file() == (postil.kernel.NAME == "compiled")  # without CMake the source is read
scores = postil.score(["the cat sat on the mat"], [["a cat sat there", "the cat lay on a mat"]], weights=[[1.0, 0.5]],
                      metrics=["bleu-4", "w-meteor", "w-rouge-l"])
numbers = " ".join(f"{name}={value!r}" for name, value in scores.corpus.items())
print(platform.python_version(), postil.kernel.NAME, len(list(sample.iterdir())), numbers, sep="|")
"""


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command without the environment of this one, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_CONSTRAINT"))}
    done = subprocess.run(  # noqa: S603 - build tools and our own package
        [str(word) for word in command], cwd=folder, env=kept, text=True, check=False, capture_output=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def set_time() -> None:
    """Give archives the time of the commit, so that their bytes depend on the sources alone."""
    if "SOURCE_DATE_EPOCH" not in os.environ:
        os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct").strip()


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


def build_sdist(out: Path) -> Path:
    """The sdist."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", out)
    (sdist,) = out.glob("*.tar.gz")
    return sdist


def build_wheel(python: Path, sdist: Path, out: Path, *options: str) -> Path:
    """A wheel from the sdist, by the versions of nanobind and scikit-build-core in the constraints."""
    with tempfile.TemporaryDirectory() as folder:
        inside = fresh(python, Path(folder) / "env")
        run(inside, "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, "--upgrade", "pip")
        how = ("--no-deps", "--build-constraint", CONSTRAINTS, "--wheel-dir", folder)
        run(inside, "-m", "pip", "wheel", "--quiet", *how, *options, sdist)
        (wheel,) = Path(folder).glob("*.whl")
        return Path(shutil.move(wheel, out / wheel.name))


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_second_build(python: Path, sdist: Path, wheel: Path) -> None:
    """Build the sdist and a wheel again, which must give the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for first, second in (
            (sdist, build_sdist(Path(folder))),
            (wheel, build_wheel(python, sdist, Path(folder))),
        ):
            if digest(first) != digest(second):
                sys.exit(f"{first.name}: a second build gave other bytes")
    print(f"{sdist.name}, {wheel.name}: the same bytes from a second build", flush=True)


def check(python: Path, wheel: Path, expected: str, *options: str | Path) -> tuple[str, list[Package]]:
    """Install a wheel in a fresh environment, use it, and return its numbers and the packages of the environment."""
    with tempfile.TemporaryDirectory() as folder:
        inside = fresh(python, Path(folder) / "env")
        run(inside, "-m", "pip", "install", "--quiet", *options, wheel)
        version, kernel, sample, numbers = run(inside, "-c", SMOKE, folder=Path(folder)).strip().split("|")
        postil = inside.parent / "postil"
        command = run(postil, "--version", folder=Path(folder)).strip()
        run(postil, "--help", folder=Path(folder))
        run(postil, "demo", "--out", "demo", folder=Path(folder))
        packages = msgspec.json.decode(run(inside, "-c", LIST_PACKAGES), type=list[Package])
    if kernel != expected:
        sys.exit(f"{wheel.name}: expected the {expected} kernel, got the {kernel} one")
    size = f"{wheel.stat().st_size / 1e6:.2f} MB"
    print(f"{wheel.name}  {size}  Python {version}  {command}  {sample} samples  {kernel} kernel", flush=True)
    return numbers, packages


def write_sbom(packages: list[Package], sdist: Path) -> Path:
    """Write the SBOM beside the distribution, if it is valid."""
    text = sbom("postil", packages, (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8"))
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong is not None:
        sys.exit(f"the SBOM is not valid: {wrong}")
    path = sdist.with_name(sdist.name.removesuffix(".tar.gz") + ".cdx.json")
    path.write_text(text, encoding="utf-8")
    print(f"{path.name}  {len(packages)} packages")
    return path


def check_citation(python: Path) -> None:
    """Validate CITATION.cff, in an environment of its own: cffconvert needs an older jsonschema than the SBOM."""
    with tempfile.TemporaryDirectory() as folder:
        inside = fresh(python, Path(folder) / "env")
        run(inside, "-m", "pip", "install", "--quiet", "cffconvert")
        print(run(inside.parent / "cffconvert", "--validate", "--infile", ROOT / "CITATION.cff").strip())


def write_recipe(sdist: Path) -> Path:
    """Write the recipe for conda-forge beside the distribution, if it can be rendered for every Python."""
    text = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    if text.count(UNKNOWN) != 1:
        sys.exit("conda/recipe.yaml: expected one hash of zeros")
    path = sdist.with_name("recipe.yaml")
    path.write_text(text.replace(UNKNOWN, digest(sdist)), encoding="utf-8")
    pythons = [f"3.{minor}.*" for minor in MINORS]
    found = Stage0Recipe.from_file(path).render(VariantConfig({"python": pythons, "c_stdlib": ["sysroot"]}))
    built = [f"{each.recipe.package.name} {each.recipe.package.version}" for each in found]
    if set(built) != {sdist.name.removesuffix(".tar.gz").replace("-", " ")} or len(built) != len(pythons):
        sys.exit(f"{path.name}: expected the sdist's version for {len(pythons)} Pythons, got {built}")
    print(f"{path.name}  rendered for Python {', '.join(pythons)}")
    return path


def check_image() -> None:
    """Look at the definition of the image."""
    run(Path(sys.executable).parent / "hadolint", ROOT / "deploy" / "Dockerfile")
    print("deploy/Dockerfile: hadolint finds nothing")


def main() -> None:
    """Build, install, run, and print one line per wheel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the sdist and the wheels")
    out = parser.parse_args().out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    set_time()
    interpreters = pythons()
    sdist = build_sdist(out)
    print(f"{sdist.name}  {sdist.stat().st_size / 1e6:.2f} MB", flush=True)
    wheels = [build_wheel(python, sdist, out) for python in interpreters]
    check_second_build(interpreters[0], sdist, wheels[0])
    said = {check(python, wheel, "compiled")[0] for python, wheel in zip(interpreters, wheels, strict=True)}
    pure = build_wheel(interpreters[0], sdist, out, *PURE)
    numbers, packages = check(interpreters[0], pure, "python", "--constraint", CONSTRAINTS)
    if len(said | {numbers}) != 1:
        sys.exit(f"the numbers differ between wheels: {sorted(said | {numbers})}")
    print(f"the same numbers everywhere: {numbers}")
    for wheel in wheels:
        lines = run(sys.executable, "-m", "auditwheel", "show", wheel).splitlines()
        print(wheel.name, next((line for line in lines if '"' in line), ""), sep="  ")
    print(run(sys.executable, "-m", "twine", "check", "--strict", sdist, *wheels, pure).strip())
    check_citation(interpreters[0])
    check_image()
    files = [sdist, *wheels, pure, write_sbom(packages, sdist), write_recipe(sdist)]
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in sorted(files))
    (out / "SHA256SUMS").write_text(sums, encoding="utf-8")


if __name__ == "__main__":
    main()
