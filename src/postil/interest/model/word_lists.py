"""Lists of English words whose number a sentence that readers want to read on from differs in.

The lists were written by hand, by sense and not by frequency in any text; a star stands for any ending.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CONNECTIVES", "PRONOUNS", "WORD_LISTS", "WordList"]


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
