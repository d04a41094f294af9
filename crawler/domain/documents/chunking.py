"""Documents in pieces for search and language models: by headings first, by size where a section is too long.

A piece never reaches over a heading. Within a section, pieces that size alone parts share a little text, so that a
sentence at the border is found whole in one of them. Code is cut between lines and tables between rows, each part
with its fence or head; only a line that is larger than a piece is cut itself.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from crawler.domain.markdown.blocks import Block, Form, Section, sections

BYTES_PER_TOKEN = 4
"""Bytes for each token of English text; in other scripts each character has more bytes and more tokens alike."""
MOST_SECTIONS = 2000
"""A page with more headings is cut by size alone."""
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class ChunkRule:
    tokens: int = 400
    overlap: int = 40

    @property
    def most(self) -> int:
        return self.tokens * BYTES_PER_TOKEN

    @property
    def shared(self) -> int:
        return self.overlap * BYTES_PER_TOKEN


class Chunk(NamedTuple):
    position: int
    headings: tuple[str, ...]
    text: str
    tokens: int


class _Piece(NamedTuple):
    text: str
    form: Form
    size: int


def count_tokens(text: str) -> int:
    """An estimate that costs nothing and asks no network."""
    return -(-_size(text) // BYTES_PER_TOKEN)


def chunk_markdown(markdown: str, rule: ChunkRule) -> list[Chunk]:
    found = sections(markdown, MOST_SECTIONS)
    texts = ((section.headings, text) for section in found for text in _texts(section, rule))
    return [Chunk(place, headings, text, count_tokens(text)) for place, (headings, text) in enumerate(texts)]


def chunk_ids(document_id: UUID, chunks: Sequence[Chunk]) -> list[UUID]:
    """The ids of a document's chunks. The same text under the same headings keeps its id, wherever it stands."""
    seen: Counter[bytes] = Counter()
    ids = []
    for chunk in chunks:
        digest = hashlib.blake2b(document_id.bytes, digest_size=16)
        for part in (*chunk.headings, chunk.text):
            digest.update(len(part).to_bytes(8, "big") + part.encode())
        name = digest.digest()
        seen[name] += 1
        if seen[name] > 1:
            name = hashlib.blake2b(name + seen[name].to_bytes(4, "big"), digest_size=16).digest()
        ids.append(UUID(bytes=name))
    return ids


def _texts(section: Section, rule: ChunkRule) -> Iterator[str]:
    held: list[_Piece] = []
    size = 0
    for block in section.blocks:
        for piece in _pieces(block, rule.most):
            if held and size + piece.size > rule.most:
                yield _joined(held)
                held = _overlap(held[-1], min(rule.shared, rule.most - piece.size - len(_BETWEEN)))
                size = sum(kept.size + len(_BETWEEN) for kept in held)
            held.append(piece)
            size += piece.size + len(_BETWEEN)
    if held:
        yield _joined(held)


def _joined(pieces: Iterable[_Piece]) -> str:
    return _BETWEEN.join(piece.text for piece in pieces)


def _overlap(last: _Piece, most: int) -> list[_Piece]:
    """The end of the last piece, if it is prose: half a table or program would only mislead."""
    if most <= 0 or last.form is not Form.PROSE:
        return []
    tail = _tail(last.text, most)
    return [_Piece(tail, Form.PROSE, _size(tail))] if tail else []


def _tail(text: str, most: int) -> str:
    """The end of a chunk that the next one repeats: whole lines if any fit, else whole words."""
    lines = text.rsplit("\n", 8)[1:]
    while lines and _size("\n".join(lines)) > most:
        del lines[0]
    if lines:
        return "\n".join(lines)
    end = text[-most:]
    if _size(end) > most:
        end = end[-(most // 4) :] if most >= 4 else ""
    _, blank, whole = end.partition(" ")
    return whole.strip() if blank else ""


def _pieces(block: Block, most: int) -> Iterator[_Piece]:
    whole = "\n".join((*block.before, *block.lines, *block.after))
    size = _size(whole)
    if size <= most:
        yield _Piece(whole, block.form, size)
        return
    frame = sum(_size(line) + 1 for line in (*block.before, *block.after))
    if frame > most // 2:  # a fence or head as large as a piece is not worth repeating
        block = Block(block.form, (*block.before, *block.lines, *block.after), (), ())
        frame = 0
    for lines in _groups(block.lines, most - frame):
        text = "\n".join((*block.before, *lines, *block.after))
        yield _Piece(text, block.form, _size(text))


def _groups(lines: Sequence[str], most: int) -> Iterator[list[str]]:
    held: list[str] = []
    size = 0
    for line in lines:
        for part in _parts(line, most):
            if held and size + _size(part) > most:
                yield held
                held, size = [], 0
            held.append(part)
            size += _size(part) + 1
    if any(line.strip() for line in held):
        yield held


def _parts(line: str, most: int) -> Iterator[str]:
    """The line itself, or what it is cut into: where a sentence ends, else where a word does, else anywhere."""
    if _size(line) <= most:
        yield line
        return
    step = max(1, most // _width(line))
    start = 0
    while len(line) - start > step:
        end = _good_end(line, start + step // 2, start + step)
        if part := line[start:end].strip():
            yield part
        start = end
    if rest := line[start:].strip():
        yield rest


def _good_end(line: str, least: int, most: int) -> int:
    for mark in (". ", "! ", "? ", "。", "; ", " "):
        found = line.rfind(mark, least, most)
        if found >= 0:
            return found + len(mark)
    return most


def _width(line: str) -> int:
    """Bytes of its widest character."""
    return len(max(line).encode())


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
