"""Pages as documents, and search over them."""

from crawler.bootstrap.acquisition import Acquisition


class Documents(Acquisition):
    """What ingests pages and finds them again."""
