"""Work beside the steps: chunks and results are merged, and put in place when the next step is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from penstock.compiler.physical import KeepChain
from penstock.runtime.chunks import Chunk
from penstock.runtime.propagate import Merge
from penstock.runtime.results import Results
from penstock.runtime.storage import Storage

Chains = dict[str, tuple[Chunk, ...]]
MergeDone = tuple[Merge, Chunk | None]


class Background:
    """At most one merge of each chain and one of results are under way; files nobody needs are removed after them."""

    def __init__(self, storage: Storage, results: Results) -> None:
        self._storage = storage
        self._results = results
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="penstock-merge")
        self._merges: dict[str, Future[MergeDone]] = {}
        self._result_merge: Future[tuple[list[str], str]] | None = None
        self._dead: list[str] = []
        self._replaced: list[str] = []

    def is_merging(self, chain: str) -> bool:
        """Whether chunks of a chain are being merged."""
        return chain in self._merges

    def merge_chunks(self, chain: str, work: Callable[[], MergeDone]) -> None:
        """Begin to merge chunks of a chain."""
        self._merges[chain] = self._pool.submit(work)

    def merge_results(self, due: list[str]) -> None:
        """Begin to merge folders of results, unless there are none or some are being merged."""
        if due and self._result_merge is None:
            self._result_merge = self._pool.submit(lambda: (due, self._results.merge(due)))

    def bury(self, paths: list[str]) -> None:
        """Remove chunks when nothing reads them any more."""
        self._dead += paths

    def put_in_place(
        self, chains: Chains, results: list[str], current: Mapping[str, KeepChain]
    ) -> tuple[Chains, list[str]]:
        """The chunks and results with those that have been merged, if what was merged is still there.

        The plan may have changed since a merge began.
        """
        self._replaced = []
        for chain in [chain for chain, future in self._merges.items() if future.done()]:
            merge, chunk = self._merges.pop(chain).result()
            paths = {old.path for old in merge.chunks}
            present = chains.get(chain, ())
            if paths <= {old.path for old in present}:
                kept = [old for old in present if old.path not in paths]
                changed = merge.chain is not None and current[chain].chain.wanted != merge.chain.wanted
                if chunk is not None and chunk.ranks is None and changed:
                    chunk = chunk.under(current[chain].chain, grown=True)
                chains = {**chains, chain: tuple([*kept, chunk] if chunk is not None else kept)}
                self._dead += list(paths)
            elif chunk is not None:
                self._dead.append(chunk.path)
        if self._result_merge is not None and self._result_merge.done():
            names, name = self._result_merge.result()
            self._result_merge = None
            self._results.swap(names, name)
            results = [name, *(old for old in results if old not in names)]
            self._replaced = names
        return chains, results

    def tidy(self) -> None:
        """After a commit: remove what nobody needs any more."""
        self._results.forget(self._replaced)
        if not self._merges:  # one under way may read what is dead
            for path in self._dead:
                self._storage.delete(path)
            self._dead.clear()

    def wait(self) -> bool:
        """Wait for what is under way; whether there was anything."""
        under_way: list[Future[Any]] = list(self._merges.values())
        under_way += [self._result_merge] if self._result_merge is not None else []
        wait(under_way)
        return bool(under_way)

    def stop(self) -> None:
        """Finish what is under way and begin nothing more."""
        self._pool.shutdown(wait=True)
