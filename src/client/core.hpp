/// \file core.hpp
/// The thread of a client: it moves bytes between a relay and the machine, and answers those that
/// wait. Everything but what says so runs on it.
#pragma once
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/coroutine_frames.hpp"
#include "client/machine.hpp"
#include "client/pauses.hpp"
#include "relay/codec.hpp"
#include "tutti/client.hpp"

namespace tutti::client {

namespace asio = boost::asio;

/// What a subscription has for its reader. Any thread.
struct Inbox {
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<Received> received{};  // by mutex, as ended
  bool ended = false;
  std::function<void(const Received&)> on_received{};
};

class Core final : public std::enable_shared_from_this<Core>, private MachineEvents {
 public:
  static Result<std::shared_ptr<Core>> start(Options options);
  ~Core() override;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  using OnTopic = std::function<void(const Result<relay::TopicInfo>&)>;
  using OnTopics = std::function<void(Result<std::vector<relay::TopicInfo>>)>;

  // Any thread.
  [[nodiscard]] bool is_own_thread() const {
    return thread_.get_id() == std::this_thread::get_id();
  }
  [[nodiscard]] bool is_connected() const { return connected_; }
  /// Why the last connection ended, or none was made, with the relay's address. Any thread.
  [[nodiscard]] std::string trouble() const {
    const std::scoped_lock lock(mutex_);
    return trouble_;
  }
  // Those that return an error after stop() have done nothing then.
  /// Returns the number of who waits, for forget().
  [[nodiscard]] Result<std::uint64_t> find(std::string name, OnTopic told);
  /// Nobody waits for that any more.
  void forget(std::string name, std::uint64_t waiter);
  /// Returns its number, for forget_list().
  [[nodiscard]] Result<std::uint32_t> list(OnTopics told);
  void forget_list(std::uint32_t request);
  [[nodiscard]] Result<void> publish(std::string topic, std::span<const std::byte> bytes,
                                     Client::Answered answered);
  [[nodiscard]] Result<std::uint32_t> subscribe(std::string topic, SubscribeOptions options);
  void unsubscribe(std::uint32_t number);
  [[nodiscard]] Result<Received> take(std::uint32_t number, Timeout timeout);
  /// Everything that waits is answered. From a callback it returns at once: the thread ends behind
  /// the callback, and has this object until then.
  void stop();

 private:
  explicit Core(Options options);
  void run();
  void end();
  /// False: the client has ended, or is about to. Else the own thread does the work before end(),
  /// which answers what waits: so nothing is asked that nobody answers.
  template <class Work>
  [[nodiscard]] bool post(Work work) {
    const std::scoped_lock lock(posting_);
    if (over_) return false;
    asio::post(context_, std::move(work));
    return true;
  }
  asio::awaitable<void> stay_connected();
  asio::awaitable<std::string> converse(const std::string& relay);
  asio::awaitable<std::string> connect(const std::string& relay);
  asio::awaitable<void> keep_alive(std::uint64_t connection);
  asio::awaitable<void> write_all(std::uint64_t connection);
  void flush();
  void ask_later();
  void hang_up(std::string why);
  void log(const std::string& text) const;
  /// Nothing that the application's functions throw ends the thread, nor the connection.
  template <class Function, class... Arguments>
  void call(const Function& function, const Arguments&... arguments) const {
    try {
      function(arguments...);
    } catch (const std::exception& problem) {
      log(std::string("a function that the client called threw: ") + problem.what());
    } catch (...) {
      log("a function that the client called threw what is no std::exception");
    }
  }
  [[nodiscard]] Result<void> may_publish(const std::string& topic, std::size_t bytes);
  [[nodiscard]] bool is_known(const std::string& topic);
  [[nodiscard]] std::shared_ptr<Inbox> inbox(std::uint32_t number);
  void deliver(std::uint32_t subscription, Received received);

  void on_welcome(const relay::Welcome& welcome) override;
  void on_topic(const std::string& name, const Result<relay::TopicInfo>& topic) override;
  void on_topics(std::uint32_t request, const std::vector<relay::TopicInfo>& topics,
                 bool last) override;
  void on_answer(std::uint64_t publication, const Answer& answer) override;
  void on_sample(std::uint32_t subscription, const relay::Sample& sample) override;
  void on_gap(std::uint32_t subscription, std::uint64_t from, std::uint64_t to) override;
  void on_ended(std::uint32_t subscription, const std::string& why) override;
  void on_bye(relay::Code code, const std::string& text) override;
  void on_found(const std::string& name, const relay::TopicInfo& topic) override;
  void on_no_session(const std::string& why) override;

  const Options options_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  asio::ip::tcp::socket socket_{context_};
  asio::ip::tcp::resolver resolver_{context_};
  asio::steady_timer deadline_{context_};
  asio::steady_timer alive_{context_};
  asio::steady_timer pause_{context_};
  asio::steady_timer again_{context_};
  asio::steady_timer leave_{context_};
  std::optional<Machine> machine_{};
  std::uint64_t connections_ = 0;
  std::uint64_t heard_ = 0;  // reads of this connection
  std::uint32_t idle_ms_ = 0;
  bool writing_ = false;
  bool asks_later_ = false;                 // again_ runs
  Pauses finds_again_{};                    // between questions for topics that are not known yet
  bool leaves_ = false;                     // leave_ runs
  Pauses stays_{};                          // at relays that open no session
  std::atomic<std::uint64_t> waiters_ = 0;  // of find(), so far
  std::atomic<std::uint32_t> lists_ = 0;    // asked for so far
  std::mutex posting_{};
  std::atomic<bool> over_ = false;  // set by posting_: end() is the last work
  std::optional<std::chrono::steady_clock::time_point> welcome_at_{};  // of this connection
  std::string why_{};                                                  // it hung up
  std::map<std::string, std::map<std::uint64_t, OnTopic>> finding_{};  // by name and waiter
  std::map<std::uint32_t, std::pair<OnTopics, std::vector<relay::TopicInfo>>> listing_{};
  std::map<std::uint64_t, Client::Answered> answers_{};

  std::atomic<bool> connected_ = false;
  std::atomic<std::uint32_t> waiting_ = 0;  // publications
  mutable std::mutex mutex_{};
  std::string trouble_{};                                      // by mutex_
  std::map<std::string, std::uint32_t> sample_bytes_max_{};    // by mutex_: of topics found
  std::map<std::uint32_t, std::shared_ptr<Inbox>> inboxes_{};  // by mutex_
  std::uint32_t subscriptions_ = 0;                            // by mutex_
  std::uint64_t publications_ = 0;                             // the own thread's
  std::thread thread_{};
  std::shared_ptr<Core> own_{};  // the own thread's: it was stopped in a callback
};

}  // namespace tutti::client
