"""History files as src/history writes them: the harness's own, and cuts that joiners lack."""

import struct

HEADER = struct.Struct("<8sIIQQQQHBBI264s")
EVENT = struct.Struct("<BBHHHQQQQQIIII")
CUT, HEAL, HEAL_CORE = 8, 23, 24  # EventKind
HARNESS = 65535
UNKNOWN = (1 << 64) - 1
assert HEADER.size == 320 and EVENT.size == 64


def event(kind, time_ns, peer=0, number=0):
    return EVENT.pack(kind, 0, HARNESS, 0, peer, 0, 0, time_ns, number, 0, 0, 0, 0, 0)


def write_harness(path, healed_ns, core):
    """`core`: (node, incarnation) of the members that are connected and correct from then on."""
    events = [event(HEAL, healed_ns)]
    events += [event(HEAL_CORE, healed_ns, node, incarnation) for node, incarnation in core]
    name = b"nemesis"
    with open(path, "wb") as file:
        file.write(HEADER.pack(b"TUTTIHST", 1, HEADER.size, 0, 0, len(events), 0, HARNESS, 1,
                               len(name), 0, name))
        file.write(b"".join(events))


def cuts_of(data):
    """(offset, view, group, position) of each; the kind is the first byte of an event."""
    kinds = data[HEADER.size::EVENT.size]
    index = kinds.find(CUT)
    while index >= 0:
        offset = HEADER.size + index * EVENT.size
        if offset + EVENT.size <= len(data):
            fields = EVENT.unpack_from(data, offset)
            yield offset, fields[6], fields[3], fields[9]
        index = kinds.find(CUT, index + 1)


def fill_unknown_cuts(paths):
    """A joiner that delivered nothing in its view does not know where the view ended: this fills in
    what the others say. Where no member knows, none delivered anything after the cut before."""
    known, unknown = {}, []
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        for offset, view, group, position in cuts_of(data):
            if position == UNKNOWN:
                unknown.append((path, offset, view, group))
            else:
                known[view, group] = position
    for path, offset, view, group in unknown:
        before = [known[key] for key in known if key[1] == group and key[0] <= view]
        position = known.get((view, group), max(before, default=0))
        with open(path, "r+b") as file:
            file.seek(offset + 40)
            file.write(struct.pack("<Q", position))
