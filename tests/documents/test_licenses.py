"""Texts of licenses in documents, which are no passages, and prose about licenses, which is."""

from __future__ import annotations

import pytest

from postil.documents.furniture import license_blocks
from postil.documents.passages import document_passages
from postil.documents.reading import read_document

BEFORE = "The lock opens at nine, and the keeper counts the boats below the bridge."
AFTER = "In 1963 the river froze for nine weeks, and people walked to the island."
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction.

The above copyright notice and this permission notice shall be included in all copies or substantial portions.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED."""
BSD = """Redistribution and use in source and binary forms, with or without modification, are permitted provided that:

* Redistributions of source code must retain the above copyright notice.
* Redistributions in binary form must reproduce the above copyright notice.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS “AS IS” AND ANY EXPRESS OR IMPLIED WARRANTIES ARE DISCLAIMED."""
GPL = """GNU GENERAL PUBLIC LICENSE

Version 3, 29 June 2007

Everyone is permitted to copy and distribute verbatim copies of this license document, but changing it is not allowed.

The GNU General Public License is a free, copyleft license for software and other kinds of works.

For example, if you distribute copies of such a program, you must pass on the same freedoms that you received.

To modify a work means to copy from or adapt all or part of the work in a fashion requiring permission.

A covered work means either the unmodified Program or a work based on the Program.

Nothing here is of a word that only licenses have, and it stands between paragraphs that do.

You may not propagate or modify a covered work except as expressly provided under this License."""
GPL_NOTICE = """This program is free software: you can redistribute it and/or modify it under the terms of the GNU
Affero General Public License as published by the Free Software Foundation, either version 3, or any later version.

It is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied one.

You should have received a copy of the GNU Lesser General Public License along with this program."""
FDL = """Permission is granted to copy, distribute and/or modify this document under the terms of the GNU Free
Documentation License, Version 1.3; with no Invariant Sections. A copy of the license is included in the section
entitled “GNU Free Documentation License”."""
FDL_TEXT = """GNU Free Documentation License

The purpose of this License is to make a manual free in the sense of freedom to copy it, with or without changes.

A Transparent copy of the Document means a machine-readable copy, represented in a format known to all people.

You may copy and distribute the Document in any medium, provided that this License is reproduced in all copies."""
APACHE = """Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in
compliance with the License. You may obtain a copy of the License at

http://www.apache.org/licenses/LICENSE-2.0

Unless required by law, software distributed under the License is distributed on an "AS IS" BASIS."""
CC = """This work is licensed under a Creative Commons Attribution-ShareAlike 4.0 International License.

To view a copy of this license, visit http://creativecommons.org/licenses/by-sa/4.0/ or send a letter to them."""
CC_TEXT = """Attribution 4.0 International

By exercising the Licensed Rights (defined below), You accept and agree to be bound by the terms of this license.

The Licensor hereby grants You a worldwide, royalty-free license to exercise the Licensed Rights in the material."""
MPL = """Mozilla Public License Version 2.0

1.1. "Contributor" means each individual or legal entity that creates, contributes to the creation of, or owns
Covered Software.

Each Contributor hereby grants You a world-wide, royalty-free, non-exclusive license."""
CC_GERMAN = "Dieses Werk ist lizenziert unter einer Creative Commons Namensnennung 4.0 International Lizenz."
ALL = [MIT, BSD, GPL, GPL_NOTICE, FDL, FDL_TEXT, APACHE, CC, CC_TEXT, MPL, CC_GERMAN]


def passages(text: str, kind: str) -> list[str]:
    if kind == "html":
        parts = "".join(f"<p>{part}</p>" for part in text.replace("* ", "").split("\n\n"))
        text = f"<html><body><article>{parts}</article></body></html>"
    return [each.text for each in document_passages(read_document(text.encode(), "lock", kind))]


@pytest.mark.parametrize("kind", ["text", "markdown", "html", "wikitext"])
@pytest.mark.parametrize("terms", ALL)
def test_licenses_are_no_passages(terms: str, kind: str) -> None:
    assert passages(f"{BEFORE}\n\n{terms}\n\n{AFTER}", kind) == [BEFORE, AFTER]


def test_every_block_between_those_of_a_license_is_one() -> None:
    blocks = [BEFORE, *GPL.split("\n\n"), AFTER]
    assert license_blocks(blocks)[0] is license_blocks(blocks)[-1] is False
    assert all(license_blocks(blocks)[1:-1])


@pytest.mark.parametrize(
    "text",
    [
        "The GNU General Public License was written by Richard Stallman in 1989 for the programs of GNU.",
        "The town gave its maps away under a Creative Commons license, and hikers thanked it for that.",
        "A judge held that the MIT license grants a patent license, though it does not say so.",
        "This License to fish was granted by the town, and the Program of boats is printed every May.",
        "He wrote that everything is provided as is, and that nobody should complain about the lock.",
        "In no event shall anybody forget the flood of 1953, said the keeper of the lock.",
        'It begins with "Permission is hereby granted, free of charge, to any person obtaining a copy of it", he said.',
        "“Everyone is permitted to copy and distribute verbatim copies of this license document”, it says at its head.",
    ],
)
def test_prose_about_licenses_stays(text: str) -> None:
    assert passages(f"{BEFORE}\n\n{text}\n\n{AFTER}", "text") == [BEFORE, text, AFTER]


def test_an_article_about_a_license_stays() -> None:
    parts = [
        "The Free Software Foundation says that a covered work must come with its source.",
        "A judge in Frankfurt wrote that the Program was sold without the offer.",
        AFTER,
        "The copyright holder went home, and You may think of him what You like.",
    ]
    for title in ("GNU General Public License", "Attribution 4.0 International", "Mozilla Public License"):
        text = "\n\n".join((BEFORE, f"# {title}", *parts))
        assert passages(text, "markdown") == [BEFORE, *parts]


def test_text_between_two_notices_stays() -> None:
    assert passages(f"{CC}\n\n{BEFORE}\n\n{AFTER}\n\n{MIT}", "markdown") == [BEFORE, AFTER]


def test_a_long_paragraph_that_names_its_license_stays() -> None:
    text = f"{BEFORE} This book is licensed under a Creative Commons license. " + " ".join([AFTER] * 12)
    assert len(passages(text, "text")) == 14


def test_a_license_alone_is_its_own_text() -> None:
    assert len(passages(f"Copyright (c) 2020 A. Keeper\n\n{MIT}", "markdown")) >= 3
