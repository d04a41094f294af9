"""Reading pages, whoever asks."""
