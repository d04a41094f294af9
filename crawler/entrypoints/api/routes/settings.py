"""`/settings`: settings that operators change at runtime, without a restart.

Which there are: `domain/runtime_settings.py`. How they reach the workers: `handlers/operating/follow_settings.py`.
"""

from fastapi import APIRouter
from pydantic import Field

from crawler.bootstrap import App
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.http.shapes import Body, Wire

router = APIRouter(tags=["settings"], dependencies=[AdminOnly])


class NewSettings(RuntimeSettings, Body):
    """Replaces what is stored: what is left out or null goes back to the environment's value."""


class SettingsShown(Wire):
    stored: RuntimeSettings = Field(description="What is set here; null leaves it to the environment")
    in_force: RuntimeSettings = Field(description="Stored over the environment over the defaults")


@router.get("/settings", summary="What is stored, and what is in force")
def get_settings(tools: Tools) -> SettingsShown:
    return _shown(tools, tools.runtime_settings.read())


@router.put("/settings", summary="Store settings over the environment")
def change_settings(body: NewSettings, tools: Tools) -> SettingsShown:
    return _shown(tools, tools.runtime_settings.replace(RuntimeSettings(**body.model_dump())))


def _shown(tools: App, stored: RuntimeSettings) -> SettingsShown:
    return SettingsShown(stored=stored, in_force=tools.current_settings.look())
