"""Topics: named streams of typed samples, in the same order at all participants.

    @dds.structure("weather::Reading", keys=["station"])
    @dataclass
    class Reading:
        station: dds.uint32
        celsius: float

    participant = dds.DomainParticipant(node)       # before node.start()
    topic = participant.create_topic("readings", Reading, service="stored")
    writer, reader = topic.writer(), topic.reader(start="stored")
    writer.write(Reading(7, 21.5))
    for sample in reader.take():
        print(sample.data, sample.position)

docs/topics.md says what is promised; docs/python.md is the introduction.
"""

from .._tutti import RawSample
from ._participant import (DataReader, DataWriter, DomainParticipant, ParticipantStatistics, Sample,
                           Topic, TopicDescription)
from ._types import (array, byte, char, char16, enumeration, float32, float64, int8, int16, int32,
                     int64, sequence, string, structure, uint8, uint16, uint32, uint64)

__all__ = [
    "DataReader", "DataWriter", "DomainParticipant", "ParticipantStatistics", "RawSample", "Sample",
    "Topic", "TopicDescription", "array", "byte", "char", "char16", "enumeration", "float32",
    "float64", "int8", "int16", "int32", "int64", "sequence", "string", "structure", "uint8",
    "uint16", "uint32", "uint64",
]
