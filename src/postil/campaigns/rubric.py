"""Rubrics: the question for annotators, and the meaning of each grade, of one aspect or several; four are bundled."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import msgspec
from msgspec.structs import force_setattr

from postil.campaigns.models import ItemType, Kind, Rating
from postil.data.explain import RepeatedKey, load_json
from postil.data.streams import file_bytes
from postil.errors import InvalidInput, UnknownName, UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence


__all__ = ["LANGUAGES", "Aspect", "Rubric", "ratings_by_aspect", "ratings_of"]


MAX_GRADES: Final = 10
"""Maximum number of grades: one digit key each."""


MAX_ASPECTS: Final = 8
"""Maximum number of aspects: as many as a page shows under one another."""


def _check_texts(scale: Rubric | Aspect, *fields: str) -> None:
    for field in fields:
        if not getattr(scale, field).strip():
            raise InvalidInput("expected a text, got an empty one", where="rubric", field=field)


def _check_scale(scale: Rubric | Aspect, prefix: str = "") -> None:
    if not 0 <= scale.low < scale.high:
        problem = f"expected low below high and neither below 0, got {scale.low} and {scale.high}"
        raise InvalidInput(problem, where="rubric", field=f"{prefix}low")
    if scale.high - scale.low >= MAX_GRADES or scale.high > MAX_GRADES - 1:
        problem = f"expected grades of one digit (0 to 9), got {scale.low} to {scale.high}"
        raise InvalidInput(problem, where="rubric", field=f"{prefix}high")
    if not any(word.strip() for word in scale.words):
        force_setattr(scale, "words", ())  # a template whose entries were left empty has none
    if not any(scale.examples):
        force_setattr(scale, "examples", ())
    for field in ("words", "examples"):
        given = len(getattr(scale, field))
        if given not in {0, len(scale.grades)}:
            problem = f"expected one entry per grade ({len(scale.grades)}), got {given}"
            raise InvalidInput(problem, where="rubric", field=f"{prefix}{field}")


class Aspect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of several questions about an item, with a scale of its own.

    Args:
        name: Short name, used in exports.
        question: Question for annotators.
        low: Lowest grade.
        high: Highest grade; every whole number from low to high is a grade.
        words: Meaning of each grade, from low to high.
        examples: Examples of each grade, from low to high.
    """

    name: str
    question: str
    low: int = 1
    high: int = 5
    words: tuple[str, ...] = ()
    examples: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        _check_texts(self, "name", "question")
        _check_scale(self, f"aspects.{self.name}.")

    @property
    def grades(self) -> tuple[int, ...]:
        """All grades."""
        return tuple(range(self.low, self.high + 1))


