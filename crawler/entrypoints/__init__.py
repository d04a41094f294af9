"""Entry points for people and programs: HTTP API, dashboard and command line.

Each parses its input, calls one handler and presents the result.
"""
