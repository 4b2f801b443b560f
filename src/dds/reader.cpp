#include "tutti/dds/reader.hpp"

#include <utility>

#include "dds/participant_core.hpp"
#include "dds/reader_core.hpp"

namespace tutti::dds {

namespace {

// A reader with what ends it: the last handle detaches it.
std::shared_ptr<ReaderCore> owned(const std::shared_ptr<TopicCore>& topic,
                                  const std::shared_ptr<ReaderCore>& reader,
                                  const std::shared_ptr<Endpoint>& endpoint) {
  return {reader.get(), [topic, reader, endpoint](ReaderCore*) {
            topic->participant().remove_endpoint(topic->key(), endpoint);
            topic->bundle()->detach(*reader);
          }};
}

Result<void> check(const TopicCore& topic, const ReaderOptions& options,
                   const UntypedReaderListener& listener) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument, "topic '" + topic.definition().name + "': " + what);
  };
  const Service service = topic.definition().options.service;
  const bool has_past = service == Service::volatile_storage || service == Service::logged;
  if (options.from.kind != From::Kind::now && !has_past) {
    return refuse("a reader cannot begin in the past, for nothing is kept of a topic of service '" +
                  std::string(to_string(service)) + "'; take the service stored or logged");
  }
  if (listener.on_sample && listener.on_samples) {
    return refuse("a reader has on_sample or on_samples; give it one of them");
  }
  if (options.from.kind != From::Kind::now && (listener.on_sample || listener.on_samples)) {
    return refuse(
        "a reader that is called with its samples (on_sample, on_samples) begins with what comes "
        "now; to have what came before, take (on_data_available, WaitSet)");
  }
  return {};
}

}  // namespace

UntypedReader::UntypedReader(std::shared_ptr<ReaderCore> core) : core_(std::move(core)) {}
UntypedReader::UntypedReader(UntypedReader&&) noexcept = default;
UntypedReader& UntypedReader::operator=(UntypedReader&&) noexcept = default;
UntypedReader::~UntypedReader() = default;

Result<UntypedReader> UntypedReader::create(const UntypedTopic& topic, const ReaderOptions& options,
                                            UntypedReaderListener listener) {
  const std::shared_ptr<TopicCore>& core = topic.core_;
  if (Result<void> good = check(*core, options, listener); !good) {
    return std::unexpected(std::move(good.error()));
  }
  auto endpoint = std::make_shared<Endpoint>(true, std::move(listener.on_subscription_matched));
  const auto reader =
      std::make_shared<ReaderCore>(core->bundle(), core->topic(), options, std::move(listener));
  // First: whoever hears of the reader may write at once.
  core->bundle()->attach(reader);
  if (Result<void> added = core->participant().add_endpoint(core->key(), endpoint); !added) {
    core->bundle()->detach(*reader);
    return fail(added.error().code, "topic '" + topic.name() + "': " + added.error().message);
  }
  return UntypedReader(owned(core, reader, endpoint));
}

Result<LoanedBytes> UntypedReader::take(std::size_t max) { return core_->take(max); }
Result<void> UntypedReader::wait(Timeout timeout) { return core_->wait(timeout); }
Result<int> UntypedReader::event_fd() { return core_->event_fd(); }
std::uint64_t UntypedReader::lost() const { return core_->lost(); }
bool UntypedReader::intact() const { return core_->bundle().group().intact(); }

}  // namespace tutti::dds