class Rubric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question with its scale.

    Args:
        name: Short name; the aspect in exports.
        question: Question for annotators.
        kind: ``grade``; ``spans`` for span annotations of the parts that the question is about; or ``pair`` for the
            preference for one of two texts.
        low: Lowest grade.
        high: Highest grade; every whole number from low to high is a grade.
        words: Meaning of each grade, from low to high.
        examples: Examples of each grade, from low to high.
        lang: Language of the rubric, as a BCP 47 tag.
        aspects: Questions that are asked together, each with a scale of its own; none where there is one question.
        ties: For ``pair``: True if neither text need be better.

    >>> rubric = Rubric.default("en")
    >>> rubric.grades
    (1, 2, 3, 4, 5)
    >>> rubric.words[0]
    'Hard to read or no sentence: broken or meaningless words, only signs or emoji.'
    """

    name: str
    question: str
    kind: Kind = "grade"
    low: int = 1
    high: int = 5
    words: tuple[str, ...] = ()
    examples: tuple[tuple[str, ...], ...] = ()
    lang: str = "en"
    aspects: tuple[Aspect, ...] = ()
    ties: bool = True

    def __post_init__(self) -> None:
        _check_texts(self, "name", "question", "lang")
        if self.aspects:
            self._check_aspects()
        elif self.kind == "pair":
            self._check_pair()
        elif self.kind != "spans":
            _check_scale(self)

    def _check_pair(self) -> None:
        """Grades of a pair are 1 for the first text, 2 for a tie and 3 for the second one, each with its words."""
        force_setattr(self, "low", 1)
        force_setattr(self, "high", 3)
        if self.examples:
            raise InvalidInput("expected none, as a pair has no grades", where="rubric", field="examples")
        if not self.ties and len(self.words) == 2:
            force_setattr(self, "words", (self.words[0], "", self.words[1]))
        if len(self.words) not in {0, 3}:
            expected = "three texts (left better, tie, right better)" if self.ties else "two texts (left, right better)"
            raise InvalidInput(f"expected {expected}, got {len(self.words)}", where="rubric", field="words")

    @property
    def grades(self) -> tuple[int, ...]:
        """All grades, of the first of several aspects; none for span annotations."""
        if self.aspects:
            return self.aspects[0].grades
        every = range(self.low, self.high + 1, 1 if self.ties else 2)
        return () if self.kind == "spans" else tuple(every)

    def meaning(self, grade: int) -> str:
        """Meaning of a grade; empty if the rubric has none.

        Args:
            grade: The grade.
        """
        return self.words[grade - self.low] if self.words else ""

    @property
    def scales(self) -> tuple[Rubric, ...]:
        """A rubric of one question for each aspect; this one where there are no aspects."""
        if not self.aspects:
            return (self,)
        return tuple(Rubric(**msgspec.structs.asdict(aspect), lang=self.lang) for aspect in self.aspects)

    def _check_aspects(self) -> None:
        names = [aspect.name for aspect in self.aspects]
        if self.kind != "grade":
            raise InvalidInput("aspects have grades; leave kind out", where="rubric", field="kind")
        if not 2 <= len(names) <= MAX_ASPECTS or len(set(names)) < len(names):
            problem = f"expected 2 to {MAX_ASPECTS} aspects with distinct names, got {', '.join(names)}"
            raise InvalidInput(problem, where="rubric", field="aspects")
        for field in ("low", "high", "words", "examples"):
            if getattr(self, field) != {"low": 1, "high": 5}.get(field, ()):
                raise InvalidInput("each aspect has a scale of its own; put it there", where="rubric", field=field)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Rubric:
        """Read a rubric from a JSON or TOML file.

        Args:
            path: The file; its suffix is .json or .toml.

        Raises:
            UsageError: The file has another suffix.
            InvalidInput: There is no such file, or a field is invalid; names the field.
        """
        where = str(path)
        found = _parsed(Path(path))
        if isinstance(found, dict):
            for field in set(found) - set(cls.__struct_fields__):
                problem = f"unknown field; a rubric has {', '.join(cls.__struct_fields__)}"
                raise InvalidInput(problem, where=where, field=str(field))
            if found.get("kind", "grade") not in get_args(Kind):
                raise InvalidInput(f"expected grade, spans or pair, got {found['kind']!r}", where=where, field="kind")
        try:
            return msgspec.convert(found, cls)
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=where, field=error.field) from None
        except msgspec.ValidationError as error:
            problem, _, at = str(error).partition(" - at `$")
            problem = problem.replace("Object missing required field", "expected the field")
            raise InvalidInput(problem, where=where, field=at.strip(".`")) from None

    @classmethod
    def default(cls, lang: str = "en", kind: Kind = "grade", item_type: ItemType = "comment") -> Rubric:
        """Return a bundled rubric: the quality of a text of some type, or the interesting parts of a passage.

        The scale of comments is that of Qin et al. (2018), "Automatic Article Commenting: the Task and Dataset",
        supplement A.1; the spans are those of the passages of INEX Tweet Contextualization 2012.

        Args:
            lang: ``en`` or ``zh``; a region is ignored.
            kind: Type of the annotations.
            item_type: Type of the items that are graded.

        Raises:
            UnknownName: There is no such rubric.
        """
        language = lang.lower().replace("_", "-").partition("-")[0]
        if language not in LANGUAGES:
            raise UnknownName("language of a rubric", lang, LANGUAGES)
        if kind == "spans":
            return _MARKS[language]
        if kind == "pair":
            return _PAIRS[language]
        return _QUALITY.get(item_type, _COMMENTS)[language]


_QUALITY: Final[Mapping[ItemType, Mapping[str, Rubric]]] = {
    "text": {
        "en": Rubric(
            name="text quality",
            question="How good is this text?",
            words=(
                "Unusable: it cannot be understood, or does not do what it is for.",
                "Poor: large parts are wrong, unclear or beside the point.",
                "Acceptable: it does what it is for, with clear flaws.",
                "Good: only small flaws.",
                "Very good: nothing that I would change.",
            ),
        ),
        "zh": Rubric(
            name="text quality",
            question="这段文字写得怎么样？",
            words=(
                "不能用：看不懂，或者达不到目的。",
                "差：很多地方有错、不清楚或者跑题。",
                "尚可：达到了目的，但有明显的缺点。",
                "好：只有小毛病。",
                "很好：没有需要改的地方。",
            ),
            lang="zh",
        ),
    },
    "answer": {
        "en": Rubric(
            name="answer quality",
            question="How good is this answer to the question?",
            words=(
                "No answer: beside the question, wrong, or not to be understood.",
                "Poor: it touches on the question, but what matters is wrong or missing.",
                "Partly: the main point is right, but something important is missing, vague or doubtful.",
                "Good: right and complete, with small flaws in detail or wording.",
                "Very good: right, complete, clear, and no longer than it needs to be.",
            ),
        ),
        "zh": Rubric(
            name="answer quality",
            question="这个回答怎么样？",
            words=(
                "没有回答问题：跑题、错误，或者看不懂。",
                "差：与问题有关，但关键内容有错或缺失。",
                "部分回答：要点正确，但有重要内容缺失、含糊或存疑。",
                "好：正确、完整，细节或措辞有小毛病。",
                "很好：正确、完整、清楚，而且不啰嗦。",
            ),
            lang="zh",
        ),
    },
    "summary": {
        "en": Rubric(
            name="summary quality",
            question="How good is this summary of the source?",
            words=(
                "Not a summary of this source, or not to be understood.",
                "Poor: it contradicts the source, or misses the main point.",
                "Acceptable: the main point is there, with details that are wrong, missing or needless.",
                "Good: true to the source and complete, with small flaws.",
                "Very good: true to the source, everything important and nothing else, and it reads well.",
            ),
        ),
        "zh": Rubric(
            name="summary quality",
            question="这篇摘要怎么样？",
            words=(
                "不是这篇原文的摘要，或者看不懂。",
                "差：与原文矛盾，或者漏掉了要点。",
                "尚可：有要点，但有细节错误、缺失或多余。",
                "好：忠于原文，内容完整，只有小毛病。",
                "很好：忠于原文，重要的都有，多余的没有，而且通顺。",
            ),
            lang="zh",
        ),
    },
    "translation": {
        "en": Rubric(
            name="translation quality",
            question="How good is this translation of the source?",
            words=(
                "Unusable: little or nothing of the meaning is kept.",
                "Poor: some of the meaning is kept, with serious errors or gaps.",
                "Acceptable: most of the meaning is kept, with errors in meaning or grammar.",
                "Good: the meaning is kept; small errors in style or grammar.",
                "Very good: the meaning is kept in full, and it reads as if it was written in this language.",
            ),
        ),
        "zh": Rubric(
            name="translation quality",
            question="这段译文怎么样？",
            words=(
                "不能用：几乎没有保留原意。",
                "差：保留了部分原意，但有严重错误或遗漏。",
                "尚可：保留了大部分原意，有意思或语法上的错误。",
                "好：保留了原意，只有文体或语法上的小毛病。",
                "很好：完整保留原意，读起来像原创。",
            ),
            lang="zh",
        ),
    },
}
"""Rubrics by item type and language; those of comments and passages are others."""

_COMMENTS: Final = {
    "en": Rubric(
        name="comment quality",
        question="How good is this comment on the article?",
        words=(
            "Hard to read or no sentence: broken or meaningless words, only signs or emoji.",
            "Reads well, but its topic or argument has nothing to do with the article; or is advertising or spam.",
            "Reads well and fits the article, but is vague, without detail or focus: it could stand under many others.",
            "About this article, in good language, with a view of some point, new or not.",
            "Rich in content and worth reading: knowledge or a new view, tied to the article or taking it further.",
        ),
        examples=(
            ("!!!??? 666", "swim the of gold very is"),
            ("Cheap goggles straight from the factory, message me.", "Does anyone know when the exams start?"),
            ("Well done, what a champion!", "Good news. More of this, please."),
            (
                "Third for 1,400 metres and then past two rivals: she kept her nerve when it counted.",
                "Two hours on a bus to every training session, and she never missed one. She has earned this medal.",
                "Half of that gold is her coach's: nobody else in the county thought that she could win.",
            ),
            (
                "Her town has no full-length pool. How many gave up who could not sit on a bus for two hours?",
                (
                    "I was in the county team before her. We trained in the river until October; whoever has swum "
                    "there with waves in the face stays calm when somebody splashes past. No heated pool teaches that."
                ),
                (
                    "Everyone praises her will, but look at the times: her last 300 metres were faster than her first. "
                    "That is a plan, and one that other young swimmers could copy."
                ),
            ),
        ),
    ),
    "zh": Rubric(
        name="comment quality",
        question="这条评论写得怎么样？",
        words=(
            "读不通，或者很难读：不成句子，乱码，没有意义的词，只有符号和表情。",
            "语句通顺，但话题或观点与文章无关。广告和垃圾信息也属于这一档。",
            "好读，也与文章有关，但很空泛：没有细节，没有重点，放在别的文章下面也说得通。",
            "针对这篇文章，语言好，有自己的意见或看法，言之有物；看法不一定新颖。",
            "内容充实，有自己的知识、经历或新的角度，别人愿意读；紧扣文章，或者把文章的想法引申开去。",
        ),
        examples=(
            ("！！！？？？666", "泳的了金很是"),
            ("厂家直销泳镜，私信我。", "有人知道什么时候考试吗？"),
            ("太厉害了，为她点赞！", "好消息，希望越来越多。"),
            (
                "前一千四百米一直第三，最后还能连超两人，关键时刻很沉得住气。",
                "每次训练都要坐两个小时大巴，她一次也没缺过，这块金牌是她应得的。",
                "教练也有一半功劳，当初整个县里只有他相信她能赢。",
            ),
            (
                "县里没有标准泳池她也拿了冠军。可有多少孩子受不了两个小时的大巴就放弃了？希望这块金牌能换来一个游泳馆。",
                "我以前也在县队，那时一直在河里练到十月。在浪里游惯了的人，旁边有人超过去也不慌，这在恒温池里是练不出来的。",
                "大家都夸她意志坚强，可看看分段成绩：最后三百米比开头三百米还快。这是算好的体力分配，别的小选手也可以学。",
            ),
        ),
        lang="zh",
    ),
}
_MARKS: Final = {
    "en": Rubric(
        name="interesting parts",
        question="Mark the parts of this passage that tell you something worth knowing about the topic. Mark nothing "
        "if there are none.",
        kind="spans",
    ),
    "zh": Rubric(
        name="interesting parts",
        question="请标出这段文字中与主题有关、值得知道的部分；没有就不标。",
        kind="spans",
        lang="zh",
    ),
}
_PAIRS: Final = {
    "en": Rubric(
        name="preference",
        question="Which of the two texts is better?",
        kind="pair",
        words=("A is better", "Neither is better", "B is better"),
    ),
    "zh": Rubric(
        name="preference",
        question="两段文字哪一段更好？",
        kind="pair",
        words=("A 更好", "不分上下", "B 更好"),
        lang="zh",
    ),
}
LANGUAGES: Final = tuple(_COMMENTS)
"""Languages of the bundled rubrics."""


def _parsed(file: Path) -> object:
    """Parse a JSON or TOML file."""
    where, kind = str(file), file.suffix.lower()
    if kind not in {".json", ".toml"}:
        raise UsageError(f"{where}: expected a .json or .toml file")
    content = file_bytes(file)
    try:
        text = content.decode("utf-8")
        return load_json(text) if kind == ".json" else tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput("expected UTF-8", where=where, line=line) from None
    except RepeatedKey as error:
        raise InvalidInput(str(error), where=where, field=error.key) from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"cannot be read: {error.msg}", where=where, line=error.lineno) from None
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        raise InvalidInput(f"cannot be read: {error}", where=where, line=line) from None
    except RecursionError:
        raise InvalidInput("cannot be read: nested too deeply", where=where) from None


def ratings_of(ratings: Sequence[Rating], rubric: Rubric, aspect: str | None = None) -> tuple[Rubric, list[Rating]]:
    """Select the grades of one aspect.

    Args:
        ratings: Ratings of a campaign.
        rubric: Its rubric.
        aspect: Name of the aspect; None for the first one, or for the question of a rubric with one.

    Returns:
        A rubric with the question and scale of the aspect, and the ratings with its grades and gold labels.

    Raises:
        UnknownName: There is no such aspect.
    """
    scales = rubric.scales
    names = [scale.name for scale in scales]
    if aspect is not None and aspect not in names:
        raise UnknownName("aspect", aspect, names)
    number = 0 if aspect is None else names.index(aspect)
    found = list(_selected(ratings, names[number], number)) if rubric.aspects else list(ratings)
    return scales[number], found


def ratings_by_aspect(
    ratings: Sequence[Rating], rubric: Rubric, *, every: bool = False
) -> list[tuple[Rubric, list[Rating]]]:
    """Select the grades of each aspect; see `ratings_of`.

    Args:
        ratings: Ratings of a campaign.
        rubric: Its rubric.
        every: True to keep grades of gold items that have no label of the aspect, which statistics leave out.
    """
    if not (every and rubric.aspects):
        return [ratings_of(ratings, rubric, scale.name) for scale in rubric.scales]
    return [
        (scale, [_of_aspect(one, scale.name, number) for one in ratings]) for number, scale in enumerate(rubric.scales)
    ]


def _selected(ratings: Iterable[Rating], aspect: str, number: int) -> Iterable[Rating]:
    for one in ratings:
        found = _of_aspect(one, aspect, number)
        if one.gold is None or found.gold is not None:  # a gold item without a label of this aspect says nothing of it
            yield found


def _of_aspect(one: Rating, aspect: str, number: int) -> Rating:
    golds = one.golds or (() if one.gold is None else (one.gold, *[None] * (len(one.grades) - 1)))
    gold = golds[number] if golds else None
    return msgspec.structs.replace(one, aspect=aspect, grade=one.grades[number], gold=gold, golds=golds)
