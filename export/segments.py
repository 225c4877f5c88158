"""Which nodes can be one instruction: connected sets whose contraction leaves the graph without a cycle.

Nodes are numbers in topological order. An edge u -> v may be contracted while no other path leads from u to v; doing that
until no edge is left to contract gives maximal sets. Sets that read the same value may be joined while no path leads from
one to the other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def segments(
    successors: Sequence[Collection[int]],
    members: Collection[int],
    taken: Sequence[Collection[int]] = (),
    siblings: Sequence[Collection[int]] = (),
) -> list[list[int]]:
    """Maximal convex sets of `members`, each in order, so that they and `taken` form no cycle.

    Args:
        successors: Of each node, those that read what it makes.
        members: Nodes that may be in a set.
        taken: Sets that stand already; no node of them is a member.
        siblings: Members that are wanted in one set, although no edge joins them: they read the same value.
    """
    groups = _Groups(successors)
    for fixed in taken:
        first, *rest = sorted(fixed)
        for node in rest:
            groups.merge(first, node)
    order, wanted = sorted(members), frozenset(members)
    while _contract(groups, order, wanted) or _join(groups, siblings):
        pass
    found: dict[int, list[int]] = {}
    for node in sorted(members):
        found.setdefault(groups.of(node), []).append(node)
    return list(found.values())


def _contract(groups: _Groups, order: Sequence[int], members: Collection[int]) -> bool:
    """One round over all edges; whether any was contracted."""
    changed = False
    for node in order:
        v = groups.of(node)
        for u in sorted(groups.before[v]):
            if u in members and not groups.other_path(u, v):
                v, changed = groups.merge(u, v), True
    return changed


def _join(groups: _Groups, siblings: Sequence[Collection[int]]) -> bool:
    """Joins two siblings that are apart, where that makes no cycle; whether there were such."""
    for family in siblings:
        names = sorted({groups.of(node) for node in family})
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if not groups.path(a, b) and not groups.path(b, a):
                    groups.merge(a, b)
                    return True
    return False


class _Groups:
    """Sets of nodes, named by their first, and the edges between them."""

    def __init__(self, successors: Sequence[Collection[int]]) -> None:
        self._name = list(range(len(successors)))
        self.after = [set(s) for s in successors]
        self.before: list[set[int]] = [set() for _ in successors]
        for u, many in enumerate(successors):
            for v in many:
                self.before[v].add(u)

    def of(self, node: int) -> int:
        while self._name[node] != node:
            self._name[node] = self._name[self._name[node]]
            node = self._name[node]
        return node

    def merge(self, u: int, v: int) -> int:
        """Joins the sets of two nodes; the name of the result."""
        a, b = sorted((self.of(u), self.of(v)))
        if a == b:
            return a
        self._name[b] = a
        for mine, theirs in ((self.after, self.before), (self.before, self.after)):
            for other in mine[b]:
                theirs[other].discard(b)
                theirs[other].add(a)
            mine[a] = (mine[a] | mine[b]) - {a, b}
            mine[b] = set()
        return a

    def path(self, u: int, v: int) -> bool:
        """A way from set u to set v."""
        return u in self.before[v] or self.other_path(u, v)

    def other_path(self, u: int, v: int) -> bool:
        """A way from set u to set v through a third one, looked for from v backwards."""
        todo = list(self.before[v] - {u})
        seen = set(todo)
        while todo:
            for w in self.before[todo.pop()]:
                if w == u:
                    return True
                if w not in seen:
                    seen.add(w)
                    todo.append(w)
        return False
