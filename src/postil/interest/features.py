"""Features of the passages of an English page.

Its lists of words were written by hand, by sense and not by frequency in any text; a star stands for any ending.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.metrics.passage_pools import PassageCollection
from postil.text.stop_words import stop_words, without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Tokens, Units, Vocabulary, ngram_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray


__all__ = ["FEATURES", "SHOWN", "WHOLE", "WORD_LISTS", "Features", "WordList", "cues", "page_names"]

WORDS: Final = frozenset({"first", "only", "never"})
QUANTIFIERS: Final = frozenset({"most", "least"})
"""Superlatives after a determiner (the most); else numbers of things (most people) or degrees (most unusual)."""
IRREGULAR: Final = frozenset({"best", "worst", "utmost", "foremost"}) | QUANTIFIERS
"""Superlatives without the ending -est."""
DETERMINERS: Final = frozenset(
    {"the", "its", "his", "her", "their", "our", "my", "your", "whose", "s", "second", "third"}
)
"""Words before a superlative; *s* is that of a genitive."""
_ENDING_IN_EST: Final = (
    "anapest armrest arrest attest backrest behest bequest bucharest budapest chest congest conquest contest crest "
    "deforest detest digest disinterest divest earnest ernest everest footrest forest forrest guest harvest "
    "headrest hillcrest honest dishonest immodest incest infest ingest inquest interest invest jest lest manifest "
    "midwest modest molest nest northwest palimpsest pest priest protest quest rainforest reforest request rest "
    "retest southwest suggest tempest test unrest vest west wrest zest"
)
NO_SUPERLATIVES: Final = frozenset(_ENDING_IN_EST.split())
"""Words with the ending -est that are no superlatives."""
SHORT: Final = 4
"""Largest number of letters of words in -est that are none, such as rest."""
NOT_AFTER: Final = {
    "first": ("at",),
    "only": ("not", "if"),
    "most": ("at",),
    "least": ("at",),
}
"""Words before a cue that make it none: "at least", "not only"."""
NOT_BEFORE: Final = {"first": (",", " of all"), "most": (" of ",), "least": (" of ",)}
"""Text after a cue that makes it none: "first, …", "most of the …"."""

NEAR: Final = 9
"""Number of characters before a cue in which the word before it is looked for."""

_LAST: Final = re.compile(r"\w+(?=\W*$)")
_CUE: Final = re.compile(r"\b\w*(?:first|only|never|st)\b")


def cues(text: str) -> Iterator[str]:
    """Find the cues of a text, as readers are shown them.

    Args:
        text: The text.

    >>> list(cues("The only lake here: at least the deepest, and the first to freeze. We rest."))
    ['only', 'superlative: deepest', 'first']
    >>> list(cues("Most people rest here, on the most remote of lakes."))
    ['most', 'superlative: most']
    """
    lowered = text.lower()
    for match in _CUE.finditer(lowered):
        word = match[0]
        last = _LAST.search(lowered[max(0, match.start() - NEAR) : match.start()])
        before = last[0] if last else ""
        if word in WORDS or (word in QUANTIFIERS and before not in DETERMINERS):
            shown = word
        elif word in IRREGULAR or (word.endswith("est") and len(word) > SHORT and word not in NO_SUPERLATIVES):
            shown = f"superlative: {word}"
        else:
            continue
        if before not in NOT_AFTER.get(word, ()) and not lowered.startswith(NOT_BEFORE.get(word, ()), match.end()):
            yield shown


_MONTHS: Final = "january february march april may june july august september october november december"
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"
CALENDAR: Final = frozenset(f"{_MONTHS} {_DAYS}".split())
"""Capitalized words that name a date only."""
OPENING: Final = frozenset("\"'“”„‘«»([{*_")
"""Marks after which a sentence, a title or a quotation begins."""
ABBREVIATED: Final = 3
"""Largest number of letters of a capitalized word that a full stop abbreviates, such as Mr. or St."""

# No pattern matches upper-case letters of all scripts: this one leaves out what is surely none.
_CAPITALIZED: Final = re.compile(r"\b[^\W\d_a-z]\w*(?:[’'&.-]\w+)*")
_BETWEEN: Final = re.compile(r"[ \xa0]|-|\. | (?:of|of the|de|de la|del|di|da|van|van der|von) ")
"""Text between two capitalized words of one name."""
_POSSESSIVE: Final = re.compile(r"[’'](?:s|S)?$")


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    begins: bool
    """True where a sentence may begin, so that the capital letter says nothing."""


def page_names(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Find the distinct names of each passage of a page.

    A name is a run of capitalized words, or a word in capital letters. The first word of a sentence is one only where
    the page has it with a capital inside a sentence too.

    Args:
        texts: n passages.

    Returns:
        n tuples, each in order of first occurrence.

    >>> page_names(["Nobody at NASA had asked Ada of York.", "Ada left. Rain fell on Monday."])
    [('NASA', 'Ada of York'), ('Ada',)]
    """
    words = [list(_capitalized(text)) for text in texts]
    inside = {word.text for some in words for word in some if not word.begins}
    return [tuple(dict.fromkeys(_names(text, some, inside))) for text, some in zip(texts, words, strict=True)]


