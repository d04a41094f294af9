"""What the part that renders takes for the truth, and what it makes of what it saw."""

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import render_watch, single_page, sites
from benchmarks.app_routes import book_routes, compare, garden_routes, make_plants
from benchmarks.render import promises
from benchmarks.render_laps import Lap
from benchmarks.render_laps import table as laps_table
from benchmarks.render_watch import Held, Look, peak
from benchmarks.single_page import SOURCES, NotBuilt
from benchmarks.sites import Mount

ROUTES = {"/": ["Home", "Where it begins."], "/a": ["A", "Something else."]}


RESTED = Look(6, 90, 1, 185)


def held(rested: Look = RESTED, idle: Look | None = None) -> Held:
    return Held(Look(0, 0, 0, 80), Look(6, 60, 1, 180), Look(14, 300, 2, 220), rested, idle, 132, 218)


def test_a_book_has_a_route_for_every_file_and_folder_with_what_a_reader_sees() -> None:
    routes = book_routes(SOURCES / "docsify")
    assert len(routes) == 15
    assert {"/", "/loaves/", "/loaves/rye", "/help/faults"} <= routes.keys()
    assert routes["/"][-1].startswith("Whoever is in a hurry finds one page for today, which")
    assert routes["/help/faults"][1] == "A pale crust wants a hotter oven."
    assert routes["/loaves/fruit"][-2:] == ["soaked raisins", "180"]
    assert routes["/words"][1] == "Crumb is what is inside the crust."


def test_the_garden_has_a_dozen_routes_and_one_for_each_plant() -> None:
    routes = garden_routes(SOURCES / "react", make_plants(4))
    assert len(routes) == 13 + 4
    assert routes["/plants"] == ["Sage no. 1", "Fern no. 2", "Iris no. 3", "Thyme no. 4"]
    assert routes["/plants/4"][1] == "Stands on the wall since the spring of 1904."


def test_a_page_is_right_when_all_its_lines_are_in_it_wherever_words_are_parted() -> None:
    exact = compare(ROUTES, {"/": "Home\n\nWhere it  begins. A", "/a": "A Something else ."})
    assert exact.is_exact
    assert str(exact) == "all 2 routes were found, each with its own text, and nothing else."


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ({"/": "Home Where it begins."}, "of 2 routes 1 not found (such as /a)."),
        ({"/": "Home Where it begins.", "/a": "Loading"}, "of 2 routes 1 without their own text (such as /a)."),
        ({"/": "HomeWhere it begins.", "/a": "A Something else.", "/x": ""}, "of 2 routes 1 no routes (such as /x)."),
    ],
)
def test_what_is_missing_wrong_or_too_much_is_told(stored: dict[str, str], told: str) -> None:
    assert str(compare(ROUTES, stored)) == told


def test_a_light_crawl_is_compared_with_always_on_the_same_site() -> None:
    laps = [Lap("manual", "auto", 1000, 0, 2, 4), Lap("manual", "always", 60, 60, 30, 30), Lap("app", "auto", 9, 9, 3)]
    assert laps_table(laps).splitlines()[2:] == [
        "| manual | auto | 1,000 | 0 | 500.0 | 250 | 4.0 |",
        "| manual | always | 60 | 60 | 2.0 | 1 | 500.0 |",
        "| app | auto | 9 | 9 | 3.0 | – | 0.0 |",
    ]


def test_promises_that_were_not_kept_are_called_short() -> None:
    laps = [Lap("manual", "auto", 100, 3, 2), Lap("manual", "always", 60, 60, 40), Lap("react", "auto", 9, 9, 3)]
    found = {"react": compare(ROUTES, {}), "docsify": compare({}, {})}
    rows = promises(laps, found, held(Look(9, 90, 1, 185))).splitlines()[2:]
    assert [row.rpartition(" | ")[2] for row in rows] == ["short |"] * 5
    assert "| ≥ 50 | 33 |" in rows[1]
    assert "| ≥ 2 | 1.5 |" in rows[3]


def test_a_worker_is_back_when_neither_processes_nor_its_memory_grew_and_idle_browsers_are_gone() -> None:
    assert held().is_back
    assert held(idle=Look(0, 0, 0, 190)).is_back
    assert not held(Look(7, 90, 1, 185)).is_back
    assert not held(Look(6, 90, 2, 185)).is_back
    assert not held(Look(6, 90, 1, 199)).is_back
    assert not held(idle=Look(1, 9, 0, 185)).is_back


def test_the_most_is_of_each_number_by_itself() -> None:
    assert peak([Look(1, 20, 1, 90), Look(5, 10, 0, 80)]) == Look(5, 20, 1, 90)
    assert "| most of each at any time | 14 | 300 | 2 | 220.0 |" in render_watch.table(held())


def test_without_npm_nothing_is_built_and_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None if program == "npm" else f"/bin/{program}")
    with pytest.raises(NotBuilt, match=r"^npm not found \(Debian's packages nodejs and npm\), so no app was built\.$"):
        single_page.apps(1).__enter__()


def test_the_apps_lock_pins_every_package_and_names_no_server() -> None:
    packages = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    assert all("integrity" in package for name, package in packages.items() if name)
    assert not any("resolved" in package for package in packages.values())


def test_paths_of_an_app_that_are_no_files_get_its_homepage() -> None:
    assert "try_files $uri /index.html;" in sites._server(Mount("app", Path("/x"), history=True), 80)
    assert "try_files" not in sites._server(Mount("manual", Path("/x")), 80)
