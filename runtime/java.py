"""Java, which Spark runs on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from penstock.grammar.errors import PenstockError


def find_java() -> str:
    """The Java that Spark will take."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if home and not Path(home, "bin", "java").exists():
        raise PenstockError(
            f"JAVA_HOME is {home}, and there is no Java in it",
            hint="Set it to the folder of Java 17, or unset it to use the  java  of the PATH.",
            label="no-java",
        )
    if java is None:
        raise PenstockError(
            "Java is not installed, and Spark needs it",
            hint="Install Java 17 and put it on the PATH, or set JAVA_HOME.\n"
            "On Debian or Ubuntu:  apt install openjdk-17-jre-headless",
            label="no-java",
        )
    return java
