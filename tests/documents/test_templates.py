"""Tags of template languages and components in documents, which are no passages."""

from __future__ import annotations

import pytest

from postil.documents.passages import document_passages
from postil.documents.reading import read_document
from postil.documents.templates import without_tags

BEFORE = "The lock opens at nine, and the keeper counts the boats below the bridge."
AFTER = "In 1963 the river froze for nine weeks, and people walked to the island."
WORDS = "The lock in 1901, before it was painted green"
TAGS = [
    f'{{% figure caption:"*{WORDS}*" %}}\n{{% endfigure %}}',
    f"{{%- assign caption = '{WORDS}.' -%}}",
    f'{{{{< figure src="x" caption="{WORDS}." >}}}}',
    f'{{{{% notice title="{WORDS}." %}}}}',
    f'{{{{ page.title | default: "{WORDS}." }}}}',
    f'{{{{> header title="{WORDS}." }}}}',
    f"{{{{!-- {WORDS}.\n\nNobody sees it. --}}}}",
    f"{{{{! {WORDS}. }}}}",
    f"{{{{/* {WORDS}. */}}}}",
    f"{{# {WORDS}.\n\nNobody sees it. #}}",
    f'<%= link_to "{WORDS}.", lock_path %>',
    f"{{% comment %}}\n{WORDS}.\n\nNobody sees it.\n{{% endcomment %}}",
]
MARKDOWN = [
    f"{{% highlight ruby %}}\n{WORDS}.\n\nNobody reads it.\n{{% endhighlight %}}",
    f"{{{{< highlight go >}}}}\n{WORDS}.\n\nNobody reads it.\n{{{{< /highlight >}}}}",
    f"{{/* {WORDS}.\n\nNobody sees it. */}}",
    f"import Figure from '@theme/Figure';\nexport const words = '{WORDS}.';",
    "export default Page;\nexport const a = 1, b = 2;\nexport class Lock extends Base {}",
    "import {\n  Figure,\n  Tabs,\n} from './figures';",
    f"export default function Page() {{\n\n  return '{WORDS}.';\n}}",
    f'<Figure words="{WORDS}." onClick={{() => {{ go(1 > 0); }}}} />',
    f"<Tabs.List\n  words={{['{WORDS}.', 'more']}}\n>",
    f'<Figure src="x" words="{WORDS}." />',
    "{: .no_toc}",
    f"::: tip {WORDS}.",
]


def passages(text: str, kind: str) -> list[str]:
    return [each.text for each in document_passages(read_document(text.encode(), "lock", kind))]


@pytest.mark.parametrize("kind", ["markdown", "text"])
@pytest.mark.parametrize("tags", TAGS)
def test_template_tags_are_no_passages(tags: str, kind: str) -> None:
    one_block = " ".join(tags.split()) if kind == "text" else tags
    assert passages(f"# The lock\n\n{BEFORE}\n\n{one_block}\n\n{AFTER}\n", kind) == [BEFORE, AFTER]


@pytest.mark.parametrize("tags", [tags for tags in TAGS if "<" not in tags and "\n" not in tags])
def test_template_tags_of_pages_are_no_passages(tags: str) -> None:
    page = f"<html><body><article><p>{BEFORE}</p><p>{tags}</p><p>{AFTER}</p></article></body></html>"
    assert passages(page, "html") == [BEFORE, AFTER]


@pytest.mark.parametrize("tags", MARKDOWN)
def test_components_and_code_between_tags_are_no_passages(tags: str) -> None:
    assert passages(f"# The lock\n\n{BEFORE}\n\n{tags}\n\n{AFTER}\n", "markdown") == [BEFORE, AFTER]
    assert read_document(f"{tags}\n\n{AFTER}".encode(), "lock.mdx").text.endswith(AFTER)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('Boats {% include "x" %} wait in {{ town }}.', "Boats wait in."),
        ("The {{< ref >}}old{{< /ref >}} lock, {% x %}, froze.", "The old lock,, froze."),
        ("Write `{{ name }}` and ``{% x ` %}`` here {{ now }}", "Write {{ name }} and {% x ` %} here"),
        ("See [the lock]({{ site.url }}/lock) or [it]({% link a.md %}).", "See the lock or it."),
        (
            "The keeper <Icon.Small size={3} /> counts <Count of={a > b}>nine</Count> boats.",
            "The keeper counts nine boats.",
        ),
        (r"Half is $\frac{{a}}{{b}}$ of it.", r"Half is $\frac{{a}}{{b}}$ of it."),
        ("A set {1, 2} and {{ no end.", "A set {1, 2} and {{ no end."),
        ("Write <code>{{ name }}</code> here.", "Write {{ name }} here."),
        ("- Boats wait {% x %} here\n{: .small}", "Boats wait here"),
        ('Boats wait here {:.small #one key="a b"} too.', "Boats wait here too."),
        (
            "The set {{1}, {2}} has two, and {{}} has {{{}}} one.",
            "The set {{1}, {2}} has two, and {{}} has {{{}}} one.",
        ),
        ("Let $A = {{a_1}, {a_2}}$ hold.", "Let $A = {{a_1}, {a_2}}$ hold."),
        ('It gives {:ok, value}, or {:why "rain"}.', 'It gives {:ok, value}, or {:why "rain"}.'),
    ],
)
def test_tags_within_lines_leave_the_sentence(text: str, rest: str) -> None:
    assert read_document(f"{AFTER}\n\n{text}".encode(), "lock.md").text == f"{AFTER}\n\n{rest}"


def test_code_keeps_its_tags() -> None:
    document = read_document(f"{AFTER}\n\n```\n{{% x %}}\n```\n\n    {{% comment %}}\n".encode(), "lock.md")
    assert [document.text_of(block) for block in document.blocks if block.kind == "code"] == [
        "{% x %}",
        "{% comment %}",
    ]


def test_what_only_looks_like_a_declaration_stays() -> None:
    said = [
        "import duties rose in 1963, and people complained.",
        "export of eels began.",
        "export default rates rose again, as the bank said.",
        "export const growth is what ministers dream of.",
        "export class divides the country, he wrote.",
        "In Ely the\nimport of eels began.",
        f"export const a = {{\n\n{AFTER}",
    ]
    document = read_document("\n\n".join(said).encode(), "lock.mdx")
    assert document.text == "\n\n".join([*said[:-1], AFTER])


BEGINNINGS = "{{|{%|{#|<A {|<A \"|<A '\"|{% comment %}|`|<code>|{% endcomment |{{< /code |{{ a }}{{|{{}|{:a b|{:a='b"


@pytest.mark.parametrize("part", BEGINNINGS.split("|"))
def test_a_million_characters_of_beginnings_are_read(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert len(without_tags(text)) <= len(text)
