"""Faults with real processes: everything is killed, frozen and cut off during crawls, and the result compared with the truth.

`stack.py` runs servers, workers and a site as the product does; `scenarios.py` and its neighbours do harm;
`oracle.py` compares what was stored and asked for with the site's known graph and its access log.
`python -m tests.chaos` runs them all; `--seed` replays a nemesis.
"""
