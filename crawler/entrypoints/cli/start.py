"""Where the command begins: before anything heavy is imported, signals mean what a person expects."""

import signal


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to tidy up
    from crawler.entrypoints.cli.app import main as run  # noqa: PLC0415 - a second of imports

    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A closed terminal or a `timeout` ends a command as tidily as Ctrl-C does.
        signal.signal(number, _interrupt)
    run()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
