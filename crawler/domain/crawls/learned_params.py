"""What a crawl found out about a query parameter of a path: whether its values are pages of their own."""

from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

MOST_LEARNED = 500
ANY_PATH = "*"
ANY_NAME = "&"
"""No parameter has this name."""
NOT_TRIED = "not tried"


class ParamRole(StrEnum):
    KEPT = "kept"
    """Its values are pages of their own."""
    DROPPED = "dropped"
    """The page is the same with it and without it: left out of a page's key."""
    VIEW = "view"
    """It shows pages that have addresses of their own in another way: not crawled."""
    TRIED = "tried"
    """Being found out."""


class LearnedParam(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(max_length=2000, description="In lower case, without a slash at its end; * is any other path")
    name: str = Field(max_length=2000)
    role: ParamRole
    why: str = Field("", max_length=200)
    # Left out where it is not so: what is kept with running crawls is compared as it was written.
    plain: bool = Field(
        default=False,
        description="The page answers without it, too: it is fetched so",
        exclude_if=lambda plain: not plain,
    )
    lasting: bool = Field(default=True, description="False: for one crawl, because it was not tried")

    @property
    def words(self) -> str:
        """What was found out, as a sentence without its end."""
        if self.why == NOT_TRIED:
            return f"{self._named} was not tried yet, so it is left out in this crawl"
        told = {
            ParamRole.KEPT: "tells pages apart, so it is kept",
            ParamRole.DROPPED: "does not tell pages apart, so it is left out",
            ParamRole.VIEW: "shows known pages in another way, so those are not crawled",
            ParamRole.TRIED: "is being tried",
        }
        return f"{self._named} {told[self.role]}{f' ({self.why})' if self.why else ''}"

    @property
    def _named(self) -> str:
        where = "all paths" if self.path == ANY_PATH else self.path
        what = {ANY_NAME: "any other parameter", "": "a query without a name"}.get(self.name, f"`{self.name}`")
        return f"{what} in {where}"


def told_params(params: Iterable[LearnedParam]) -> list[LearnedParam]:
    """What a crawl tells of parameters: what it found out, then what it had no time to find out."""
    known = [one for one in params if one.role is not ParamRole.TRIED]
    lasting = [one for one in known if one.lasting]
    return [*lasting, *(one for one in known if one.why == NOT_TRIED)]
