// Pointing at a query shows what it reads, and pointing at a slice or a node who reads it.
(() => {
  const root = document.querySelector("main.penstock");
  const all = (selector) => [...root.querySelectorAll(selector)];
  const slices = all(".slice"), nodes = all("[data-node]"), lines = all(".flow path"), kinds = all("[data-nodes]");
  const askers = all("[data-reach]");
  const nodesOf = new Map(kinds.map((kind) => [kind, new Set(kind.dataset.nodes.split(" "))]));
  const reachOf = new Map(askers.map((asker) => [asker, new Map(
    asker.dataset.reach.split(" ").filter(Boolean).map((text) => text.split(":")).map(([chain, age]) => [chain, +age]),
  )]));
  const kindOf = (asker) => asker.closest("[data-nodes]");
  const reads = (asker, slice) => (reachOf.get(asker).get(slice.dataset.in) ?? 0) > +slice.dataset.from;

  function readersOf(target) {
    if (target.matches(".slice")) return askers.filter((asker) => reads(asker, target));
    if (target.matches("[data-node]")) return askers.filter((asker) => nodesOf.get(kindOf(asker)).has(target.dataset.node));
    return [target, ...target.querySelectorAll("[data-reach]")];
  }

  function show(target) {
    const readers = readersOf(target), lit = new Set([target, ...readers, ...readers.map(kindOf)]);
    const names = new Set(readers.flatMap((asker) => [...nodesOf.get(kindOf(asker))]));
    nodes.filter((node) => names.has(node.dataset.node)).forEach((node) => lit.add(node));
    lines.filter((line) => [line.dataset.from, line.dataset.to].every((name) => names.has(name)))
      .forEach((line) => lit.add(line));
    slices.filter((slice) => readers.some((asker) => reads(asker, slice))).forEach((slice) => lit.add(slice));
    for (const part of [...slices, ...nodes, ...lines, ...askers]) part.classList.toggle("lit", lit.has(part));
    root.classList.add("showing");
  }

  let shown = null;
  root.addEventListener("mouseover", (event) => {
    const next = event.target.closest(".slice, [data-node], .asked, .template");
    if (next === shown) return;
    shown = next;
    if (next) show(next);
    else root.classList.remove("showing");
  });
  root.addEventListener("mouseleave", () => { shown = null; root.classList.remove("showing"); });
})();
