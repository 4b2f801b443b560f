"""Whether each client of a round goes on: one that hangs is named, though all others do.

A client shows that it goes on by its journal, over all its processes. It has reason to stand still
only while no majority of the members runs, so the time counts from the end of that.
"""


class Progress:
    """Of clients by name. One that stood still for `limit` seconds hangs."""

    def __init__(self, limit):
        self._limit = limit
        self._seen = {}  # name -> size of its journal, and since when it has that size

    def look(self, now, name, size, could_go_on_since):
        """For how many seconds that client has hung; 0: it does not."""
        before, since = self._seen.get(name, (None, now))
        if size != before:
            before, since = size, now
        self._seen[name] = (before, since)
        stood = now - max(since, could_go_on_since)
        return stood if stood > self._limit else 0
