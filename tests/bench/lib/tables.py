"""Stick tables: CPU per request on kept connections without a table, with one entry, and with 100,000."""

from . import http, subjects as S


def tables(run):
    """CPU per kept request at c=50, with and without tracking and a deny rule by rate."""
    return http.costs(run, S.TABLES, run.n(30000), True, "tables")


SECTIONS = {"tables": tables}
