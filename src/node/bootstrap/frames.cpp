#include "node/bootstrap/frames.hpp"

#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <span>
#include <utility>

namespace tutti {

asio::awaitable<Result<std::string>> read_frame(Link& link) {
  HelloPrefix prefix{};
  std::string problem = co_await link.read(prefix);
  if (!problem.empty()) co_return fail(ErrorCode::peer_lost, std::move(problem));
  const Result<std::uint32_t> length = decode_prefix(prefix);
  if (!length) co_return std::unexpected(length.error());
  std::string body(*length, '\0');
  problem = co_await link.read(std::as_writable_bytes(std::span(body)));
  if (!problem.empty()) co_return fail(ErrorCode::peer_lost, std::move(problem));
  co_return body;
}

asio::awaitable<Result<Hello>> read_hello(Link& link) {
  const Result<std::string> body = co_await read_frame(link);
  if (!body) co_return std::unexpected(body.error());
  co_return decode_hello(*body);
}

asio::awaitable<Verdict> read_verdict(Link& link) {
  using enum Verdict::Kind;
  std::array<std::byte, 4> header{};
  std::string problem = co_await link.read(header);
  if (!problem.empty()) co_return Verdict{broken, {ErrorCode::peer_lost, std::move(problem)}};
  const std::uint32_t length = load_u32(header);
  if (length == 0) co_return Verdict{};
  if (length > kVerdictMax) {
    co_return Verdict{broken, {ErrorCode::mismatch, "its verdict is malformed"}};
  }
  std::string body(length, '\0');
  problem = co_await link.read(std::as_writable_bytes(std::span(body)));
  if (!problem.empty()) co_return Verdict{broken, {ErrorCode::peer_lost, std::move(problem)}};
  co_return decode_verdict(body);
}

}  // namespace tutti
