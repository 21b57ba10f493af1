"""Grades of answers: worked values, and what is read from text and what is not."""

from __future__ import annotations

from math import inf, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.grades import Scale
from postil.judging.judge import expected_grade, grade_tokens, read_grade

FIVE = Scale(1, 5)
TOKENS = grade_tokens(FIVE, 20)


def test_half_of_the_probability_is_enough() -> None:
    assert expected_grade([("2", log(0.25)), ("4", log(0.25)), ("I", log(0.5))], TOKENS) == (3.0, 0.5)
    grade, mass = expected_grade([("4", log(0.49))], TOKENS)
    assert grade is None
    assert mass == pytest.approx(0.49)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=5), st.sampled_from("135"))
def test_rounding_takes_no_grade_off_the_scale(parts: list[float], token: str) -> None:
    tokens = [(" " * number + token, log(part / sum(parts))) for number, part in enumerate(parts)]
    assert expected_grade(tokens, TOKENS)[0] == float(token)


@pytest.mark.parametrize("value", [0.5, inf, nan, 1e300])
def test_numbers_that_are_no_logarithms_of_probabilities_are_no_mass(value: float) -> None:
    assert expected_grade([("4", value)], TOKENS) == (None, 0.0)


def test_impossible_tokens_count_nothing() -> None:
    assert expected_grade([("3", 0.0), ("5", -inf)], TOKENS) == (3.0, 1.0)


@pytest.mark.parametrize("scale", [Scale(0, 20), Scale(0, 4.5), Scale(0.5, 3), Scale(1e300, 2e300)])
def test_parts_of_numbers_and_too_many_grades_have_no_tokens(scale: Scale) -> None:
    assert grade_tokens(scale, 20) == {}


def test_grades_of_two_characters_count_where_they_are_tokens() -> None:
    ten = grade_tokens(Scale(0, 10), 20)
    first = [("1", log(0.5)), ("9", log(0.25))]
    assert expected_grade(first, ten) == (None, 0.75)
    grade, mass = expected_grade([*first, ("10", log(0.25))], ten)
    assert grade == pytest.approx(5.25)
    assert mass == pytest.approx(1.0)
    assert expected_grade([("-1", log(0.5)), ("1", log(0.5))], grade_tokens(Scale(-1, 1), 20)) == (0.0, 1.0)


def cases(*lines: str) -> list[str]:
    return [case for line in lines for case in line.split(" ¦ ")]


