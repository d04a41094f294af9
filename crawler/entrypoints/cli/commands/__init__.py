"""The subcommands of `crawler`, one module for each."""