def _capitalized(text: str) -> Iterator[_Word]:
    if text == text.upper():  # a heading in capitals, or a script without them
        return
    for match in _CAPITALIZED.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        if word[0].isupper() and _base(word) not in CALENDAR:
            yield _Word(match.start(), match.end(), word, _begins_sentence(text, match.start()))


def _names(text: str, words: list[_Word], inside: set[str]) -> Iterator[str]:
    """The names of a text: runs of its capitalized words that are names or parts of names."""
    stop = stop_words("en")
    begin = end = -1
    content = False
    for word in words:
        is_stop = _base(word.text) in stop
        acronym = len(word.text) > 1 and word.text.isupper()
        if word.begins and not acronym and (is_stop or word.text not in inside):
            continue
        if begin < 0 or not _BETWEEN.fullmatch(text, end, word.start):
            if content:
                yield _name(text, begin, end)
            begin, content = word.start, False
        end = word.end
        content = content or acronym or not is_stop
    if content:
        yield _name(text, begin, end)


def _name(text: str, begin: int, end: int) -> str:
    return _POSSESSIVE.sub("", text[begin:end].replace("\xa0", " "))


def _base(word: str) -> str:
    """The word without what is behind an apostrophe, as "I" of "I'm"."""
    return word.replace("’", "'").partition("'")[0].lower()


def _begins_sentence(text: str, start: int) -> bool:
    """True if the word there is the first of the text, of a sentence or of a quotation."""
    at = start - 1
    while at >= 0 and (text[at].isspace() or text[at] in OPENING):
        if text[at] in OPENING:
            return True
        at -= 1
    if at < 0 or text[at] in "!?…:;•":
        return True
    return text[at] == "." and not _is_abbreviation(text, at)


def _is_abbreviation(text: str, stop: int) -> bool:
    """True if the full stop there ends an initial or a short capitalized word."""
    begin = stop
    while begin > 0 and stop - begin <= ABBREVIATED and text[begin - 1].isalpha():
        begin -= 1
    return 0 < stop - begin <= ABBREVIATED and text[begin].isupper()


class WordList(NamedTuple):
    """Words of one feature.

    Args:
        shown: Name of a word of the list as a reason.
        words: Words as they are.
        stems: Beginnings of words.
        part: Words of the list that have another name as a reason.
    """

    shown: str
    words: frozenset[str]
    stems: tuple[str, ...]
    part: WordList | None = None

    @classmethod
    def of(cls, shown: str, text: str, part: WordList | None = None) -> WordList:
        """Read a list.

        Args:
            shown: Name of a word of the list as a reason.
            text: Words with spaces between them, in small letters.
            part: More words, which have another name as a reason.
        """
        every = text.split()
        stems = tuple(word[:-1] for word in every if word.endswith("*"))
        return cls(shown, frozenset(word for word in every if not word.endswith("*")), stems, part)

    def has(self, word: str) -> bool:
        """True if a word in small letters is on the list."""
        of_part = self.part is not None and self.part.has(word)
        return of_part or word in self.words or bool(self.stems and word.startswith(self.stems))

    def reason(self, word: str) -> str:
        """Name of a word of the list as a reason.

        Args:
            word: The word, in small letters.

        >>> sea = WordList.of("ship", "ship* sail", WordList.of("water", "wave*"))
        >>> sea.reason("ships"), sea.reason("waves")
        ('ship: ships', 'water: waves')
        """
        return self.part.reason(word) if self.part and self.part.has(word) else f"{self.shown}: {word}"

    def holds(self, known: Sequence[str]) -> NDArray[np.bool_]:
        """Find the words that are on the list.

        Args:
            known: n words in small letters.

        >>> WordList.of("sea", "ship* sail").holds(["ships", "sails", "sail"]).tolist()
        [True, False, True]
        """
        return np.fromiter(map(self.has, known), np.bool_, len(known))


