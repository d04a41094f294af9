"""Where a user wants exports to be written, checked."""

from pathlib import Path

from crawler.adapters.pages.export_files import ExportPlace, Folder, ObjectFolder
from crawler.errors import Invalid
from crawler.server_urls import OBJECTS_EXAMPLE, is_object_storage


def export_place(name: str | Folder) -> ExportPlace:
    """A directory, or a URL of object storage.

    Refuse an empty name, for instance from an unset shell variable: it would mean the current directory. An option's
    default is also passed through here, already as a folder.
    """
    if isinstance(name, Folder):
        return name
    if not name.strip():
        raise Invalid("The directory to write to has no name; write . for the present one.")
    if "://" not in name:
        return Folder(Path(name))
    if not is_object_storage(name):
        raise Invalid(f"The place to write to {OBJECTS_EXAMPLE}.")
    return ObjectFolder(name)
