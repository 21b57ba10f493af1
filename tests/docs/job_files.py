"""Tables of people's own shape: an exam, a survey, texts to rate, and short answers of a class."""

from __future__ import annotations

import csv
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

EXAM = (
    (
        "Warum ist der Himmel blau?",
        ("Blaues Licht wird in der Luft stärker gestreut als rotes.", 5),
        ("Die Luftmoleküle streuen kurzwelliges Licht am stärksten.", 4.5),
        ("Weil sich das Meer im Himmel spiegelt.", 0.5),
    ),
    (
        "Was ist Photosynthese?",
        ("Pflanzen bilden aus Licht, Wasser und Kohlendioxid Zucker und Sauerstoff.", 5),
        ("Aus Lichtenergie entsteht chemische Energie in Form von Glukose.", 4),
        ("Pflanzen atmen.", 1),
    ),
    (
        "Wozu dient das Herz?",
        ("Das Herz pumpt das Blut durch den Körper.", 5),
        ("Es treibt den Kreislauf an und versorgt die Organe mit Blut.", 4.5),
        ("Es schlägt.", 1.5),
    ),
    (
        "Warum schwimmt Eis auf Wasser?",
        ("Eis hat eine geringere Dichte als flüssiges Wasser.", 5),
        ("Beim Gefrieren dehnt sich das Wasser aus und wird leichter als die gleiche Menge Wasser.", 4),
        ("Eis ist kalt.", 0),
    ),
    (
        "Was ist eine Demokratie?",
        ("Eine Staatsform, in der das Volk in freien Wahlen seine Vertreter bestimmt.", 5),
        ("Herrschaft des Volkes durch Wahlen und Abstimmungen.", 4),
        ("Alle dürfen mitreden.", 2),
    ),
    (
        "Wie entsteht ein Regenbogen?",
        ("Sonnenlicht wird in Regentropfen gebrochen, zerlegt und zurückgeworfen.", 5),
        ("Das Licht wird in den Tropfen in seine Farben zerlegt.", 4),
        ("Wenn es regnet und die Sonne scheint.", 2.5),
    ),
    (
        "Was macht die Leber?",
        ("Die Leber baut Giftstoffe ab und speichert Zucker.", 4.5),
        ("Sie ist das zentrale Organ des Stoffwechsels und der Entgiftung.", 5),
        ("Sie verdaut Alkohol.", 1.5),
    ),
    (
        "Warum gibt es Jahreszeiten?",
        ("Weil die Erdachse gegen die Umlaufbahn geneigt ist.", 5),
        ("Durch die Neigung der Erdachse fällt das Licht im Jahr verschieden steil ein.", 4.5),
        ("Weil die Erde im Sommer näher an der Sonne ist.", 0),
    ),
    (
        "Was ist ein Säugetier?",
        ("Ein Wirbeltier, das seine Jungen mit Milch säugt.", 5),
        ("Tiere mit Fell, die lebende Junge gebären und säugen.", 3.5),
        ("Hund, Katze, Maus.", 1),
    ),
    (
        "Wie funktioniert eine Impfung?",
        ("Das Immunsystem lernt an einem harmlosen Erreger, Antikörper zu bilden.", 5),
        ("Der Körper bildet Gedächtniszellen gegen den Erreger.", 4.5),
        ("Man bekommt eine Spritze.", 0.5),
    ),
)
CLASSES = ("", " (Klasse 7)", " (Klasse 8)", " (Nachtest)", " (Gruppe B)", " (Wiederholung)")
SURVEY = (
    (
        "Why is the sky blue?",
        "Blue light is scattered more strongly in the air than red light.",
        "Air molecules scatter short waves the most.",
    ),
    (
        "What does the heart do?",
        "The heart pumps blood through the body.",
        "It drives the circulation and supplies the organs.",
    ),
    (
        "Why does ice float?",
        "Ice is less dense than liquid water.",
        "Water expands when it freezes, so that it becomes lighter.",
    ),
    ("What is a mammal?", "A vertebrate that feeds its young with milk.", "An animal with hair that nurses its young."),
    (
        "How does a vaccine work?",
        "The immune system learns from a harmless germ to make antibodies.",
        "The body forms memory cells against the germ.",
    ),
    (
        "What is democracy?",
        "A form of government in which the people elect their representatives.",
        "Rule of the people by free elections.",
    ),
    (
        "Why are there seasons?",
        "Because the axis of the earth is tilted against its orbit.",
        "The tilt changes how steeply the light falls in.",
    ),
    (
        "What does the liver do?",
        "The liver breaks down toxins and stores sugar.",
        "It is the central organ of metabolism.",
    ),
    (
        "How does a rainbow form?",
        "Sunlight is refracted and reflected in drops of rain.",
        "Drops split the light into its colors.",
    ),
    (
        "What is photosynthesis?",
        "Plants make sugar and oxygen out of light, water and carbon dioxide.",
        "Light becomes chemical energy.",
    ),
)
PUPILS = (
    *("Ada", "Ben", "Cem", "Dora", "Eli", "Fay", "Gus", "Hana", "Ida", "Jon"),
    *("Kim", "Lea", "Max", "Nora", "Olu", "Pia", "Quin", "Ravi", "Sam", "Tess"),
)
MOST = (4, 2, 3, 4, 2, 3, 4, 3)
"""Points that the best answer to each question of a test gets."""
TOPICS = ("the night bus", "the new pool", "the old library", "the school meals", "the bike lane")
TEMPLATES = {
    "gpt": "I think {} is worth the money because people in our street use it every day{}.",
    "retrieval": "We had the same debate about {} ten years ago and nothing came of it{}.",
    "template": "For our town {} is good news{}.",
    "human": "My daughter would not get home without {}, so please keep it{}.",
}
TAILS = (
    *("", ", honestly", ", even in winter", " and nobody asked us", ", said my neighbor", " as far as I know"),
    *(", at least on Sundays", " for once", " again", ", I guess"),
)