_TELLING: Final = """
death deaths dead deadly die dies died dying kill* murder* suicid* assassin* execut* hang* hanged drown* bury buried
burial grave graves tomb* corpse* skeleton* skull* war wars warfare battle* fight* fought attack* weapon* gun guns
bomb* bullet* sword* shot shoot* soldier* army armies enemy enemies invad* conquer* massacre* slaughter* torture*
wound* blood* violen* victim* survive* survivor* destroy* destruct* explod* explosion* crash* burn* burnt fire flames
disaster* catastroph* collaps* sank sunk wreck* nuclear radioactiv* poison* toxic danger* threat* terror* rebel*
revolt* revolution* riot*
body bodies brain* heart hearts skin bone bones flesh tooth teeth eyes tongue finger* naked blind* deaf mad madness
insane sick* disease* plague* fever* cancer drug drugs drunk* alcohol* wine beer whisky opium addict* sleep* birth
born pregnan* baby babies sex sexual* pain* cure* healing medicine*
love* hate* hatred fear* afraid anger angry fury rage joy* happy happiness sad sadness grief pride proud shame asham*
guilt* jealous* envy lonely loneliness hope hopes despair* dream* nightmare* laugh* cry cried crying tears weep* wept
smile* passion* desire* courage* brave cowardly coward* cruel* mercy merciless kindness suffer* obsess* horror*
horrif* delight* disgust* enjoy* beautiful beauty ugly
man men woman women people girl girls boy boys child children mother* father* son sons daughter* wife wives husband*
brother* sister* family families friend friends lover* marry marri* divorc* king kings queen* prince* princess*
emperor* empress* slave* slavery servant* beggar* thief thieves hero* heroine* genius* fool* saint* priest* monk*
bishop* pope witch* stranger* nobody everybody everyone anyone humans humanity mankind
god gods goddess* devil* heaven* hell soul* spirit* ghost* magic* miracle* myth* legend* prophe* sacred holy* bible
curse* immortal* eternal* monster* dragon* mystic* mysterious* myster* supernatural paradise angel* demon* sin sins
money rich* poor poverty fortune* wealth* gold* silver treasure* million* billion* dollar* pay paid bankrupt* debt*
profit* tax taxes steal stole stolen theft rob robbed bribe* corrupt* power powerful powerless tyran* dictator*
regime* freedom free liberty equal* justice unjust crime* criminal* prison* jail* arrest* police law* illegal* outlaw*
secret* hidden hide hiding conceal* disguis* mask* spy spies spied lie lies lied liar* fake* false* fraud* forg* hoax*
decei* deceptive trick* cheat* betray* rumor* rumour* scandal* conspir* censor* ban banned banning forbid* forbade
reject* refus* denied deny denies
surpris* astonish* amaz* remarkabl* strange* odd oddly curious* bizarre* weird* absurd* ridiculous* ironic* irony
paradox* unexpected* unusual* unlikely rare rarely unique* contrary mistak* misconception* accident* impossible
unknown unprecedented extraordinary sudden* actually famous* infamous notorious* wrong*
"""
_ABSOLUTE: Final = """
ever always forever alone entire* whole every everything nothing none no all completely utterly absolutely totally
"""
_EXTENT: Final = """
enormous* huge giant* tiny vast world earth universe century centuries thousand* hundred*
"""

