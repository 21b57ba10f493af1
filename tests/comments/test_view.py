"""The source beside a suggestion."""

from __future__ import annotations

from postil.comments.result import SuggestionsResult
from postil.data.suggestions import Filtered, Provenance, Selecting, Source, Suggestion, Suggestions
from postil.results.views import show


def shown(*sources: Source) -> list[list[str]]:
    suggestion = Suggestion("Bring a coat.", 2.5, 1, Provenance.retrieved("ir-t", "8d0c", sources))
    table = show("table", SuggestionsResult(suggestions=(Suggestions("x", (suggestion,)),)))
    head, _, line = table.splitlines()[:3]
    return [head.split(), line.split()]


def test_title_date_and_votes_stand_beside_a_suggestion() -> None:
    first = Source("a7", "3", title="Rain again", date="2017-03-30T02:56:13Z", upvotes=1200)
    head, line = shown(first, Source("a9", "1", title="Snow", upvotes=7))
    assert head == ["suggestion", "article", "rank", "score", "from", "date", "votes"]
    assert line == [*["Bring", "a", "coat.", "x", "1", "2.5000", "Rain", "again", "2017-03-30", "1,200"]]


def test_columns_of_unknown_dates_and_votes_are_left_out() -> None:
    head, line = shown(Source("a7", "3"))
    assert head == ["suggestion", "article", "rank", "score", "from"]
    assert line[-1] == "a7/3"
    assert shown(Source("a7", "3", upvotes=0))[1][-2:] == ["a7/3", "0"]


def test_documents_have_whole_texts_with_their_labels() -> None:
    text = "A long comment on the rain. " * 8
    row = Suggestions("a1", (Suggestion(text.strip(), 1.0, 1, Provenance.generated("att", "8d0c")),))
    for form in ("markdown", "html", "latex"):
        shown = show(form, SuggestionsResult(suggestions=(row,)))
        assert text.strip() in shown
        assert "Machine-generated suggestion" in shown


def test_before_labels_the_table_says_what_is_not_left_out() -> None:
    provenance = Provenance.retrieved("ir-t", "8d0c", (Source("a7", "3"),))
    choice = provenance.selected(Selecting("big", "8d0c"))
    for made, probability, said in ((provenance, None, True), (provenance, 0.4, False), (choice, None, False)):
        one = Suggestion("Bring a coat.", 2.5, 1, made, probability)
        result = SuggestionsResult(suggestions=(Suggestions("x", (one,)),))
        assert ("labels teach a model to leave out what does not fit: postil label" in show("table", result)) == said
        assert "labels teach" not in show("jsonl", result)


def test_why_there_is_nothing_stands_in_one_line() -> None:
    one = Suggestion("Bring a coat.", 2.5, 1, Provenance.generated("att", "8d0c"))
    held = (Filtered("Oh.", "too short: 1 word, expected at least 4"),)
    short, old = (Suggestions("x", (), held, f"all 1 candidates are filtered out: {why}") for why in ("short", "old"))
    some = Suggestions("y", (one,), held)

    def below(*rows: Suggestions) -> list[str]:
        lines = show("table", SuggestionsResult(suggestions=rows)).splitlines()
        return [line for line in lines if line and not line.startswith(("suggestion ", "-----", "Bring", "Machine"))]

    hint = "filtered out; result.suggestions gives the reasons"
    same = "all 1 candidates are filtered out: short"
    assert below(short) == [f"no suggestions: {same}", f"1 {hint}"]
    assert below(short, short) == [f"no suggestions: {same}", f"2 {hint}"]
    assert below(short, old) == ["no suggestions", f"nothing for 2 articles, 2 {hint}"]
    assert below(short, Suggestions("z", ())) == ["no suggestions", f"nothing for 1 article: {same}", f"1 {hint}"]
    assert below(some, short) == [f"nothing for 1 article: {same}", f"2 {hint}"]
    assert below(some, short, old) == [f"nothing for 2 articles, 3 {hint}"]
    assert below(some) == [f"1 {hint}"]
