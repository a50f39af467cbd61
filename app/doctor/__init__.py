"""Is everything there that a run needs: the machine, Spark, a project and its data."""

from penstock.doctor.examine import examine
from penstock.doctor.finding import Finding

__all__ = ["Finding", "examine"]
