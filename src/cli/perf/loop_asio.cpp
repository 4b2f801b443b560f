// An application with a loop of Boost.Asio, as docs/event-loops.md has it.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>

#include "cli/perf/takers.hpp"

namespace tutti::cli {
namespace {

namespace asio = boost::asio;

class AsioTaker {
 public:
  AsioTaker(asio::io_context& loop, Served served)
      : served_(std::move(served)), readable_(loop, served_.readable) {}
  ~AsioTaker() { readable_.release(); }  // it is the group's
  AsioTaker(const AsioTaker&) = delete;
  AsioTaker& operator=(const AsioTaker&) = delete;

  /// Calls `ended` once nothing comes any more.
  template <class Ended>
  void watch(Ended ended) {
    readable_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this, ended](const boost::system::error_code& error) {
                           if (error || !served_.take()) return ended();
                           watch(ended);
                         });
  }

 private:
  Served served_;
  asio::posix::stream_descriptor readable_;
};

class AsioLoop {
 public:
  explicit AsioLoop(std::vector<Served> groups) : left_(groups.size()) {
    tick();
    for (Served& served : groups) {
      takers_.emplace_back(context_, std::move(served)).watch([this] {
        if (--left_ == 0) context_.stop();
      });
    }
  }
  void run() { context_.run(); }

 private:
  void tick() {
    timer_.expires_after(kLoopTick);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) tick();
    });
  }

  asio::io_context context_{1};
  asio::steady_timer timer_{context_};
  std::deque<AsioTaker> takers_;
  std::size_t left_;
};

}  // namespace

Result<std::jthread> serve_with_asio(std::vector<Served> groups) {
  try {
    auto loop = std::make_shared<AsioLoop>(std::move(groups));
    return std::jthread([loop] { loop->run(); });
  } catch (const std::exception& problem) {
    return fail(ErrorCode::system, std::string("cannot open an Asio loop: ") + problem.what());
  }
}

}  // namespace tutti::cli
