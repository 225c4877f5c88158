"""Which nodes can be one instruction: connected sets whose contraction leaves the graph without a cycle.

Nodes are numbers in topological order. An edge u -> v may be contracted while no other path leads from u to v; doing that
until no edge is left to contract gives maximal sets. Sets that read the same value may be joined while no path leads from
one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence


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
    while _contract(groups, order, wanted):
        pass
    _join(groups, siblings)
    found: dict[int, list[int]] = {}
    for node in sorted(members):
        found.setdefault(groups.of(node), []).append(node)
    return list(found.values())


def _contract(groups: _Groups, order: Sequence[int], members: Collection[int]) -> bool:
    """One round over all edges; whether any was contracted."""
    changed = False
    looked: dict[
        int, int
    ] = {}  # group -> merges there had been when nothing before it could be contracted
    for node in order:
        v = groups.of(node)
        if looked.get(v) == groups.merges:
            continue
        for u in sorted(groups.before[v]):
            if u in members and not groups.other_path(u, v):
                v, changed = groups.merge(u, v), True
        looked[v] = groups.merges
    return changed


def _join(groups: _Groups, siblings: Sequence[Collection[int]]) -> None:
    """Joins siblings that are apart, where that makes no cycle.

    Once a way leads from one set to another it stays, so each pair is looked at once; and no edge becomes one that may be
    contracted: the other way between its ends leads through sets that cannot be joined with either of them.
    """
    for family in siblings:
        names = sorted({groups.of(node) for node in family})
        while len(names) > 1:
            first, *others = names
            near, names = groups.near(first, names), []
            for other in others:
                if other in near:
                    names.append(other)
                else:
                    near |= groups.near(other, others)
                    groups.merge(first, other)


class _Groups:
    """Sets of nodes, named by their first, and the edges between them.

    `rank` orders the sets so that every edge goes up, as long as there is no cycle: a way from u to v leads through ranks
    between theirs alone, and a merge changes those alone (Pearce and Kelly, A Dynamic Topological Sort Algorithm, 2006).
    """

    def __init__(self, successors: Sequence[Collection[int]]) -> None:
        self._name = list(range(len(successors)))
        self.merges = 0
        self.rank = list(range(len(successors)))
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
        """Joins the sets of two nodes between which there is no way through a third set; the name of the result."""
        a, b = sorted((self.of(u), self.of(v)))
        if a == b:
            return a
        rank = self._make_room(*sorted((a, b), key=lambda s: self.rank[s]))
        self._name[b] = a
        self.merges += 1
        for mine, theirs in ((self.after, self.before), (self.before, self.after)):
            for other in mine[b] - {a}:
                theirs[other].discard(b)
                theirs[other].add(a)
            mine[a] |= mine[b]
            mine[a] -= {a, b}
            mine[b] = set()
        self.rank[a] = rank
        return a

    def _make_room(self, low: int, high: int) -> int:
        """A rank for two sets as one: what leads to `high` goes below it, what `low` leads to above."""
        first, last = self.rank[low], self.rank[high]
        below = self._reached(high, self.before, lambda rank: rank > first)
        if not below:
            return first
        above = self._reached(low, self.after, lambda rank: rank < last)
        moved = [*below, *above]
        ranks = sorted([first, last, *(self.rank[s] for s in moved)])
        for s, rank in zip(sorted(below, key=lambda s: self.rank[s]), ranks, strict=False):
            self.rank[s] = rank
        down = sorted(above, key=lambda s: self.rank[s], reverse=True)
        for s, rank in zip(down, reversed(ranks), strict=False):
            self.rank[s] = rank
        return ranks[len(below)]

    def _reached(
        self, start: int, edges: Sequence[set[int]], inside: Callable[[int], bool]
    ) -> set[int]:
        """Sets on ways from `start` whose ranks are inside; `start` is none of them."""
        found, todo = {start}, [start]
        while todo:
            for s in edges[todo.pop()]:
                if s not in found and inside(self.rank[s]):
                    found.add(s)
                    todo.append(s)
        return found - {start}

    def near(self, start: int, among: Collection[int]) -> set[int]:
        """Sets on ways to and from `start`, as far as they may lead to one of `among`."""
        ranks = [self.rank[s] for s in among]
        low, high = min(ranks), max(ranks)
        before = self._reached(start, self.before, lambda rank: rank >= low)
        return before | self._reached(start, self.after, lambda rank: rank <= high)

    def other_path(self, u: int, v: int) -> bool:
        """A way from set u to set v through a third one, looked for from v backwards."""
        lowest = self.rank[u]
        todo = [w for w in self.before[v] if w != u and self.rank[w] > lowest]
        seen = set(todo)
        while todo:
            for w in self.before[todo.pop()]:
                if w == u:
                    return True
                if w not in seen and self.rank[w] > lowest:
                    seen.add(w)
                    todo.append(w)
        return False