WORD_LISTS: Final[Mapping[str, WordList]] = MappingProxyType(
    {
        "telling": WordList.of("telling word", _TELLING),
        "absolute": WordList.of("absolute", _ABSOLUTE, WordList.of("extent", _EXTENT)),
        "contrast": WordList.of(
            "contrast",
            "but although though despite whereas instead yet however unlike rather without not nor neither cannot even",
        ),
        "comparison": WordList.of(
            "comparison", "than more less better worse larger smaller greater higher lower older longer"
        ),
        "present": WordList.of("statement", "is are"),
    }
)
"""Word lists by the name of their feature."""
PRONOUNS: Final = WordList.of(
    "begins with", "it its he she they his her their him them this these those that such both one"
)
"""Words that stand for something named before, at the beginning of a sentence."""
CONNECTIVES: Final = WordList.of(
    "begins with",
    "however therefore thus hence also then so and but or nor yet furthermore moreover additionally instead otherwise "
    "accordingly consequently nevertheless nonetheless similarly likewise finally still rather further again besides "
    "meanwhile here there for specifically eventually later afterwards indeed first second third another other "
    "others some",
)
"""Words that join a sentence to the one before it, at its beginning."""


FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cues": "number of superlatives and of first, only, never",
        "names": "ln(1 + distinct names)",
        "overlap": "F1 over pairs of words with the other passages of the page, without stop words (f1-2)",
        "telling": "ln(1 + distinct words for life and death, feelings, people, power, secrets and surprise)",
        "absolute": "ln(1 + distinct words such as every, nothing, world)",
        "contrast": "ln(1 + distinct words such as but, although, not)",
        "comparison": "ln(1 + distinct words such as than, more, older)",
        "present": "ln(1 + distinct words of is, are)",
        "pronoun": "1 if it begins with a word such as it, he, this",
        "connective": "1 if it begins with a word such as however, also, and",
        "brackets": "ln(1 + opening brackets)",
        "question": "1 if it ends with a question mark",
        "long": "words above 32",
        "length": "ln(1 + words)",
        "letters": "mean letters of a word",
        "new": "ln(1 + distinct words of four letters or more that no other passage has)",
    }
)
"""The features by name, with their formula; models read them in standard deviations from the mean of the page."""
WHOLE: Final = tuple(FEATURES).index("length")
"""Number of the first feature that no unit of a passage has a part in, as have all after it."""
SHOWN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "length": ("brevity", "length"),
        "letters": ("short words", "long words"),
        "new": ("words that the page has elsewhere", "words that are new on the page"),
    }
)
"""Names of these features as reasons, of values below the mean of the page and above it."""
LONG: Final = 32
"""Number of words above which a sentence is long."""
NEW: Final = 4
"""Smallest number of letters of words that are counted as new."""
_CLOSING: Final = "\"'”’)] "
"""Marks behind the question mark of a question."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Features of the n passages of a page, and what they consist of.

    Args:
        texts: The passages.
        tokens: Their words.
        values: float64[n, features], by `FEATURES`.
        names: Names of each passage.
        pairs: Pairs of words of each passage, without stop words.
        shared: bool[E], True for the entries of ``pairs`` that another passage of the page has.
        words: Words of each passage.
        listed: By feature of `WORD_LISTS`, True for the words of the page that are on its list.
        known: Words of the page, by the ids in ``pairs`` and ``words``.
    """

    texts: Sequence[str]
    tokens: Tokens
    values: NDArray[np.float64]
    names: Sequence[tuple[str, ...]]
    pairs: Units
    shared: NDArray[np.bool_]
    words: Units
    listed: Mapping[str, NDArray[np.bool_]]
    known: Sequence[str]

    @classmethod
    def of(cls, texts: Sequence[str], jobs: int = 1) -> Features:
        """Read the passages of a page.

        Args:
            texts: n passages.
            jobs: Number of threads; the result does not depend on it.

        >>> page = Features.of(["The first boat left Ely.", "It sank."])
        >>> dict(zip(FEATURES, page.values[1].round(2).tolist(), strict=True))["telling"]
        0.69
        """
        tokens = Vocabulary().encode(texts, tokenizer("words"), jobs, allow_han=True)
        stripped = without_stop_words(tokens, "en")
        pairs, words = ngram_units(stripped, 2), ngram_units(tokens)
        known = tokens.vocabulary.words()
        names = page_names(texts)
        shared, overlap = _overlap(stripped, pairs)
        listed = {name: some.holds(known) for name, some in WORD_LISTS.items()}
        columns = [
            np.array([sum(1 for _ in cues(text)) for text in texts], np.float64),
            np.log1p([len(each) for each in names]),
            overlap,
            *(np.log1p(_sums(words, some.astype(np.float64))) for some in listed.values()),
            *_openings(tokens, known),
            np.log1p([text.count("(") + text.count("[") for text in texts]),
            np.array([text.rstrip(_CLOSING).endswith("?") for text in texts], np.float64),
            np.maximum(tokens.lengths - float(LONG), 0.0),
            np.log1p(tokens.lengths),
            *_vocabulary(tokens, words, known),
        ]
        values = np.stack(columns, axis=1) if texts else np.zeros((0, len(FEATURES)))
        return cls(texts, tokens, values, names, pairs, shared, words, listed, known)

    def parts(self, index: int) -> Iterator[tuple[int, str, float]]:
        """Units of a passage: number of the feature, name for readers, and share in the feature's value.

        Args:
            index: The passage.
        """
        for feature, units in enumerate(self._units(index)):
            value = float(self.values[index, feature])
            for unit in units if value else ():
                yield feature, unit, value / len(units)

    def _units(self, index: int) -> Iterator[list[str]]:
        """Units of a passage by feature, which share its value equally."""
        text = self.texts[index]
        yield list(cues(text))
        yield [f"name: {name}" for name in self.names[index]]
        here = slice(self.pairs.offsets[index], self.pairs.offsets[index + 1])
        grams = self.pairs.grams[self.pairs.units[here][self.shared[here]]]
        yield [f"shares '{' '.join(self.known[word] for word in gram)}' with the page" for gram in grams.tolist()]
        words = self.words.units[self.words.offsets[index] : self.words.offsets[index + 1]]
        ids = self.words.grams[words, 0]
        for name, listed in self.listed.items():
            yield [WORD_LISTS[name].reason(self.known[word]) for word in ids[listed[ids]].tolist()]
        opening = self.known[ids[0]] if len(ids) else ""
        yield [f"{PRONOUNS.shown} '{opening}'"]
        yield [f"{CONNECTIVES.shown} '{opening}'"]
        yield ["brackets"]
        yield ["question"]
        yield [f"longer than {LONG} words"]


