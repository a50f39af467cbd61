"""The benchmark suite: Penstock beside Spark's own joins, Flink, Pathway and DuckDB, in the same run."""
