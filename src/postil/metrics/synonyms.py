"""Synonyms by WordNet, where the user has it.

Two words are synonyms when they share a synset. The synsets of a word follow the rule of the METEOR 1.5 jar, found by
asking it about 130,000 pairs of words: those of the word itself and those of its base forms, of whatever part of
speech. The base forms are

- those of the exception lists (``mice``: ``mouse``), when the word stands in any of the four;
- otherwise the first of these that is in WordNet, as any part of speech: cut ``s``; ``ies`` to ``y``; cut ``es``;
  ``men`` to ``man``; ``ed`` to ``e``; cut ``ed``; ``ing`` to ``e``; cut ``ing``; cut ``er``; ``er`` to ``e``; cut
  ``est``; ``est`` to ``e``. A word of two letters, or one in ``ss``, has none.

Words are looked up as they are, and WordNet's index is in lower case: ``Car`` is not in it.

The files are those that wndb(5WN) describes. WordNet 3.0, which Debian and NLTK give, is the one that the jar has.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["WordNet"]

_PARTS = ("noun", "verb", "adj", "adv")
_FILES = tuple(f"index.{part}" for part in _PARTS) + tuple(f"{part}.exc" for part in _PARTS)
_PART_STEP = 10**8  # offsets have eight digits
_ENDINGS = (
    ("s", ""),
    ("ies", "y"),
    ("es", ""),
    ("men", "man"),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("est", "e"),
)
_LARGEST = 1 << 28
"""Largest number of bytes of a file of WordNet; the largest of version 3.1 has 16 MB."""
_VERSION = re.compile(r"WordNet (\d[\d.]*\d) Copyright")
_HOW_TO_GET = (
    "Get it with one of: apt-get install wordnet-base; python -m nltk.downloader wordnet; or set POSTIL_WORDNET to a "
    "folder that holds index.noun, noun.exc and the other index and exception files of WordNet"
)


@dataclass(frozen=True, eq=False)
class WordNet:
    """The synsets of English words.

    Make one with `WordNet.find` or `WordNet.read`.

    Args:
        place: The folder or zip archive it was read from.
        version: The version that its licence text names, for example ``3.0``; empty if it names none.
        lemmas: Lemma (lower case, ``_`` for a space) to its synsets.
        exceptions: Irregular form to base forms.
    """

    place: Path
    version: str
    lemmas: Mapping[str, tuple[int, ...]] = field(repr=False)
    exceptions: Mapping[str, tuple[str, ...]] = field(repr=False)

    @classmethod
    def find(cls, path: Path | None = None) -> WordNet:
        """Read the first WordNet found.

        Looks at: `path`; the environment variable ``POSTIL_WORDNET``; ``/usr/share/wordnet``; ``corpora/wordnet`` and
        ``corpora/wordnet.zip`` in the places where NLTK keeps data. The first two, where given, must be a WordNet.

        Args:
            path: A folder, or a zip archive of one.

        Raises:
            UsageError: There is none; the message says how to get it.
            InvalidInput: A line of its files is not in WordNet's format.

        >>> from postil.errors import UsageError
        >>> try:
        ...     WordNet.find(Path("nowhere"))
        ... except UsageError as error:
        ...     print(str(error)[:55])
        no WordNet in 'nowhere': index.noun is not there. Get i
        """
        given = ((path, ""), (os.environ.get("POSTIL_WORDNET") or None, " (POSTIL_WORDNET)"))
        for place, source in given:
            if place is not None:
                missing = _first_missing(Path(place))
                if missing:
                    raise UsageError(f"no WordNet in '{place}'{source}: {missing} is not there. {_HOW_TO_GET}")
                return cls.read(Path(place))
        for candidate in _usual_places():
            if not _first_missing(candidate):
                return cls.read(candidate)
        raise UsageError(f"METEOR's synonym stage needs WordNet, and none was found. {_HOW_TO_GET}")

    @classmethod
    def read(cls, place: Path) -> WordNet:
        """Read the WordNet of a folder or a zip archive.

        Raises:
            InvalidInput: A file is missing, or a line is not in WordNet's format.
        """
        missing = _first_missing(place)
        if missing:
            raise InvalidInput(f"expected a WordNet, but {missing} is not there", where=str(place))
        lemmas: dict[str, list[int]] = {}
        exceptions: dict[str, list[str]] = {}
        version = ""
        for number, part in enumerate(_PARTS):
            for line, text in _lines(place, f"index.{part}"):
                if text.startswith(" "):
                    found = _VERSION.search(text)
                    version = version or (found[1] if found else "")
                else:
                    lemma, offsets = _index_entry(text, f"{place}/index.{part}", line)
                    lemmas.setdefault(lemma, []).extend(number * _PART_STEP + offset for offset in offsets)
            for line, text in _lines(place, f"{part}.exc"):
                form, *bases = text.split() or [""]
                if not bases:
                    raise InvalidInput(
                        f"expected a form and its base forms, got '{text}'",
                        where=f"{place}/{part}.exc",
                        line=line,
                    )
                exceptions.setdefault(form, []).extend(bases)
        return cls(
            place,
            version,
            {lemma: tuple(synsets) for lemma, synsets in lemmas.items()},
            {form: tuple(dict.fromkeys(bases)) for form, bases in exceptions.items()},
        )

    @property
    def signature(self) -> str:
        """Name, version and hash in signatures: for example ``wordnet-3.0-0123456789ab``."""
        content = repr((sorted(self.lemmas.items()), sorted(self.exceptions.items())))
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return "-".join(filter(None, ("wordnet", self.version, digest)))

    def base_forms(self, word: str) -> tuple[str, ...]:
        """Return the base forms of a word by the rule at the head of this module; often one, or none.

        >>> wordnet = WordNet(Path(), "3.0", {"car": (2,), "axe": (5,), "axis": (7,)}, {"axes": ("axis", "axe")})
        >>> wordnet.base_forms("cars"), wordnet.base_forms("axes"), wordnet.base_forms("bus")
        (('car',), ('axis', 'axe'), ())
        """
        listed = self.exceptions.get(word)
        if listed is not None:
            return listed
        if len(word) < 3 or word.endswith("ss"):
            return ()
        for ending, base_ending in _ENDINGS:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + base_ending
                if base in self.lemmas:
                    return (base,)
        return ()

    def synsets(self, word: str) -> tuple[int, ...]:
        """Return the synsets of a word and of its base forms.

        A synset's number is its offset in the data file, plus 0 (noun), 1 (verb), 2 (adjective) or 3 (adverb) times
        10^8: it fits in an int32 and means something only within one version of WordNet.

        Returns:
            The numbers, rising, each once; none for a word that WordNet does not have.

        >>> wordnet = WordNet(Path(), "3.0", {"car": (2, 9), "automobile": (2,)}, {})
        >>> wordnet.synsets("cars"), wordnet.synsets("automobile"), wordnet.synsets("bus")
        ((2, 9), (2,), ())
        """
        found = set(self.lemmas.get(word, ()))
        for base in self.base_forms(word):
            found.update(self.lemmas.get(base, ()))
        return tuple(sorted(found))


def _index_entry(text: str, where: str, line: int) -> tuple[str, list[int]]:
    """Return the lemma and the offsets of a line: lemma pos synset_cnt p_cnt [symbols] sense_cnt tagged offsets."""
    fields = text.split()
    try:
        count, pointers = int(fields[2]), int(fields[3])
        offsets = [int(number) for number in fields[6 + pointers :]]
    except (ValueError, IndexError):
        count, offsets = 0, []
    if count < 1 or len(offsets) != count or not all(0 <= offset < _PART_STEP for offset in offsets):
        raise InvalidInput(f"expected an entry of a WordNet index, got '{text[:60]}'", where=where, line=line)
    return fields[0], offsets


def _lines(place: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of one file of a folder or archive, without their ends."""
    try:
        if place.is_dir():
            content = (place / name).read_bytes()
        else:
            with zipfile.ZipFile(place) as archive:
                member = archive.getinfo(_members(archive)[name])
                if member.file_size > _LARGEST:
                    raise InvalidInput(f"expected at most {_LARGEST:,} bytes inflated", where=f"{place}/{name}")
                content = archive.read(member)
    except (OSError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidInput(f"cannot be read: {error}", where=f"{place}/{name}") from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput("expected UTF-8 text", where=f"{place}/{name}", line=line) from error
    return ((line, text) for line, text in enumerate(text.split("\n"), 1) if text.strip())


def _members(archive: zipfile.ZipFile) -> dict[str, str]:
    """File name to member name, of the files at the top of an archive or in its folder ``wordnet``."""
    return {name.removeprefix("wordnet/"): name for name in archive.namelist()}


def _first_missing(place: Path) -> str:
    """Return the first file that a WordNet must have and this place has not; empty if it has all."""
    if place.is_file() and zipfile.is_zipfile(place):
        with zipfile.ZipFile(place) as archive:
            there = set(_members(archive))
    else:
        there = {name for name in _FILES if (place / name).is_file()}
    return next((name for name in _FILES if name not in there), "")


def _usual_places() -> Iterator[Path]:
    yield Path("/usr/share/wordnet")
    for folder in _nltk_folders():
        yield folder / "corpora" / "wordnet"
        yield folder / "corpora" / "wordnet.zip"


def _nltk_folders() -> Iterator[Path]:
    """Yield where NLTK looks for data, in its order."""
    for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep):
        if folder:
            yield Path(folder)
    with suppress(RuntimeError):  # a user without a home
        yield Path.home() / "nltk_data"
    prefix = Path(sys.prefix)
    yield from (prefix / "nltk_data", prefix / "share" / "nltk_data", prefix / "lib" / "nltk_data")
    if "APPDATA" in os.environ:
        yield Path(os.environ["APPDATA"]) / "nltk_data"
    for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"):
        yield Path(root) / "nltk_data"
