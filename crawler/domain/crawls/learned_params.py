"""What a crawl found out about a query parameter of a path: whether its values are pages of their own."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

MOST_LEARNED = 500
ANY_PATH = "*"
ANY_NAME = "&"
"""No parameter has this name."""
NOT_TRIED = "not tried"
UNANSWERED = "no answers"
"""It was tried while the site was down."""
UNREAD = "not read"
"""It was tried, and this machine had no time to read the answers."""


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


NAMED_PATHS = 3
"""Of those of which the same is told: a wiki has as many as it has pages."""
_TOLD = {
    ParamRole.KEPT: ("tells pages apart, so it is kept", "tell pages apart, so they are kept"),
    ParamRole.DROPPED: (
        "does not tell pages apart, so it is left out",
        "do not tell pages apart, so they are left out",
    ),
    ParamRole.VIEW: (
        "shows known pages in another way, so those are not crawled",
        "show known pages in another way, so those are not crawled",
    ),
    ParamRole.TRIED: ("is being tried", "are being tried"),
}
_LATE = {
    NOT_TRIED: (
        "was not tried yet, so it is left out in this crawl",
        "were not tried yet, so they are left out in this crawl",
    ),
    UNANSWERED: (
        "could not be tried, as its pages did not answer, so it is left out in this crawl",
        "could not be tried, as their pages did not answer, so they are left out in this crawl",
    ),
    UNREAD: (
        "could not be tried, as its pages could not be read in time, so it is left out in this crawl",
        "could not be tried, as their pages could not be read in time, so they are left out in this crawl",
    ),
}


def told_params(params: Iterable[LearnedParam]) -> list[str]:
    """What a crawl tells of parameters, all of them: what it found out, then what it had no time to find out.

    Sentences without their ends; parameters of a path of which the same was found share one, and so do paths.
    """
    known = [one for one in params if one.role is not ParamRole.TRIED]
    told = [*(one for one in known if one.lasting), *(one for one in known if one.why in _LATE)]
    names: dict[tuple[str, ParamRole, str], list[str]] = defaultdict(list)
    for one in told:
        names[one.path, one.role, one.why].append(one.name)
    paths: dict[tuple[tuple[str, ...], ParamRole, str], list[str]] = defaultdict(list)
    for (path, role, why), group in names.items():
        paths[tuple(group), role, why].append(path)
    return [_words(places, *found) for found, places in paths.items()]


def _words(paths: Sequence[str], names: Sequence[str], role: ParamRole, why: str) -> str:
    where = ["all paths" if path == ANY_PATH else path for path in paths[:NAMED_PATHS]]
    if others := len(paths) - len(where):
        where.append(f"{others:,} other {'path' if others == 1 else 'paths'}")
    said = _LATE.get(why) or _TOLD[role]
    reason = f" ({why})" if why and why not in _LATE else ""
    return f"{_listed([_named(name) for name in names])} in {_listed(where)} {said[len(names) > 1]}{reason}"


def _named(name: str) -> str:
    return {ANY_NAME: "any other parameter", "": "a query without a name"}.get(name, f"`{name}`")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
