/// \file effects.hpp
/// What the steps of a pass ask of the fabric: one ordered, bounded list, which the driver carries
/// out. A step itself posts nothing.
///
/// Invariants:
///  W1  The list is carried out in its order, so a guard that comes after its data in the list
///      lands after it (F-order).
///  W2  Control words are those of the moment in which they were asked for (F-control): what a step
///      stores later goes with a later effect.
///  W3  The list allocates nothing after it was made. If it is full, what is in it is carried out
///      first, so nothing is lost and no order changes.
/// Threads: the predicate thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"

namespace tutti {

class Effects {
 public:
  static constexpr std::size_t kExtentsMax = 2;
  static constexpr std::size_t kWordsMax = 2;

  /// Control words, and where in our row they are.
  struct Words {
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes{};
  };

  /// The fabric outlives the list.
  explicit Effects(Fabric& fabric, std::size_t effects_max = 256,
                   std::size_t bytes_max = 64 * 1024);

  /// To each of these peers, one after the other: first the data, then the words. At most
  /// kExtentsMax and kWordsMax pieces. The words and the list of peers are copied.
  void push(std::span<const Slot> peers, std::span<const Extent> data,
            std::span<const Words> words);
  /// See Fabric.
  void write(Slot peer, Extent data) { push({&peer, 1}, {&data, 1}, {}); }
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> bytes) {
    const Words words{offset, bytes};
    push({&peer, 1}, {}, {&words, 1});
  }
  void flush();

  [[nodiscard]] bool empty() const { return used_ == 0; }
  /// Hands all of it to the fabric. The list is empty then.
  void carry_out();

 private:
  // Offsets in bytes_.
  struct Effect {
    bool flush = false;
    std::uint8_t extents = 0;
    std::uint8_t words = 0;
    std::uint32_t peers = 0;
    std::size_t peers_at = 0;
    std::array<Extent, kExtentsMax> data{};
    struct {
      std::uint64_t offset = 0;
      std::size_t at = 0;
      std::size_t bytes = 0;
    } block[kWordsMax]{};
  };

  [[nodiscard]] std::size_t keep(std::span<const std::byte> bytes);
  void carry_out(const Effect& effect);

  Fabric& fabric_;
  std::vector<Effect> effects_;
  std::size_t used_ = 0;
  std::vector<std::byte> bytes_;  // words and peers, each at a multiple of 8
  std::size_t bytes_used_ = 0;
};

}  // namespace tutti
