"""Example queries."""
