"""Penstock: many standing window queries, one shared plan on Spark."""
