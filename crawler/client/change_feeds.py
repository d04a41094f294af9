"""Client for Atom feeds of changes: their addresses, of one project, of a tag or of all."""

from uuid import UUID

from crawler.client.connection import Call, Connection, given, path


class ChangeFeeds:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, *, project_id: UUID | str | None = None, tag: str = "") -> str:
        """The address, which is shown once. The one before stops working.

        >>> client.change_feeds.create(tag="shops")
        """
        body = given(project_id=str(project_id) if project_id else None, tag=tag or None)
        answer = self._connection.json(Call("POST", path("change-feeds"), body=body))
        return str(answer["address"])

    def revoke(self, *, project_id: UUID | str | None = None, tag: str = "") -> None:
        query = given(project_id=str(project_id) if project_id else None, tag=tag or None)
        self._connection.json(Call("DELETE", path("change-feeds"), query))