FOUR = cases(
    '4 ¦  4\n ¦ 4. ¦ **4** ¦ "4" ¦ 4/5 ¦ 4 / 5 ¦ 4 out of 5 ¦ Grade: 4 ¦ grade = 4 ¦ **Grade:** 4',
    "**Grade**: 4 ¦ ### Grade: 4 ¦ 4 - well argued ¦ 4: well argued ¦ 4 because it is on topic",
    "Score: 4 Well argued. ¦ 4\n\nIt is on topic. ¦ 4/5.0 ¦ 4.0/5 ¦ 4 (out of 5) ¦ 4 (out of 5). Well argued.",
    "4 points out of 5 ¦ 4 stars ¦ 4 on a scale of 1 to 5 ¦ Grade (1-5): 4 ¦ Score (out of 5): 4 ¦ (4) ¦ <4>",
    "４ ¦ ４／５ ¦ Grade：4 ¦ 评分：4 ¦ 评分：４分 ¦ **评分：** 4 ¦ 最终评分：4/5 ¦ 评分（1-5）：4",
    "得分: 4分（满分5分） ¦ 评分：4（满分为5） ¦ 4星（满分5星） ¦ 4<|im_end|> ¦ Grade: 4\n\n**Why:** on topic",
    '4分 ¦ 4 分 ¦ 4分。论述清楚。 ¦ 評価：4点 ¦ 점수: 4점 ¦ Bewertung: 4 von 5 ¦ {"grade": 4}',
    '{"grade": "4"} ¦ {"grade": "4/5"}',
    '{"score": 4.0, "reason": "It has 2 claims, and is on topic."}',
    '{"reason": "Grades of 1 to 3 would be unfair.", "rating": 4} ¦ {\'rating\': 4} ¦ {grade: 4}',
    '{"Grade" : 4\n} ¦ {"final_grade": 4, "max_score": 5}',
    '{"result": {"grade": 4}, "scale": "1-5"}',
    '```json\n{\n  "grade": 4,\n  "reason": "2 claims"\n}\n```',
    'I read the 3 examples first. {"score": 4} is fair. ¦ \\boxed{4}',
    "The 2 claims hold. The final answer is $\\boxed{4}$. ¦ $\\boxed{4/5}$ ¦ <grade>4</grade>",
    '<reason>2 claims</reason>\n<score> 4 </score> ¦ Grade: 4\n{"grade": 4}',
    "It has 2 facts. <answer>4</answer> ¦ <response>4</response>",
    "It has 2 facts. <|begin_of_box|>4<|end_of_box|> ¦ It is on topic, with 2 facts.\nGrade: 4",
    "It is on topic, with 2 facts.\n\n**Final grade: 4/5**\n",
    "It has 2 facts, and 3 would be more.\n- **Grade:** 4.",
    "It has 2 facts.\nTherefore, the score is 4 out of 5. ¦ It has 2 facts.\n\n### Rating\n\n4",
    "It has 2 facts.\nAnswer: 4 ¦ Grade: 4, I think, for its 2 facts.\nGrade: 4",
    "它有2个事实。\n因此，最终评分为4分。 ¦ 它有2个事实。\n【评分】4 ¦ Score: 4\nReason: It has 2 facts",
    "4/5\n\n**Reasoning:** It has 2 facts ¦ 评分：4\n理由：有2个事实 ¦ Grade: 4 (on a scale of 1-5)",
    "\\boxed{\\text{4}}",
)
READ = {**dict.fromkeys(FOUR, 4), "4.5": 4.5, "The score is 2.": 2, "My rating: 3/5": 3, "Rating: [[3]]": 3}
NOT_READ = cases(
    " ¦ four ¦ 0 ¦ 6 ¦ -3 ¦ 3-4 ¦ 3 to 4 ¦ 3 or 4 ¦ 4 or 5 ¦ 4/5 or 5/5 ¦ 4,5 ¦ 4.5.1 ¦ 4/10 ¦ 3/10 ¦ 10/10",
    "4 of 10 ¦ 4/50 ¦ 4/5.5 ¦ 80% ¦ 4 % ¦ ４％ ¦ 4th ¦ 4½ ¦ 4² ¦ v4 ¦ 4+ ¦ 4? ¦ <4 ¦ >4 ¦ ~4 ¦ 1-5 ¦ (1-5)",
    "1 – 5 ¦ 1 to 5 ¦ on a scale of 1 to 5 ¦ On a scale of 1 to 5, I would say 4. ¦ Scale: 1-5",
    "Grade (1-10): 4 ¦ Grade: 4 (scale 1-10) ¦ 4 on a scale of 1 to 10 ¦ Score (out of 10): 4",
    "I would give it a 4 ¦ I count 2 claims ¦ 2 claims are wrong ¦ 4 good reasons ¦ 4 (or 5) ¦ 4 and a half",
    "4 because of its 2 reasons ¦ 1. The text is on topic ¦ 1. **Relevance**: the comment is ¦ 1) On topic",
    "Grade: good ¦ Grade: 4 of the claims hold ¦ Note: 4 claims are wrong ¦ 1e5 ¦ ٤ and more 4 ¦ 4分之三",
    "4分（满分10分） ¦ 4个错误 ¦ 3到4分 ¦ 满分5分 ¦ 评分：4（满分为10） ¦ Rating: 4~5 ¦ 1\n2\n3\n4\n5",
    'Grade: A (4) ¦ 85/100 ¦ 4 out of 10 (2/5) ¦ 我给4分，不，3分 ¦ {"grade": 4, "max_score": 10}',
    '{"grade": 3, "scale": "1-10"} ¦ {"grade": 3, "out_of": 10} ¦ {"grade": "3/10"}',
    '{"grade": 8} ¦ {"grade": 4, "score": 5} ¦ {"relevance": {"score": 3}, "style": {"score": 5}}',
    '{"grade": "4, maybe 5"} ¦ {"grade": "4-5"} ¦ {"grade": [4, 5]} ¦ {"grade": null}',
    '{"grade": "B"} ¦ {"grade": 4 ¦ {"grade":  ¦ {"grade": 4} {"grade": 5} ¦ {"relevance": 4}',
    '{"reason": "the \\"grade\\": 4 would be", "x": 1} ¦ \\boxed{4} or \\boxed{5}',
    '\\boxed{\\frac{3}{5}} ¦ \\boxed{4 ¦ \\boxed{8} ¦ Grade: 3, so \\boxed{4} ¦ 3\n{"grade": 4}',
    'The final score: 3. {"grade": 4} ¦ <grade>4 ¦ <grade>4</grade><grade>5</grade>',
    "It has 2 facts.\nGrade: 3-4 ¦ It has 2 facts.\nGrade: 3 or 4 ¦ It has 2 facts.\nGrade: 8",
    "It has 2 facts.\nGrade: 4/10 ¦ It has 2 facts.\nGrade (1-10): 4 ¦ It has 2 facts.\nGrade: good",
    'It has 2 facts.\nGrade: 4 if they hold ¦ It has 2 facts.\n> Grade: 4 ¦ It says:\n"Grade: 4"',
    "It has 2 facts, so I would say 4 ¦ Grade: 3 at first.\nGrade: 4 ¦ The score is 3 for style.\nGrade: 4",
    "Relevance score: 3\nStyle score: 5 ¦ Score: 8/10 for effort.\nGrade: 4",
    "On a scale of 1 to 10, with 2 facts:\nGrade: 4 ¦ 满分10分，有2个事实。\n评分：4",
    "Grade: 4\nIt has 2 facts.\nI would not give more. ¦ Score: 3\nReason: It has 2 facts\nFinal score: 4",
    "4-5\nReason: It has 2 facts ¦ Grade: 4 (on a scale of 1-10)",
)


@pytest.mark.parametrize(("text", "grade"), READ.items())
def test_one_number_in_front_is_read(text: str, grade: float) -> None:
    assert read_grade(text, FIVE) == grade


@pytest.mark.parametrize("text", NOT_READ)
def test_nothing_is_guessed(text: str) -> None:
    assert read_grade(text, FIVE) is None


def test_grades_below_zero_and_of_two_digits_are_read() -> None:
    assert [read_grade(text, Scale(-2, 10)) for text in ("-2", "−1", "10", "10/10", "Grade: -1")] == [
        -2,
        -1,
        10,
        10,
        -1,
    ]


def test_a_number_that_may_go_on_is_not_read() -> None:
    assert read_grade("1", Scale(0, 10), cut=True) is None
    assert read_grade("Grade: 4", FIVE, cut=True) is None
    assert read_grade("It has 2 facts.\nGrade: 4", FIVE, cut=True) is None
    assert read_grade("4\nIt is", FIVE, cut=True) == 4


@given(st.text(alphabet=st.sampled_from("0123456789.,/-+%*_ \n:abGradeoutfisx٤²½−")), st.booleans())
def test_what_is_read_is_on_the_scale(text: str, cut: bool) -> None:
    grade = read_grade(text, FIVE, cut=cut)
    assert grade is None or 1 <= grade <= 5
