"""The founding of groups that are logged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import _tutti


def bootstrap(
    name: str,
    members: Mapping[str, str] | Iterable[tuple[str, str]],
    state_dir: str,
    groups: Iterable[str],
) -> None:
    """Says once, at the node `name`, that the groups of these names are new: it writes so into that
    node's `state_dir`. `groups` are all that are logged. Then start all nodes, always with the same
    options: they found the groups once all of them are there, and go on with them after any crash.

    It raises if a group is there already, and changes nothing then; done twice before the first
    start, it is done once. Call it before the node is started.
    """
    if isinstance(groups, str):
        raise TypeError(f"groups must be a list of names, not {groups!r}")
    _tutti.bootstrap({"name": name, "members": members, "state_dir": state_dir}, list(groups))