def _sums(units: Units, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the weights of the distinct words of each text; float64[words of the page] are the weights."""
    rows = np.repeat(np.arange(len(units)), units.types)
    return np.asarray(np.bincount(rows, weights[units.grams[units.units, 0]], len(units)), np.float64)


def _openings(tokens: Tokens, known: Sequence[str]) -> Iterator[NDArray[np.float64]]:
    """1 for the texts whose first word is a pronoun, then for those whose first word is a connective."""
    begun = tokens.lengths > 0
    first = tokens.ids[tokens.offsets[:-1][begun]]
    for some in (PRONOUNS, CONNECTIVES):
        out = np.zeros(len(tokens))
        out[begun] = some.holds(known)[first]
        yield out


def _vocabulary(tokens: Tokens, words: Units, known: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean number of letters of the words of each text, and ln(1 + new words)."""
    letters = np.array([len(word) for word in known], np.float64)
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    mean = np.bincount(rows, letters[tokens.ids], len(tokens)) / np.maximum(tokens.lengths, 1)
    holders = np.zeros(len(known))
    np.add.at(holders, words.grams[words.units, 0], 1.0)
    new = _sums(words, ((holders == 1) & (letters >= NEW)).astype(np.float64))
    return mean, np.log1p(new)


def _overlap(words: Tokens, pairs: Units) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The pairs that each passage shares with the others, and F1: ``2 s / (U + s)``.

    Of U pairs of the page the passage shares s with passages that differ from it. The reference lacks the pairs that
    are its own alone, so ``|R| + |S| = U - (|S| - s) + |S|``: `postil.metrics.passage_measures.FScore` in closed form.
    """
    same = np.array(PassageCollection(words).duplicates(), np.int64)
    copies = np.bincount(same, minlength=len(same))[same]
    rows = np.repeat(np.arange(len(pairs)), pairs.types)
    holders = np.bincount(pairs.units, minlength=pairs.distinct)
    shared = holders[pairs.units] > copies[rows]
    number = np.bincount(rows[shared], minlength=len(pairs)).astype(np.float64)
    return shared, 2 * number / np.maximum(pairs.distinct + number, 1.0)
