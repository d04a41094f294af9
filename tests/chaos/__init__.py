"""Faults with real processes: everything is killed, frozen and cut off during crawls, and judged by the truth.

`stack.py` runs servers, workers and a site as the product does; `faults.py` does harm, `scenarios/` one kind at a time
and `nemesis.py` all kinds by the dice;
`oracle.py` compares what was stored and asked for with the site's known graph and its access log.
`python -m tests.chaos` runs them all; `--seed` replays a nemesis.
"""
