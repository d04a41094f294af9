"""The key that encrypts secrets in the database: a setting, or a file in the data directory."""

from crawler.adapters.postgres.secret_box import SecretBox
from crawler.config import Settings
from crawler.embedded import prepare_data_dir


def secret_box_of(settings: Settings) -> SecretBox:
    key = settings.secret_key
    return SecretBox(key.get_secret_value()) if key else SecretBox.in_directory(prepare_data_dir(settings.data_dir))
