from crawler.domain.crawls.learned_params import ANY_NAME, ANY_PATH, NOT_TRIED, LearnedParam, ParamRole, told_params


def param(name: str, role: str, why: str = "", *, path: str = "/x", lasting: bool = True) -> LearnedParam:
    return LearnedParam(path=path, name=name, role=ParamRole(role), why=why, lasting=lasting)


def test_what_was_not_tried_is_told_after_what_was_found_out() -> None:
    rest = param(ANY_NAME, "dropped", NOT_TRIED, path=ANY_PATH, lasting=False)
    late = param("late", "dropped", NOT_TRIED, lasting=False)
    known, habit = param("id", "kept"), param("ref", "dropped", "as at other paths", path=ANY_PATH, lasting=False)
    told = told_params([late, known, habit, rest, param("now", "tried")])
    assert told == [known, late, rest]
    assert [one.words for one in told] == [
        "`id` in /x tells pages apart, so it is kept",
        "`late` in /x was not tried yet, so it is left out in this crawl",
        "any other parameter in all paths was not tried yet, so it is left out in this crawl",
    ]
