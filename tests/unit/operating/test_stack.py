import os
from itertools import pairwise
from pathlib import Path

from crawler.adapters.operating.queues import QUEUES
from crawler.config import Settings, load_settings
from crawler.entrypoints.processes import all_processes, child_environment, crawl_processes, for_one_machine
from crawler.supervisor import ProcessSpec


def test_children_get_the_very_settings_of_their_parent(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    given = {
        "database_url": "postgresql://u:p@h/d",
        "redis_url": "redis://h/0",
        "data_dir": Path("/somewhere"),
        "egress_allow": "10.0.0.0/8,h:80",
        "shift_seconds": 3,
        "log_json": True,
    }
    parent = load_settings(**given)
    for name, value in child_environment(parent).items():
        monkeypatch.setenv(name, value)
    assert Settings() == parent


def test_a_crawl_starts_only_what_it_needs() -> None:
    settings = load_settings(redis_url="redis://h/0")
    assert [p.name for p in crawl_processes(settings, 2)] == ["workers"]
    names = [p.name for p in all_processes(settings, "127.0.0.1", 1)]
    assert names == ["api", "control", "compare", "notify", "fetch", "render", "ingest", "beat", "flower"]


def test_one_machine_runs_all_queues_in_fewer_processes() -> None:
    settings = load_settings(redis_url="redis://h/0")
    specs = {spec.name: spec for spec in for_one_machine(all_processes(settings, "127.0.0.1", 1))}
    assert list(specs) == ["api", "control", "compare", "notify", "fetch", "render", "beat", "flower"]
    taken = [queue for spec in specs.values() if "-Q" in spec.argv for queue in _after(spec, "-Q").split(",")]
    assert sorted(taken) == sorted(QUEUES)
    limits = [given for option, given in pairwise(specs["compare"].argv) if option == "--at-most"]
    assert limits == ["ingest=1", "embed=1"], "documents never take all of its processes"
    assert specs["flower"].address is not None, "it runs only while somebody looks at it"
    sizes = {name: _after(spec, "--autoscale") for name, spec in specs.items() if "--autoscale" in spec.argv}
    assert sizes == {"control": "2,1", "compare": "4,1", "fetch": f"{os.cpu_count()},1", "render": "1,1"}
    assert "-c" in specs["notify"].argv, "threads cost no memory at rest"


def _after(spec: ProcessSpec, option: str) -> str:
    return spec.argv[spec.argv.index(option) + 1]


def test_no_process_shows_a_secret_in_its_command_line() -> None:
    """Everybody on a machine can read the command lines of all."""
    secret = "hunter2"
    given = {
        name: SAMPLES.get(name, f"{secret}:{secret}")
        for name, field in Settings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }
    settings = load_settings(**given)
    specs = [*all_processes(settings, "127.0.0.1", 1), *crawl_processes(settings, 2, render=True)]
    assert any(secret in str(spec.env) for spec in specs), "they get them by their environment"
    assert [spec.argv for spec in specs if secret in " ".join(spec.argv)] == []


SAMPLES = {
    "database_url": "postgresql://u:hunter2@h/d",
    "redis_url": "redis://:hunter2@h/0",
    "frontier_urls": "redis://:hunter2@f/0,redis://:hunter2@g/0",
    "broker_url": "amqp://u:hunter2@h//",
    "proxy_url": "http://u:hunter2@h:3128",
    "smtp_url": "smtp://u:hunter2@h",
}
