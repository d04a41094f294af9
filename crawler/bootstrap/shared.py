"""Adapters that every part of the app shares: store, frontier, events, and the runtime settings."""

from collections.abc import MutableSequence
from functools import cached_property

from crawler.adapters.engine.store import Store
from crawler.adapters.frontier.frontier_shard import FrontierShard
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.adapters.frontier.sharded_frontier import AnyFrontier, ShardedFrontier
from crawler.adapters.objects.object_store import ObjectStore
from crawler.adapters.operating.event_stream import EventStream
from crawler.adapters.postgres.credential_store import CredentialStore
from crawler.adapters.postgres.login_store import LoginStore
from crawler.adapters.postgres.runtime_settings import RuntimeSettingsStore
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.bootstrap.secret_key import secret_box_of
from crawler.bootstrap.servers import Servers
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.handlers.operating.follow_settings import FollowSettings


class Shared(Servers):
    """Adapters that every part of the app may use."""

    @cached_property
    def store(self) -> Store:
        return Store(self.database)

    @cached_property
    def frontier(self) -> AnyFrontier:
        servers = self.frontier_redis or [self.redis]
        if len(servers) == 1:
            return RedisFrontier(servers[0], least_gap_ms=self._least_gap_ms)
        return ShardedFrontier([FrontierShard(server, least_gap_ms=self._least_gap_ms) for server in servers])

    def _least_gap_ms(self) -> int:
        return self.current_settings().least_gap_ms

    @cached_property
    def events(self) -> EventStream:
        return EventStream(self.redis, self.store.project_of)

    @cached_property
    def runtime_settings(self) -> RuntimeSettingsStore:
        return RuntimeSettingsStore(self.database)

    @cached_property
    def current_settings(self) -> FollowSettings:
        """The settings in force: those operators changed at runtime, else the environment's."""
        names = RuntimeSettings.model_fields
        environment = RuntimeSettings.model_construct(**{name: getattr(self.settings, name) for name in names})
        return FollowSettings(self.runtime_settings.read, environment)

    @property
    def user_agent(self) -> str:
        return self.current_settings().user_agent or self.settings.user_agent

    @cached_property
    def egress(self) -> EgressRule:
        return EgressRule.parse(self.settings.egress_allow)

    @cached_property
    def embed_rest(self) -> MutableSequence[float]:
        """When and how the embedding service may be asked again after a failure; a pool of processes shares it."""
        return [0.0] * 3

    @cached_property
    def secret_box(self) -> SecretBox:
        return secret_box_of(self.settings)

    @cached_property
    def objects(self) -> ObjectStore | None:
        """Where new pages are kept; None if that is Postgres."""
        return ObjectStore(self.settings.snapshot_url) if self.settings.snapshot_url else None

    @cached_property
    def logins(self) -> LoginStore:
        return LoginStore(self.database, lambda: self.secret_box)

    @cached_property
    def credentials(self) -> CredentialStore:
        return CredentialStore(self.database, lambda: self.secret_box)