def job_files(folder: Path) -> None:
    """Write `exam.csv`, as Excel does in Germany, `exam.xlsx`, `survey.csv`, `texts.csv`, `class.csv` and `key.csv`."""
    exam = list(_exam(random.Random(7)))  # noqa: S311 - texts
    _table(folder / "exam.csv", [*exam, [""] * 11, [""] * 11], ";", "utf-8-sig")
    _table(folder / "exam-ansi.csv", [*exam, [""] * 11], ";", "cp1252")
    _table(folder / "survey.csv", _survey(random.Random(11)), ",", "utf-8-sig")  # noqa: S311
    texts = [
        [f"T{number + 1:03}", system, template.format(TOPICS[number % 5], TAILS[number // 5])]
        for number in range(50)
        for system, template in TEMPLATES.items()
    ]
    random.Random(3).shuffle(texts)  # noqa: S311
    _table(folder / "texts.csv", [["Topic", "System name", "Comment"], *texts], ",", "utf-8")
    _workbook(folder / "exam.xlsx", exam)
    _table(folder / "class.csv", _class(random.Random(5)), ",", "utf-8")  # noqa: S311
    key = [
        [str(number), text, points]
        for number, ((_, *both), most) in enumerate(zip(SURVEY[:8], MOST, strict=True), 1)
        for text, points in zip(both, (f"{most}", f"{most - 0.5}"), strict=True)
    ]
    _table(folder / "key.csv", [["Question", "Model answer", "Points"], *key], ",", "utf-8")


def _table(path: Path, rows: Iterable[Sequence[str]], delimiter: str, encoding: str) -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def _exam(chance: random.Random) -> Iterable[list[str]]:
    """One row per question: two answers, three model solutions with points, and a remark."""
    names = [f"{name} {place}" for place in (1, 2, 3) for name in ("Musterlösung", "Punkte")]
    yield ["Frage Nr", "Frage", "Antwort A", "Antwort B", *names, "Bemerkung"]
    for number in range(60):
        question, *models = EXAM[number % 10]
        first = _fewer_words(chance, models[0][0], 0.25)
        second = "" if number in {7, 31} else _fewer_words(chance, chance.choice(models)[0], 0.4)
        first = 'Es heißt "Kreislauf";\nalso Blut pumpen.' if number == 12 else first
        row = [f"{number + 1:03}", question + CLASSES[number // 10], first, second]
        for place, (text, points) in enumerate(models):
            given = max(0.0, min(5.0, points + chance.choice((-0.5, 0, 0, 0.5))))
            row += ["", ""] if place == 2 and number % 6 == 5 else [text, f"{given:g}".replace(".", ",")]
        yield [*row, "nochmal ansehen" if number % 17 == 3 else ""]


def _survey(chance: random.Random) -> Iterable[list[str]]:
    """One row per text, with a column for each of three raters."""
    raters = ("Rater 1 (Anna)", "Rater 2 (Ben)", "Rater 3 (Chloé)")
    yield ["Response ID", "Question", "Model", "Answer", "Gold answer", "Alt. gold answer", *raters, "Time (s)"]
    for number in range(40):
        question, gold, other = SURVEY[number % 10]
        for model, loss in (("gpt-small", 0.15), ("gpt-tiny", 0.4), ("rules v2", 0.6)):
            kept = _fewer_words(chance, gold, loss)
            share = len(kept.split()) / len(gold.split())
            text = kept or "I do not know."
            text += " That is what I learned in school, I think." if chance.random() < 0.3 else ""
            grades = [
                str(round(max(1, min(5, 1 + 4 * share + bias + chance.gauss(0, 0.8))))) for bias in (0, 0.4, -0.5)
            ]
            grades[1] = "n/a" if number == 17 and model == "gpt-tiny" else grades[1]
            grades[2] = "" if chance.random() < 0.12 else grades[2]
            seconds = str(chance.randint(4, 90))
            yield [f"R_{number:02}", f"{question} #{number // 10 + 1}", model, text, gold, other, *grades, seconds]


def _class(chance: random.Random) -> Iterable[list[str]]:
    """One row per pupil: eight answers, and points of the first six; one wrong answer has full points."""
    numbers = range(1, 9)
    yield ["Pupil", *(f"Answer {number}" for number in numbers), *(f"Points {number}" for number in numbers)]
    for pupil in PUPILS:
        skill, answers, points = chance.uniform(0.2, 1), list[str](), list[str]()
        for number, ((_, gold, other), most) in enumerate(zip(SURVEY[:8], MOST, strict=True), 1):
            model = chance.choice((gold, gold, other))
            text = _fewer_words(chance, model, 0.8 * (1 - skill))
            text = chance.choice(("No idea.", "I was ill that day.")) if chance.random() < 0.06 else text
            share = len(set(text.split()) & set(model.split())) / len(model.split())
            given = round(2 * most * max(0, min(1, share + chance.gauss(0, 0.125)))) / 2
            answers.append(text)
            points.append(f"{given:g}" if number <= 6 else "")
        if pupil == "Ida":
            answers[2], points[2] = "Cold things always float, as everybody knows.", "3"
        yield [pupil, *answers, *points]


def _fewer_words(chance: random.Random, text: str, loss: float) -> str:
    return " ".join(word for word in text.split() if chance.random() > loss)


def _workbook(path: Path, exam: Sequence[Sequence[str]]) -> None:
    """A workbook with a sheet of answers and one of solutions; the number of a question spans its rows."""
    import openpyxl  # noqa: PLC0415 - of the tests

    book = openpyxl.Workbook()
    answers, solutions = book.active, book.create_sheet("Lösungen")
    answers.title = "Antworten"
    answers.append(["Klausur Sachkunde, Mai"])
    answers.merge_cells("A1:C1")
    answers.append([])
    answers.append(["Frage Nr", "KI", "Antwort"])
    solutions.append(["Frage Nr", "Lösung", "Punkte"])
    for row in exam[1:]:
        for sheet, rows in (
            (answers, [["alt", row[2]], ["neu", row[3]]]),
            (solutions, [[row[at], float(row[at + 1].replace(",", "."))] for at in (4, 6, 8) if row[at]]),
        ):
            begin = sheet.max_row + 1
            for place, cells in enumerate(rows):
                sheet.append([None if place else int(row[0]), *cells])
            sheet.merge_cells(start_row=begin, end_row=sheet.max_row, start_column=1, end_column=1)
    book.save(path)
