"""Runtime settings: what operators change while the service runs. Stored in Postgres, they override the environment."""

from math import ceil

from pydantic import BaseModel, ConfigDict, Field

HOUR_MS = 3_600_000


class RuntimeSettings(BaseModel):
    """A field that is null is not set here: the environment's value holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_log_days: int | None = Field(
        None, ge=1, le=36_500, description="How long request starts are kept; looked at each hour"
    )
    keep_versions: int | None = Field(
        None, ge=0, le=1_000_000, description="Newest versions of a page kept by 'crawler prune'; 0 is all"
    )
    keep_crawl_days: int | None = Field(
        None, ge=0, le=36_500, description="Days a crawl's URL list is kept by 'crawler prune'; 0 is all"
    )
    user_agent: str | None = Field(
        None,
        min_length=1,
        max_length=300,
        pattern=r"^[\x20-\x7e]+$",
        description="Sent with each request, and what robots.txt is read for; workers go by it within 15 seconds",
    )
    requests_per_host_hour: int | None = Field(
        None,
        ge=0,
        le=10_000_000,
        description="Most requests to one host in an hour, of all crawls: a gap of 3600 s / n; 0 is no such limit",
    )
    queue_batch_size: int | None = Field(None, ge=1, le=10_000, description="Queue entries taken per run")

    def overridden(self, stored: "RuntimeSettings") -> "RuntimeSettings":
        """These settings, overridden by those set in `stored`."""
        return self.model_copy(update=stored.model_dump(exclude_none=True))

    @property
    def least_gap_ms(self) -> int:
        """Minimum milliseconds between two requests to a host, whatever its projects ask for. Rounded up."""
        return ceil(HOUR_MS / self.requests_per_host_hour) if self.requests_per_host_hour else 0
