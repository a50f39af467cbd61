"""A shared plan as a picture: one page that needs nothing from elsewhere, or a cell of a notebook."""

from penstock.picture.page import cell, page, query_cell
from penstock.picture.picture import Picture
from penstock.picture.run import Run, measured_run

__all__ = ["Picture", "Run", "cell", "measured_run", "page", "query_cell"]
