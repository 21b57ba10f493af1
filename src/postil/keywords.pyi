from collections.abc import Mapping
from typing import TypedDict

from postil.corpus.options import DateRange
from postil.corpus.privacy import HashKey
from postil.data.grades import Scale
from postil.documents.options import PassageSplit
from postil.endpoint.limits import Price, Rate
from postil.interest.options import Goal
from postil.meta.choices import Rule
from postil.meta.coefficients import By, Measure
from postil.meta.rated import JudgedKeywords

class AgreementKeywords(TypedDict, total=False):
    seed: int
    resamples: int

class ApplyKeywords(JudgedKeywords, total=False):
    clip: bool
    scale: Scale | None
    any_references: bool
    aspect: str | None
    out: str | None

class BudgetKeywords(JudgedKeywords, total=False):
    seed: int
    metrics: tuple[str, ...]
    target: str
    method: str
    lower_is_better: tuple[str, ...]
    aspect: str | None
    scale: Scale | None
    severity: Rule
    graded: tuple[int, ...]
    raters: tuple[int, ...]
    difference: float | None
    power: float
    width: float | None
    sd: float | None
    reliability: float | None
    system_correlation: float | None
    r_squared: float | None
    seconds_per_rating: float
    seconds_per_item: float
    annotators: int | None
    overlap: float
    resamples: int

class BuildKeywords(TypedDict, total=False):
    source: str
    license: str
    tokenizer: str
    dates: DateRange | None
    min_content_words: int | None
    min_comments: int | None
    max_comment_words: int
    long_comments: str
    split_by: str
    test_min_comments: int | None
    test_min_words: int
    test_min_upvotes: int | None
    references_per_article: int
    sample_references_from: str
    dedup_threshold: float
    vocab_size: int
    html: str
    user_ids: str
    hash_key: HashKey | None
    mask: tuple[str, ...]
    seed: int
    on_error: str

class CalibrateKeywords(TypedDict, total=False):
    jobs: int
    seed: int
    encoder: str | None
    encoder_model: str | None
    corpus: str | None
    out: str | None
    resamples: int

class CombineKeywords(JudgedKeywords, total=False):
    seed: int
    method: str
    metrics: tuple[str, ...]
    penalty: float
    folds: int | None
    monotone: bool
    lower_is_better: tuple[str, ...]
    aspect: str | None
    scale: Scale | None
    resamples: int
    out: str | None

class CompareKeywords(TypedDict, total=False):
    seed: int
    resamples: int
    permutations: int
    intersect: bool
    lower_is_better: tuple[str, ...]
    item_means: bool
    p_values: str

class CorrelateKeywords(JudgedKeywords, total=False):
    jobs: int
    engine: str
    address: str | None
    seed: int
    resamples: int
    permutations: int
    coefficients: tuple[Measure, ...]
    by: By
    metrics: tuple[str, ...]
    lower_is_better: tuple[str, ...]
    aspect: str | None
    scale: Scale | None
    severity: Rule
    human_as_given: bool
    disagree: tuple[str, str] | None
    baseline: str | None
    worst: int
    audit: bool
    alt_epsilon: float
    lengths: str
    folds: int

class EstimateKeywords(JudgedKeywords, total=False):
    metrics: tuple[str, ...]
    target: str
    method: str
    lower_is_better: tuple[str, ...]
    aspect: str | None
    scale: Scale | None
    severity: Rule

class EvaluateKeywords(TypedDict, total=False):
    jobs: int
    seed: int
    plugins: tuple[str, ...]
    split: str
    metrics: tuple[str, ...]
    weights: str | None
    scale: Scale | None
    by_date: str | None
    encoder: str | None

class ForgetKeywords(TypedDict, total=False):
    comments: tuple[str, ...]
    listed: str | None
    articles: tuple[str, ...]
    corpora: tuple[str, ...]
    caches: tuple[str, ...]
    data: tuple[str, ...]
    same_text: bool
    dry_run: bool

class InterestingKeywords(TypedDict, total=False):
    jobs: int
    kind: str | None
    follow: bool
    tokenizer: str
    stem: str
    stop: str
    anchors: bool
    k: int
    goal: Goal | None
    model: str | None
    vectors: str | None
    measure: str | None
    reference: str | None
    split: PassageSplit
    lang: str | None

class JudgeKeywords(TypedDict, total=False):
    jobs: int
    seed: int
    endpoint: str | None
    cache: str | None
    rate: Rate | None
    parallel: int
    retries: int
    timeout: float
    limit_calls: int | None
    limit_cost: float | None
    price: Price | None
    count_tokens: str | None
    extra_body: str | None
    dry_run: bool
    model: str
    name: str | None
    scale: Scale | None
    rubric: str | None
    prompt: str | None
    anchors: str
    anchor_metric: str
    anchors_per_grade: int
    article_words: int
    logprobs: bool
    samples: int
    temperature: float
    answer_tokens: int
    tokenizer: str
    baseline: str | None
    pairs_per_item: int | None
    controls: bool
    aspect: str | None
    out: str | None

class TableKeywords(TypedDict, total=False):
    layout: str
    percent: bool
    as_printed: bool
    digits: int | None
    intervals: bool
    second_best: bool
    caption: str | None
    label: str | None
    names: Mapping[str, str]
