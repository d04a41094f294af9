"""Keep an index of your own fresh from a project's documents: `python rag_index.py index.sqlite PROJECT_ID [WORDS]`.

Each run applies what changed since the last one: new and changed documents with their chunks, and tombstones of pages
that are gone. Cursor and index are one commit, so a run that dies is repeated by the next. With WORDS it then prints
the best chunks. Here SQLite finds them by words; put your embedder and vector store in its place.

The service is CRAWLER_API_URL, the key CRAWLER_API_KEY.
"""

import os
import sqlite3
import sys

from crawler.client import Client
from crawler.client.errors import Problem

TABLES = """
CREATE TABLE IF NOT EXISTS cursors (project TEXT PRIMARY KEY, cursor TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS chunks USING fts5(document UNINDEXED, url UNINDEXED, content);
"""


def refresh(index: sqlite3.Connection, client: Client, project: str) -> int:
    """How many changes were applied."""
    row = index.execute("SELECT cursor FROM cursors WHERE project = ?", (project,)).fetchone()
    cursor, applied = (row[0] if row else None), 0
    while True:
        try:
            part = client.documents.changes(project, after=cursor, chunks=True)
        except Problem as refused:
            if refused.code != "invalid_cursor":
                raise
            index.execute("DELETE FROM chunks")  # the service was restored from a backup: all of it anew
            cursor = None
            continue
        with index:
            for change in part.items:
                document = change.document
                index.execute("DELETE FROM chunks WHERE document = ?", (str(document.id),))
                for chunk in change.chunks or () if change.type == "upsert" else ():
                    text = "\n".join((*chunk.headings, chunk.content))
                    index.execute("INSERT INTO chunks VALUES (?, ?, ?)", (str(document.id), document.url, text))
            index.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?)", (project, part.next_cursor))
        cursor, applied = part.next_cursor, applied + len(part.items)
        if not part.has_more:
            return applied


def search(index: sqlite3.Connection, words: str) -> list[tuple[str, str]]:
    quoted = " OR ".join('"' + word.replace('"', "") + '"' for word in words.split())
    found = index.execute("SELECT url, content FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT 5", (quoted,))
    return list(found)


if __name__ == "__main__":
    file, project = sys.argv[1:3]
    index = sqlite3.connect(file)
    index.executescript(TABLES)
    with Client(os.environ["CRAWLER_API_URL"], key=os.environ["CRAWLER_API_KEY"]) as client:
        sys.stdout.write(f"{refresh(index, client, project)} changes\n")
    for url, content in search(index, " ".join(sys.argv[3:])) if len(sys.argv) > 3 else ():
        sys.stdout.write(f"{url}: {' '.join(content.split())}\n")
    index.close()
