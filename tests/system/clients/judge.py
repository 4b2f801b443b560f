"""What must hold of the journals of a round, whoever was killed when.

  exactly once   of each writer, requests 1, 2, ... stand in the sequence, in this order, each once
                 (where gaps are allowed, some stand where nobody of the subscribers has seen them)
  acknowledged   what a writer was told to be delivered stands there, at the position that it heard
  one sequence   subscribers have the same sample at the same position
  honest gaps    over all its processes, a subscriber gets each sample once, in the order of
                 positions, but for those that a gap names; a gap names none that it had
"""

from . import record


class Verdict:
    def __init__(self):
        self.violations = []
        self.samples = self.acknowledged = self.received = self.missed = 0

    def wrong(self, text):
        self.violations.append(text)


def judge(journals, gaps_allowed):
    """`journals`: the records of each client, by its name."""
    verdict = Verdict()
    sequence = _sequence(journals, verdict)
    verdict.samples = len(sequence)
    _judge_writers(sequence, gaps_allowed, verdict)
    unseen = _unseen(journals, sequence) if gaps_allowed else set()
    for name, records in journals.items():
        _judge_acknowledgements(name, records, sequence, unseen, verdict)
        if any(kind != record.ACK for kind, *_ in records):
            _judge_subscriber(name, records, sequence, gaps_allowed, verdict)
    return verdict


def _sequence(journals, verdict):
    """Position -> sample, as all subscribers together saw it."""
    sequence, epochs = {}, set()
    for name, records in journals.items():
        for kind, epoch, position, sample in records:
            if kind != record.SAMPLE:
                continue
            epochs.add(epoch)
            if sequence.setdefault(position, sample) != sample:
                verdict.wrong(f"one sequence: {name} has {record.unpacked(sample)} at {position}, "
                              f"another {record.unpacked(sequence[position])}")
    if len(epochs) > 1:
        verdict.wrong(f"one sequence: there are {len(epochs)} epochs")
    return dict(sorted(sequence.items()))


def _unseen(journals, sequence):
    """Positions in gaps of which no subscriber has a sample."""
    return {position for records in journals.values() for kind, _, start, end in records
            if kind == record.GAP for position in range(start, end) if position not in sequence}


def _judge_writers(sequence, gaps_allowed, verdict):
    last = {}
    for position, sample in sequence.items():
        writer, request = record.unpacked(sample)
        before = last.get(writer, 0)
        if request <= before or (request != before + 1 and not gaps_allowed):
            verdict.wrong(f"exactly once: of writer {writer}, request {request} stands at "
                          f"{position}, behind {before}")
        last[writer] = max(before, request)


def _judge_acknowledgements(name, records, sequence, unseen, verdict):
    places = None
    for kind, writer, request, position in records:
        if kind != record.ACK:
            continue
        verdict.acknowledged += 1
        sample = record.packed(writer, request)
        if position != record.NO_POSITION:
            if sequence.get(position) != sample and position not in unseen:
                verdict.wrong(f"acknowledged: {name} heard that request {request} of writer "
                              f"{writer} is at {position}, and it is not")
            continue
        places = places or set(sequence.values())
        if sample not in places and not unseen:
            verdict.wrong(f"acknowledged: {name} heard that request {request} of writer {writer} "
                          "was delivered, and it was not")


def _judge_subscriber(name, records, sequence, gaps_allowed, verdict):
    given, told, next_position, begin = set(), set(), 0, None
    for kind, _, first, second in records:
        if kind == record.ACK:
            continue
        begin = first if begin is None else begin
        if first < next_position:
            verdict.wrong(f"honest gaps: {name} is at {next_position}, and then hears of {first}")
        if kind == record.SAMPLE:
            given.add(first)
            next_position = max(next_position, first + 1)
        else:
            told.update(range(first, second))
            next_position = max(next_position, second)
    verdict.received += len(given)
    for position, sample in sequence.items():
        # It began with what was stored; if that is not all, then with its first word.
        if position in given or (gaps_allowed and begin is not None and position < begin):
            continue
        if position in told and gaps_allowed:
            verdict.missed += 1
        else:
            verdict.wrong(f"honest gaps: {name} never got {record.unpacked(sample)} at {position}" +
                          (", a gap, though all is kept" if position in told else ""))
