"""Greedy, beam and nucleus, against texts that are made and scored one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[neural]'")

import generator_work as gen
import torch

from postil.comments.nn import decoding
from postil.comments.nn.generator import Generator
from postil.comments.nn.token_ids import BOS, EOS, PAD, SPECIAL, UNK
from postil.comments.options import DecodingOptions, GeneratorOptions
from postil.errors import UsageError
from postil.text.tokens import Ragged

if TYPE_CHECKING:
    from postil.comments.nn.decoding import Hypothesis
    from postil.comments.nn.seq2seq import Seq2SeqNetwork

ARTICLES = gen.articles([0, 3, 1], [2], [], [4, 4, 4, 4, 4, 4, 1], [1, 0])
PLAIN = DecodingOptions(min_words=1, max_words=3, no_repeat_ngram_size=0)
HOWS = [
    DecodingOptions(strategy=how, min_words=1, max_words=6, no_repeat_ngram_size=2)
    for how in ("greedy", "beam", "nucleus")
]


def repeats(words: tuple[int, ...], size: int) -> bool:
    runs = [words[begin : begin + size] for begin in range(len(words) - size + 1)]
    return len(set(runs)) < len(runs)


def close(one: list[Hypothesis], two: list[Hypothesis]) -> bool:
    return [text.tokens for text in one] == [text.tokens for text in two] and np.allclose(
        [text.score for text in one], [text.score for text in two], atol=1e-5
    )


def score(made: Seq2SeqNetwork, article: torch.Tensor, words: tuple[int, ...]) -> float:
    return gen.log_p(made, article, [words])[0] / (len(words) + 1)


def greedy(made: Seq2SeqNetwork, article: torch.Tensor, options: DecodingOptions) -> tuple[int, ...]:
    """Always the most probable word, everything read again for each."""
    words: list[int] = []
    while len(words) < options.max_words:
        with torch.no_grad():
            encoded, final = made.encode(article[None])
            features, _ = made.decoder(
                made.words(torch.tensor([[BOS, *words]])), made.decoder.initial_state(final), encoded
            )
            scores = made.logits(features[0, -1:])[0]
        scores[[PAD, UNK, BOS]] = -torch.inf
        if len(words) < options.min_words:
            scores[EOS] = -torch.inf
        for word in range(SPECIAL, len(scores)):
            if options.no_repeat_ngram_size and repeats((*words, word), options.no_repeat_ngram_size):
                scores[word] = -torch.inf
        word = int(scores.argmax())
        if word == EOS:
            break
        words.append(word)
    return tuple(words)


@pytest.mark.parametrize("length", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_that_holds_everything_finds_all_texts_with_their_scores(seed: int, length: float) -> None:
    made, options = gen.network(seed=seed), replace(PLAIN, beam_size=700, length_penalty=length)
    found = decoding.generate(made, ARTICLES[:1], 1, options)[0]
    texts = list(gen.all_texts(5, 1, 3))
    expected = {
        words: log_p / (len(words) + 1) ** length
        for words, log_p in zip(texts, gen.log_p(made, ARTICLES[0], texts), strict=True)
    }
    assert len(expected) == 5 + 25 + 125
    assert {text.tokens for text in found} == set(expected)
    assert [text.score for text in found] == pytest.approx([expected[text.tokens] for text in found], abs=1e-4)
    assert [text.score for text in found] == sorted((text.score for text in found), reverse=True)


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_the_best_text_that_is_allowed(seed: int) -> None:
    made, options = gen.network(seed=seed), replace(PLAIN, beam_size=60, min_words=2, no_repeat_ngram_size=1)
    texts = [words for words in gen.all_texts(5, 2, 3) if not repeats(words, 1)]
    for article, found in zip(ARTICLES, decoding.generate(made, ARTICLES, 1, options), strict=True):
        scores = dict(zip(texts, gen.log_p(made, article, texts), strict=True))
        best = max(texts, key=lambda words: scores[words] / (len(words) + 1))
        assert found[0].tokens == best


@pytest.mark.parametrize("shape", gen.SHAPES, ids=gen.shape_name)
def test_greedy_takes_the_most_probable_word_each_time_and_so_does_a_beam_of_one(shape: dict[str, Any]) -> None:
    for seed in range(4):
        made, options = gen.network(words=8, seed=seed, **shape), HOWS[0]
        found = decoding.generate(made, ARTICLES, 1, options)
        expected = [greedy(made, article, options) for article in ARTICLES]
        assert [[text.tokens for text in texts] for texts in found] == [[words] for words in expected]
        for article, (text,) in zip(ARTICLES, found, strict=True):
            assert text.score == pytest.approx(score(made, article, text.tokens), abs=1e-5)
        for several in (1, 3):
            narrow = decoding.generate(made, ARTICLES, several, replace(options, strategy="beam", beam_size=1))
            assert narrow == decoding.generate(made, ARTICLES, several, options)


@pytest.mark.parametrize("tiny", [{"top_p": 1e-9}, {"temperature": 1e-30}])
def test_nucleus_from_next_to_nothing_is_greedy(tiny: dict[str, float]) -> None:
    for seed in range(4):
        made = gen.network(words=8, seed=seed)
        careful = replace(HOWS[2], **tiny)
        found, expected = (decoding.generate(made, ARTICLES, 1, options) for options in (careful, HOWS[0]))
        assert all(close(one, two) for one, two in zip(found, expected, strict=True))


@pytest.mark.parametrize("shape", gen.SHAPES, ids=gen.shape_name)
@pytest.mark.parametrize("options", HOWS, ids=lambda options: options.strategy)
@pytest.mark.parametrize("several", [1, 3])
def test_an_article_gets_the_same_texts_alone_and_among_others(
    options: DecodingOptions, several: int, shape: dict[str, Any]
) -> None:
    made = gen.network(words=8, seed=1, **shape)
    for article, found in zip(ARTICLES, decoding.generate(made, ARTICLES, several, options), strict=True):
        words = article[article != PAD] if (article != PAD).any() else article[:1]
        assert close(decoding.generate(made, words[None], several, options)[0], found)


@pytest.mark.parametrize("options", HOWS, ids=lambda options: options.strategy)
@pytest.mark.parametrize(("repeated", "shortest", "longest"), [(1, 1, 3), (2, 4, 9), (3, 1, 1), (0, 5, 5), (3, 3, 20)])
def test_texts_keep_to_the_rules(options: DecodingOptions, repeated: int, shortest: int, longest: int) -> None:
    for seed in range(3):
        made = gen.network(words=7, seed=seed)
        options = replace(options, no_repeat_ngram_size=repeated, min_words=shortest, max_words=longest)
        for article, texts in zip(ARTICLES, decoding.generate(made, ARTICLES, 4, options), strict=True):
            assert 1 <= len(texts) <= max(4, options.width)
            assert len({text.tokens for text in texts}) == len(texts)
            assert [text.score for text in texts] == sorted((text.score for text in texts), reverse=True)
            if options.strategy != "nucleus":
                assert len({text.tokens[0] for text in texts}) == len(texts)  # each begins with another word
            for text in texts:
                assert shortest <= len(text.tokens) <= longest
                assert min(text.tokens) >= SPECIAL
                assert not (repeated and repeats(text.tokens, repeated))
                assert text.score == pytest.approx(score(made, article, text.tokens), abs=1e-4)


@pytest.mark.parametrize("options", HOWS, ids=lambda options: options.strategy)
def test_where_every_word_would_be_a_repetition_a_text_ends(options: DecodingOptions) -> None:
    options = replace(options, no_repeat_ngram_size=1, min_words=5, max_words=9)
    for texts in decoding.generate(gen.network(words=2), ARTICLES.clamp_max(SPECIAL + 1), 2, options):
        assert texts
        assert {tuple(sorted(text.tokens)) for text in texts} == {(SPECIAL, SPECIAL + 1)}


@pytest.mark.parametrize("options", HOWS, ids=lambda options: options.strategy)
def test_more_texts_than_words_and_beams_wider_than_the_vocabulary(options: DecodingOptions) -> None:
    options = replace(options, beam_size=9, max_words=2)
    for texts in decoding.generate(gen.network(words=1), ARTICLES.clamp_max(SPECIAL), 20, options):
        assert {text.tokens for text in texts} <= {(4,), (4, 4)}
        assert texts


def test_texts_that_are_finished_leave_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    made = gen.network(words=8, seed=2)
    with torch.no_grad():
        made.bias[EOS] += 2
    rows: list[int] = []
    real = made.step

    def counted(words: torch.Tensor, *rest: Any) -> Any:
        rows.append(len(words))
        return real(words, *rest)

    monkeypatch.setattr(made, "step", counted)
    for options in HOWS:
        rows.clear()
        found = decoding.generate(made, ARTICLES, 1, replace(options, max_words=30, no_repeat_ngram_size=0))
        longest = max(len(text.tokens) for texts in found for text in texts)
        assert rows[1:] == sorted(rows[1:], reverse=True)
        assert rows[1] == len(ARTICLES) * options.width > rows[-1]
        if options.width == 1:
            assert len(rows) == longest + 1


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = gen.network(words=8)
    for options in HOWS:
        expected = decoding.generate(made, ARTICLES, 2, options)
        with monkeypatch.context() as patched:
            patched.setattr(decoding, "_ROWS", 3)
            patched.setattr(decoding, "_TOKENS", 4)
            found = decoding.generate(made, ARTICLES, 2, options)
        assert all(close(one, two) for one, two in zip(found, expected, strict=True))


@pytest.mark.parametrize(("nucleus", "temperature"), [(1.0, 1.0), (0.8, 1.0), (0.6, 2.0), (0.95, 0.5)])
def test_words_are_drawn_as_often_as_they_are_probable(nucleus: float, temperature: float) -> None:
    scores = torch.tensor([2.0, -torch.inf, 0.5, 1.5, -1.0, 0.0, 1.0, -3.0])
    p = np.exp(scores.numpy().astype(float) / temperature)
    p /= p.sum()
    order = np.argsort(-p)
    inside = order[: int(np.searchsorted(np.cumsum(p[order]), nucleus - 1e-9)) + 1]
    share = np.zeros_like(p)
    share[inside] = p[inside] / p[inside].sum()
    draws = 20_000
    shares = torch.from_numpy(np.random.default_rng(5).random(draws, np.float32))
    options = DecodingOptions(strategy="nucleus", top_p=nucleus, temperature=temperature)
    words = decoding._top_p(scores.repeat(draws, 1), shares, options)
    counts = np.bincount(words.numpy(), minlength=len(p))
    assert set(np.flatnonzero(counts)) == set(np.flatnonzero(share))
    expected = draws * share[share > 0]
    chi2 = ((counts[share > 0] - expected) ** 2 / expected).sum()
    assert chi2 < 24.3  # the 99.9th percentile of chi-square with 7 degrees of freedom


def test_what_is_drawn_hangs_on_the_seed_the_article_and_the_number_of_the_text() -> None:
    made = gen.network(words=8)
    options = replace(HOWS[2], max_words=12, min_words=6, top_p=1.0)
    one, two, three = decoding.generate(made, ARTICLES[[0, 0, 3]], 3, options)
    assert one == two != three
    assert len(one) == 3
    assert one != decoding.generate(made, ARTICLES[:1], 3, replace(options, seed=7))[0]
    assert decoding.generate(made, ARTICLES[:1], 2, options)[0] == sorted(
        decoding.generate(made, ARTICLES[:1], 2, options)[0], key=lambda text: -text.score
    )


def test_a_generator_writes_in_the_order_it_was_asked() -> None:
    made = gen.network(words=8)
    texts = [article[article != PAD].tolist() for article in ARTICLES]
    ids = np.array([word - SPECIAL for text in texts for word in text], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    asked = Ragged(ids, offsets)
    generator = Generator(made, GeneratorOptions(hidden_size=8, embedding_dim=6))
    for options in HOWS:
        found = generator.generate(asked, 2, options)
        expected = decoding.generate(made, ARTICLES, 2, options)
        assert all(close(one, two) for one, two in zip(found, expected, strict=True))
    assert generator.generate(Ragged(ids[:0], offsets[:1])) == []
    with pytest.raises(UsageError, match="n_best: expected at least 1, got 0"):
        generator.generate(asked, 0)
