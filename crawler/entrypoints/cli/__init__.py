"""The command line: the `crawler` command, its subcommands, terminal output and error exits."""
