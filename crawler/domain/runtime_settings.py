"""What operators change while everything runs: kept in Postgres, over the environment."""

from pydantic import BaseModel, ConfigDict, Field


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
        description="Sent with each request. Only kept so far: workers send CRAWLER_USER_AGENT until they read this",
    )
    requests_per_host_hour: int | None = Field(
        None, ge=0, le=10_000_000, description="Extra limit per host; 0 is none. Only kept so far: nothing reads it yet"
    )
