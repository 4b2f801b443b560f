// Writers: samples, acknowledgements; and what relays write for clients.
#include "dds/record.hpp"
#include "dds/session_record.hpp"
#include "domain/world_parts.hpp"

namespace tutti::domain {

void World::create_writer(Member& member, std::shared_ptr<WorldTopic> topic) {
  auto writer = std::make_shared<WorldWriter>();
  writer->topic = topic;
  writer->number = ++writers_;
  dds::WriterListener listener;
  listener.on_publication_matched = [raw = writer.get()](const dds::MatchedStatus& status) {
    raw->matched = status.total;
  };
  const dds::WriterOptions options{
      .max_blocking_time = std::chrono::nanoseconds(random_.one_in(2) ? timeout_ns_ : 0)};
  Result<dds::UntypedWriter> made =
      dds::UntypedWriter::create(*topic->topic, options, std::move(listener));
  const std::optional<Outcome> said = answer(member);
  if (!made) {
    const bool known = said && said->answer == Answer::noted;
    const ErrorCode code = made.error().code;
    return holds(!known || code == ErrorCode::timed_out || code == ErrorCode::stopped,
                 "true answers", member.name() + " has no writer: " + made.error().message);
  }
  holds(said && said->answer == Answer::noted, "true answers",
        member.name() + " writes a topic that is not there");
  writer->writer.emplace(std::move(*made));
  member.writers.push_back(std::move(writer));
}

Bytes World::payload_of(const WorldTopic& topic, std::uint64_t writer, std::uint64_t count) {
  const std::uint32_t in_place = topic.definition.type.in_place_bytes;
  std::size_t size = sizeof(SampleHead) + random_.below(24);
  if (random_.one_in(8)) size = 300 + random_.below(800);
  if (in_place != 0) size = in_place;
  Bytes bytes(size);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random_.next());
  const SampleHead head{++numbers_, writer, count, static_cast<std::uint32_t>(topic.name),
                        topic.key.second};
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

// The samples of a writer are numbered as they are claimed: a claim may have to wait.
void World::write(Member& member, const std::shared_ptr<WorldWriter>& writer) {
  Bytes bytes = payload_of(*writer->topic, writer->number, writer->count + 1);
  const std::uint64_t key = random_.below(3);
  if (random_.one_in(2)) {
    const Result<Ticket> written = writer->writer->try_write(bytes, key);
    if (!written) {
      counts_.full += written.error().code == ErrorCode::no_space;
      return;
    }
    ++writer->count;
  } else {
    auto space = writer->writer->claim(static_cast<std::uint32_t>(bytes.size()));
    if (!space) return;
    if (random_.one_in(16)) return;  // abandoned
    SampleHead head = head_of(bytes);
    head.count = ++writer->count;
    std::memcpy(bytes.data(), &head, sizeof head);
    std::ranges::copy(bytes, space->payload.begin());
    static_cast<void>(writer->writer->commit(std::move(*space), key));
  }
  writer->last_sample = head_of(bytes).number;
  ++counts_.written;
  if (random_.one_in(4)) acknowledge(member, writer);
}

void World::acknowledge(Member& member, const std::shared_ptr<WorldWriter>& writer) {
  const std::uint64_t number = writer->last_sample;
  const Result<void> done =
      writer->writer->wait_for_acknowledgments(std::chrono::nanoseconds(timeout_ns_));
  if (!done || number == 0) return;
  ++counts_.acknowledged;
  const ModelTopic* topic = member.find(writer->topic->key);
  const bool is_there =
      topic != nullptr && std::ranges::any_of(topic->samples, [&](const ModelSample& one) {
        return head_of(one.payload).number == number;
      });
  holds(is_there, "acknowledged",
        member.name() + " heard of sample " + std::to_string(number) + " too early");
}

// As a relay posts it, which may repeat requests and skip some.
void World::post_of_client(Member& member, const std::shared_ptr<WorldWriter>& writer) {
  ModelBundle& bundle = member.model.bundle(writer->topic->key.first);
  if (!bundle.ordered) return;
  Client& client = clients_[random_.below(clients_.size())];
  const auto session = std::ranges::find_if(bundle.sessions, [&](const auto& one) {
    return one.second.client == client.id && one.second.nonce == client.nonce;
  });
  dds::SessionRecord record = dds::SessionOpen{{1, client.id}, client.nonce};
  Bytes payload;
  if (session != bundle.sessions.end() && !random_.one_in(8)) {
    const std::uint64_t request = session->second.last + random_.below(3);
    payload = payload_of(*writer->topic, 1'000'000 + session->first, request);
    record = dds::ClientSample{.session = session->first,
                               .nonce = client.nonce,
                               .request = request,
                               .topic = writer->topic->key.second,
                               .timestamp_ns = time_of_day(),
                               .payload = payload};
  }
  Group group = writer->writer->group();
  Claim claim = group.try_claim(static_cast<std::uint32_t>(dds::bytes_of(record)));
  if (!claim) return;
  dds::write(record, claim.bytes());
  static_cast<void>(group.commit(std::move(claim)));
  ++counts_.clients;
}

}  // namespace tutti::domain
