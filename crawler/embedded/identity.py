"""The user that embedded servers run as. Postgres refuses to run as root, so root starts them as another user."""

import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A uid in the range that distributions and systemd leave unused. It needs no account, because nobody logs in with it,
# and no other service shares it. It is below 65,536, so containers map it.
SERVER_UID = 61150


@dataclass(frozen=True)
class ServerUser:
    """The owner of the servers' files, and the options of `crawler.launch` that start a process as that user."""

    owner: int
    become: tuple[str, ...]
    # only initdb needs a user that has a name
    initdb_owner: int
    initdb_become: tuple[str, ...]

    def own(self, directory: Path, owner: int | None = None) -> None:
        """Give the directory and its contents to that user. Only root can change owners."""
        owner = self.owner if owner is None else owner
        if directory.stat().st_uid == owner:
            return
        for path in _tree(directory):
            os.chown(path, owner, owner, follow_symlinks=False)


def server_user(directory: Path) -> ServerUser:
    """Choose the servers' user.

    `directory` is tested for another owner: in some containers root cannot change owners.
    """
    uid = os.geteuid()
    if uid != 0:
        return ServerUser(uid, (), uid, () if _has_name(uid) else _alias())
    if not _takes_owner(directory, SERVER_UID):
        return ServerUser(uid, _alias(), uid, _alias())
    named = _named_uid()
    return ServerUser(SERVER_UID, (f"uid={SERVER_UID}",), named, (f"uid={named}",))


def _alias() -> tuple[str, ...]:
    return (f"alias={_named_uid()}",)


def _has_name(uid: int) -> bool:
    return any(entry.pw_uid == uid for entry in pwd.getpwall())


def _named_uid() -> int:
    """The uid of "nobody", or of any other user except root."""
    uids = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid != 0}
    return uids.get("nobody") or next(iter(uids.values()), 65534)


def _takes_owner(directory: Path, uid: int) -> bool:
    probe = directory / f".owner-{os.getpid()}"
    probe.touch()
    try:
        os.chown(probe, uid, uid)
    except OSError:
        return False
    finally:
        probe.unlink()
    return True


def _tree(directory: Path) -> Iterator[Path]:
    """All paths below the directory.

    The directory itself comes last, because its owner shows that all others are done.
    """
    for parent, directories, files in os.walk(directory):
        yield from (Path(parent) / name for name in (*directories, *files))
    yield directory
