"""Labelled pairs of pages: what a site was at two crawls, and whether a person would call the page changed.

Written before the rules that are judged by it. Real documentation pages are dressed as sites dress theirs (stamps,
counters, advertisements, tokens), fetched at several moments, and some of them really edited between two crawls. The
two halves share neither pages nor wording nor seeds: rules are tuned on one, the other is only reported.
"""
