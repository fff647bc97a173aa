"""What pairs connect, by disjoint sets. Pure."""

from collections.abc import Iterable


class DisjointSets:
    """Disjoint sets of numbers (Tarjan 1975), each named by one of them."""

    def __init__(self) -> None:
        self.parent: dict[int, int] = {}

    def root(self, number: int) -> int:
        """Return the name of the set of a number, which is one of its own at first."""
        if number not in self.parent:
            self.parent[number] = number
            self.added(number)
        while self.parent[number] != number:
            self.parent[number] = self.parent[self.parent[number]]
            number = self.parent[number]
        return number

    def added(self, number: int) -> None:
        """Note a number that is seen for the first time."""

    def unite(self, one: int, other: int) -> bool:
        """Make one set of those of two numbers, named by the lower of both names; return whether they were two."""
        lower, higher = sorted((self.root(one), self.root(other)))
        self.parent[higher] = lower
        return lower != higher


def lowest_connected(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return for each number of these pairs the lowest one that they connect it with. Linear in the pairs."""
    sets = DisjointSets()
    for one, other in pairs:
        sets.unite(one, other)
    return {number: sets.root(number) for number in list(sets.parent)}
