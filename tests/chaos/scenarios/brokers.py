"""Another broker than Redis."""

from tests.chaos.rabbit import why_absent
from tests.chaos.scenario import Arena, scenario


@scenario(seconds=90, rabbit=True, needs=why_absent)
def rabbitmq(arena: Arena) -> None:
    """Celery's messages go through RabbitMQ, which is killed and comes back in the middle."""
    stack = arena.stack
    arena.under_way()
    assert stack.rabbit is not None
    stack.rabbit.restart()
    arena.recovers(90)
    stack.wait_done(arena.crawls, 90)
    assert sum(stack.tools.hints.lengths().values()) < 20, stack.tools.hints.lengths()
    with stack.servers.redis(1) as redis:
        queues = [name for name in ("coordinator", "fetch") if redis.exists(name)]
    assert not queues, f"{queues} are in Redis"
