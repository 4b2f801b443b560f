"""Objects that a program makes past their class, or hands to methods of others: an error, no crash."""

import pytest
import tutti


@pytest.mark.filterwarnings("ignore:nanobind")  # it says the same
@pytest.mark.parametrize("name, use", [
    ("RawSample", memoryview), ("RawSample", bytes), ("Message", memoryview),
    ("Message", lambda message: message.data), ("Claim", memoryview),
    ("Claim", lambda claim: claim[0]),
    ("Run", memoryview), ("Batch", lambda batch: batch[0]), ("Batch", lambda batch: batch.runs()),
    ("Batch", list), ("Batch", len), ("Node", lambda node: node.poll()),
    ("Group", lambda group: group.take())])
def test_what_was_never_initialised_is_refused(name, use):
    cls = getattr(tutti._tutti, name)
    with pytest.raises(TypeError):
        use(cls.__new__(cls))


def test_methods_of_other_types_are_refused():
    for method in (tutti.Batch.runs, lambda of: tutti.Batch.__getitem__(of, 0)):
        with pytest.raises(TypeError):
            method(b"bytes")
