from crawler.domain.crawls.learned_params import ANY_NAME, ANY_PATH, NOT_TRIED, LearnedParam, ParamRole, told_params


def param(name: str, role: str, why: str = "", *, path: str = "/x", lasting: bool = True) -> LearnedParam:
    return LearnedParam(path=path, name=name, role=ParamRole(role), why=why, lasting=lasting)


def test_what_was_not_tried_is_told_after_what_was_found_out() -> None:
    rest = param(ANY_NAME, "dropped", NOT_TRIED, path=ANY_PATH, lasting=False)
    late = param("late", "dropped", NOT_TRIED, lasting=False)
    known, habit = param("id", "kept"), param("ref", "dropped", "as at other paths", path=ANY_PATH, lasting=False)
    assert told_params([late, known, habit, rest, param("now", "tried")]) == [
        "`id` in /x tells pages apart, so it is kept",
        "`late` in /x was not tried yet, so it is left out in this crawl",
        "any other parameter in all paths was not tried yet, so it is left out in this crawl",
    ]


def test_all_parameters_are_named_and_those_alike_in_one_sentence() -> None:
    params = [param(f"p{n}", "dropped", "alike") for n in range(8)]
    told = told_params([*params, param("id", "kept", path="/y"), param("do", "view"), param("as", "view")])
    assert told == [
        "`p0`, `p1`, `p2`, `p3`, `p4`, `p5`, `p6` and `p7` in /x do not tell pages apart, so they are left out (alike)",
        "`id` in /y tells pages apart, so it is kept",
        "`do` and `as` in /x show known pages in another way, so those are not crawled",
    ]


def test_paths_of_which_the_same_was_found_share_a_sentence() -> None:
    pages = [LearnedParam(path=f"/wiki/{n}", name="version", role=ParamRole.DROPPED, why="alike") for n in range(6)]
    other = LearnedParam(path="/list", name="version", role=ParamRole.KEPT, why="titles differ")
    assert told_params([*pages[:2], other, *pages[2:]]) == [
        "`version` in /wiki/0, /wiki/1, /wiki/2 and 3 other paths does not tell pages apart, so it is left out (alike)",
        "`version` in /list tells pages apart, so it is kept (titles differ)",
    ]
    assert told_params(pages[:4])[0].startswith("`version` in /wiki/0, /wiki/1, /wiki/2 and 1 other path does not")
