"""The demonstration: a data centre's sensors, some queries as one shared plan, and what sharing saves."""

from penstock.demo.show import run_demo

__all__ = ["run_demo"]
