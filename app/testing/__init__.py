"""Tests of queries: rows that come in, the results they must give, and what is told about it."""
