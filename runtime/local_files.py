"""Local files for Spark without a process for each of them.

Where Hadoop's native library is missing, as in every PySpark from pip, its local file system starts `chmod` for each
file and folder it makes, which is a third of the time that a small write takes. Java can set permissions itself.
"""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import SparkSession

_NAME = "PenstockLocalFileSystem"
_JAVA = f"""
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class {_NAME} extends RawLocalFileSystem {{
    public void setPermission(Path path, FsPermission to) throws IOException {{
        String letters = to.getUserAction().SYMBOL + to.getGroupAction().SYMBOL + to.getOtherAction().SYMBOL;
        Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(letters));
    }}
}}
"""


def use_quick_local_files(spark: SparkSession) -> None:
    """Make it the one instance that all of Spark in this process takes from Hadoop's cache."""
    if os.name != "posix":
        return
    session: Any = spark
    jvm = session._jvm
    conf = session._jsc.hadoopConfiguration()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()  # the one with which Spark compiles its own code
    compiler.setParentClassLoader(jvm.Thread.currentThread().getContextClassLoader())
    compiler.cook(_JAVA)
    own = jvm.org.apache.hadoop.conf.Configuration(conf)
    own.setClassLoader(compiler.getClassLoader())
    own.set("fs.file.impl", _NAME)
    local = jvm.java.net.URI.create("file:///")
    systems = jvm.org.apache.hadoop.fs.FileSystem
    systems.get(local, conf).close()
    systems.get(local, own)
