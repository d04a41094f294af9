"""Which lines of our code tests run, in all processes, also in those that are killed.

Before Python 3.12 a tracer, as coverage.py uses, makes stacks take up to three times as long. So each statement marks
its line by itself: `marking.py` writes that into our modules, all processes map one file and mark their lines in it
(`start/sitecustomize.py`), and coverage.py makes the report. `make test-all` does all three.
"""
