"""A worker process: carries out jobs that come as lines of JSON on stdin, and answers on stdout.

It is run by its path, with the Python of the system it works for, and imports nothing but the standard library itself.
What a system writes to stdout goes to stderr.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_loaded: dict[str, Any] = {}


def module(code: str) -> Any:
    """A module by its name, or by the name of a file beside the others in `systems/`."""
    if code not in _loaded:
        if code.endswith(".py"):
            path = Path(__file__).parent / "systems" / code
            spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
            assert spec is not None and spec.loader is not None
            loaded = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = loaded
            spec.loader.exec_module(loaded)
            _loaded[code] = loaded
        else:
            _loaded[code] = importlib.import_module(code)
    return _loaded[code]


def function(call: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What `module:function` means; the module has been made ready."""
    code, _, name = call.partition(":")
    if code not in _loaded:
        getattr(module(code), "start", lambda: None)()
    found: Callable[[dict[str, Any]], dict[str, Any]] = getattr(module(code), name)
    return found


def answer(line: str) -> dict[str, Any]:
    """Carry out one job."""
    try:
        asked = json.loads(line)
        return {"ok": function(asked["call"])(asked["job"])}
    except Exception as error:
        said = str(error).strip() or repr(error)
        return {"error": f"{type(error).__name__}: {said}", "trace": traceback.format_exc()}


def main() -> None:
    """Answer until nobody asks any more."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(line)), file=out, flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # a system may have threads that do not end
