"""The key that encrypts secrets in the database: a setting, or a file in the data directory."""

from pathlib import Path

from crawler.adapters.postgres.secret_box import KEY_FILE, SecretBox
from crawler.config import Settings
from crawler.embedded import prepare_data_dir


def secret_box_of(settings: Settings) -> SecretBox:
    key = settings.secret_key
    return SecretBox(key.get_secret_value()) if key else SecretBox.in_directory(prepare_data_dir(settings.data_dir))


def secret_key_file(settings: Settings) -> Path:
    """The file with this machine's key, which is made if there is none."""
    directory = prepare_data_dir(settings.data_dir)
    SecretBox.in_directory(directory)
    return directory / KEY_FILE
