"""A site with a known link graph, many hosts, faults and an access log: the oracle of acceptance and chaos tests.

`client.Site` starts it as a process and orders it about; `graph.py` tells what a crawl of it must find; `log.py`
tells how polite the crawl was; below `/x` are odd pages that need no order (`oddities.py`).
"""
