"""Folders of tables, as Hugging Face `datasets` keeps them: the files of each split."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.artifacts import read_object
from postil.data.explain import file_setting, shown
from postil.errors import InvalidInput, UnknownName, UsageError, needs
from postil.messages import Blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["by_split", "files_of_split", "saved"]

KINDS: Final = (
    (".parquet",),
    (".arrow",),
    (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson"),
    (".csv", ".csv.gz", ".csv.zst"),
    (".tsv", ".tsv.gz", ".tsv.zst"),
    (".json", ".json.gz", ".json.zst"),
)
"""Endings of data files; of several kinds in a folder the first is read."""
METADATA: Final = {"dataset_info.json", "dataset_infos.json", "state.json", "dataset_dict.json"}
SHARD: Final = re.compile(r"-\d+-of-\d+(-[0-9a-f]{16})?$|[-_.]?\d*$")


def by_split(files: Iterable[Path]) -> dict[str, list[Path]]:
    """Files by split: what a file's name begins with (`train-00000-of-00002.parquet`), or the name of its folder.

    Args:
        files: The files, in order.

    >>> sorted(by_split([Path("data/train-00000-of-00002.parquet"), Path("test/0000.parquet")]))
    ['test', 'train']
    """
    found: dict[str, list[Path]] = {}
    for file in files:
        stem = file.name[: file.name.find(".")] if file.suffix in {".gz", ".zst"} else file.stem
        found.setdefault(SHARD.sub("", stem) or file.parent.name, []).append(file)
    return found


def files_of_split(folder: Path, split: str | None, role: str) -> list[Path]:
    """Files of a split of a dataset folder.

    It is what `save_to_disk` writes, or has a README.md whose head names the files, or files named after splits.

    Args:
        folder: The folder.
        split: The split; None for the only one.
        role: Role of the folder where a command reads several, for messages; empty for the main one.

    Returns:
        The files, in order.

    Raises:
        UnknownName: There is no such split.
        UsageError: There are several splits, and none is named.
        InvalidInput: There are no tables in the folder.
    """
    found = saved(folder) or _declared(folder) or by_split(_data_files(folder))
    if not found:
        raise InvalidInput("a folder without tables (.parquet, .arrow, .jsonl, .csv, .tsv, .json)", where=str(folder))
    if split is None:
        if len(found) > 1:
            raise UsageError(
                "{folder}: the folder has the splits {splits}; choose one with {setting}",
                folder=str(folder),
                splits=", ".join(found),
                setting=file_setting("split", Blank(f"{role}{'=' * bool(role)}NAME"), python="split=NAME"),
            )
        [split] = found
    if split not in found:
        raise UnknownName(f"split of {folder}", split, sorted(found))
    return found[split]


def _data_files(folder: Path) -> list[Path]:
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in METADATA
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    for endings in KINDS:
        if several := [path for path in files if path.name.lower().endswith(endings)]:
            return several
    return []


def saved(folder: Path) -> dict[str, list[Path]]:
    """Files by split of what `save_to_disk` wrote: a dataset, or a dictionary of several.

    Args:
        folder: The folder.

    Returns:
        Arrow files; none where something else wrote the folder.

    Raises:
        InvalidInput: Its description is damaged.
    """
    several, one = folder / "dataset_dict.json", folder / "state.json"
    if several.is_file():
        splits = read_object(several).get("splits")
        if not isinstance(splits, list) or not all(isinstance(name, str) for name in splits):
            raise InvalidInput(f"expected a list of names, got {shown(splits)}", where=str(several), field="splits")
        return {name: _arrow_files(folder / _inside(name, several)) for name in splits}
    return {"all": _arrow_files(folder)} if one.is_file() else {}


def _arrow_files(folder: Path) -> list[Path]:
    state = folder / "state.json"
    files = read_object(state).get("_data_files")
    names = [each.get("filename") for each in files if isinstance(each, dict)] if isinstance(files, list) else []
    if not names:
        raise InvalidInput(f"expected the names of files, got {shown(files)}", where=str(state), field="_data_files")
    return [folder / _inside(str(name), state) for name in names]


def _inside(name: str, where: Path) -> str:
    """Refuse a path that leaves its folder."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise InvalidInput(f"expected a path within the folder, got {shown(name)}", where=str(where))
    return name


def _declared(folder: Path) -> dict[str, list[Path]]:
    """Splits by the head of README.md: `configs`, with their `data_files`."""
    readme = folder / "README.md"
    if not readme.is_file():
        return {}
    head = re.match(r"\ufeff?---\r?\n(.*?)\n---", readme.read_text("utf-8", "replace"), re.DOTALL)
    if head is None or not re.search(r"^configs:", head[1], re.MULTILINE):
        return {}
    with needs(f"{readme}: the list of data files", "tables"):
        import yaml  # type: ignore[import-untyped]  # noqa: PLC0415
    try:
        configs = yaml.safe_load(head[1]).get("configs")
    except (yaml.YAMLError, AttributeError) as error:
        raise InvalidInput("the head is not YAML", where=str(readme)) from error
    configs = [each for each in configs if isinstance(each, dict)] if isinstance(configs, list) else []
    found: dict[str, list[Path]] = {}
    for config in configs:
        name = str(config.get("config_name", "default"))
        plain = len(configs) == 1 or name == "default" or config.get("default") is True
        for split, patterns in _patterns(config.get("data_files")).items():
            try:
                files = [path for pattern in patterns for path in sorted(folder.glob(_inside(pattern, readme)))]
            except ValueError:  # no pattern
                files = []
            if not files:
                names = ", ".join(map(shown, patterns))
                raise InvalidInput(f"expected the names of files, got {names}", where=str(readme), field="data_files")
            found[split if plain else f"{name}/{split}"] = files
    return found


def _patterns(given: object) -> Mapping[str, Sequence[str]]:
    """Patterns of files by split, in all the forms that they are written in."""
    if isinstance(given, str):
        return {"train": [given]}
    if isinstance(given, dict):
        return {str(split): _listed(paths) for split, paths in given.items()}
    if isinstance(given, list) and all(isinstance(each, dict) for each in given):
        return {str(each.get("split", "train")): _listed(each.get("path")) for each in given}
    return {"train": _listed(given)} if given else {}


def _listed(paths: object) -> list[str]:
    return [str(path) for path in paths] if isinstance(paths, list) else [str(paths)]
