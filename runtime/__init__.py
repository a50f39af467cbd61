"""The shared plan on Spark."""
