"""A LangChain loader over the Firecrawl door: `python langchain_loader.py https://example.org/ [LIMIT]`.

Needs `pip install firecrawl-py langchain-core`. It is written for Firecrawl; only the address is ours. LlamaIndex takes
the same: `llama_index.core.Document(text=one.page_content, metadata=one.metadata)`.

The service is CRAWLER_API_URL, the key CRAWLER_API_KEY.
"""

import os
import sys
from collections.abc import Iterator

from firecrawl import Firecrawl
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document


class SiteLoader(BaseLoader):
    """Every page of a site as a document."""

    def __init__(self, url: str, limit: int = 100) -> None:
        self.url = url
        self.limit = limit
        self.app = Firecrawl(api_key=os.environ["CRAWLER_API_KEY"], api_url=os.environ["CRAWLER_API_URL"])

    def lazy_load(self) -> Iterator[Document]:
        job = self.app.crawl(self.url, limit=self.limit, poll_interval=1, scrape_options={"formats": ["markdown"]})
        for page in job.data:
            meta = page.metadata
            yield Document(page.markdown or "", metadata={"source": meta.url, "title": meta.title})


if __name__ == "__main__":
    loader = SiteLoader(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    for document in loader.lazy_load():
        sys.stdout.write(f"{document.metadata['source']}: {document.page_content[:60]!r}\n")
