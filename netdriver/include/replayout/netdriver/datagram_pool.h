// SPDX-License-Identifier: MIT
//
// Where transports in memory keep datagrams between send and receive: equal slots, recycled, so
// that a steady exchange allocates nothing. The pool owns the bytes; a queue is a chain through it.
// Whenever no slot is used, it gives back slots that it has not needed for a while.
//
//     pool    slot   0      1      2      3      4
//             next   3      -      1      -      0
//     queue A  front 4 -> 0 -> 3            free list  2 -> 1
//
// A slot is on the free list or with one holder, who gives it back. For transports; one thread.
#pragma once

#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Names a slot of a DatagramPool.
enum class DatagramSlot : std::uint32_t { None = 0xffffffff };

class DatagramPool {
  public:
    /// Slots hold up to `datagram_bytes_max` bytes each. `memory` is on loan and outlives the pool.
    DatagramPool(std::size_t datagram_bytes_max, MemoryResource* memory);

    DatagramPool(const DatagramPool&) = delete;
    DatagramPool& operator=(const DatagramPool&) = delete;

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept { return datagram_bytes_max_; }

    /// Copies a datagram into a free slot. Allocates when there is none. The bytes must fit.
    [[nodiscard]] DatagramSlot take(PeerId sender, std::span<const std::byte> bytes);

    /// The slot is no longer used by its holder.
    void give_back(DatagramSlot slot) noexcept;

    [[nodiscard]] PeerId sender(DatagramSlot slot) const noexcept;

    /// On loan until the next take() or give_back().
    [[nodiscard]] std::span<const std::byte> bytes(DatagramSlot slot) const noexcept;

    /// Slots with a holder.
    [[nodiscard]] std::size_t used_count() const noexcept { return used_count_; }
    /// All slots, used or free.
    [[nodiscard]] std::size_t slot_count() const noexcept { return entries_.size(); }

  private:
    friend class DatagramQueue;

    struct Entry {
        PeerId sender;
        std::size_t bytes_size = 0;
        DatagramSlot next = DatagramSlot::None;
        Vector<std::byte> bytes;
    };

    [[nodiscard]] Entry& entry(DatagramSlot slot) noexcept;
    [[nodiscard]] const Entry& entry(DatagramSlot slot) const noexcept;
    /// Gives back slots. Requires that all are free.
    void trim() noexcept;

    std::size_t datagram_bytes_max_;
    std::size_t used_count_ = 0;
    std::size_t used_max_ = 0;    // since no slot was used
    std::size_t kept_count_ = 0;  // slots that were needed lately
    DatagramSlot free_front_ = DatagramSlot::None;
    Vector<Entry> entries_;
};

/// First in, first out. Holds its slots, but not the pool: the owner of both empties it.
class DatagramQueue {
  public:
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    void push(DatagramPool& pool, DatagramSlot slot) noexcept;

    /// Moves the front into `buffer` and gives its slot back, as Transport::receive() wants it.
    [[nodiscard]] std::size_t receive(DatagramPool& pool, PeerId& sender,
                                      std::span<std::byte> buffer) noexcept;

    void clear(DatagramPool& pool) noexcept;

  private:
    [[nodiscard]] DatagramSlot pop(DatagramPool& pool) noexcept;

    DatagramSlot front_ = DatagramSlot::None;
    DatagramSlot back_ = DatagramSlot::None;
    std::size_t count_ = 0;
};

}  // namespace replayout
