"""Ids of tokens in batches.

=====  =========  ===============================
id     name       meaning
=====  =========  ===============================
0      ``<pad>``  padding
1      ``<unk>``  a token outside the vocabulary
2      ``<bos>``  begin of a text
3      ``<eos>``  end of a text
4 + t             token t of the corpus
=====  =========  ===============================
"""

from __future__ import annotations

from typing import Final

__all__ = ["BOS", "EOS", "PAD", "SPECIAL", "UNK"]

PAD: Final = 0
UNK: Final = 1
BOS: Final = 2
EOS: Final = 3
SPECIAL: Final = 4
"""Number of special tokens; their ids precede those of the corpus's tokens."""
