// SPDX-License-Identifier: MIT
//
// Bunches of a ReliableSender: nodes in lists, out of chunks that stay where they are. Opens and
// closes come and go by thousands, so a bunch takes memory only where there were never so many
// before, and a small payload lies in its node.
//
//     chunks    [ 0 1 2 3 4 5 6 7 ][ 8 9 10 11 12 13 14 15 ] ...
//     unsent    9 - 3 - 12          in_flight    0 - 1 - 8 - 2          free    the others
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace replayout {

/// What a packet or a bunch is for. The packets in flight are shared among these, and the window of
/// bunches is; what a cap lets out is shared among those of BudgetShare.
enum class Share : std::uint8_t {
    Objects,   ///< opens, and blocks of properties
    Messages,  ///< all other bunches, small ones, and calls with the state that they mean
    Values,    ///< those that are too large for a packet
};
inline constexpr std::size_t share_count = 3;

/// What a bunch was for, told to its sender when it is delivered.
struct BunchTag {
    enum class Kind : std::uint8_t { Control, Open, Close, Value, Role, PartsDestroyed };

    Kind kind = Kind::Control;
    std::uint32_t object_index = 0;
    /// Value: the property. A message of the object's channel: its sequence.
    std::uint32_t handle = 0;
    /// Value: it was taken back, and the other end throws it away.
    bool is_taken_back = false;
};

/// So many bunches, and so many bytes of messages.
struct ReliableAmount {
    std::uint64_t bunches = 0;
    std::uint64_t bytes = 0;
};

/// How much has been sent: values, and all others.
struct WindowPlace {
    ReliableAmount values;
    ReliableAmount others;

    [[nodiscard]] ReliableAmount& of(Share share) noexcept {
        return share == Share::Values ? values : others;
    }
};

struct OutBunch {
    /// Of a payload that needs no memory of its own: closes, and opens that say a location.
    static constexpr std::size_t inline_bytes = 24;
    using Payload = SmallVector<std::byte, inline_bytes>;

    explicit OutBunch(MemoryResource* resource)
        : payload(Payload::allocator_type(Allocator<std::byte>(resource))) {}

    BunchHeader header;
    BunchTag tag;
    Payload payload;
    std::uint64_t message_bytes = 0;  ///< of the message that this is a part of
    WindowPlace begin;                ///< bunches sent before it, bytes before its message
    bool was_sent = false;

    [[nodiscard]] bool begins_message() const noexcept {
        return !header.is_partial || header.is_partial_initial;
    }
    /// What the payload took goes back.
    void drop_payload() noexcept;
};

/// Where a bunch lies, as long as it is there.
using BunchSlot = std::uint32_t;
inline constexpr BunchSlot no_bunch = 0xFFFF'FFFF;

/// In which list.
enum class BunchPlace : std::uint8_t { Free, Unsent, InFlight, Lost };

struct BunchNode {
    explicit BunchNode(MemoryResource* resource) : bunch(resource) {}

    OutBunch bunch;
    std::uint64_t order = 0;  // of sending: 0 before
    BunchSlot previous = no_bunch;
    BunchSlot next = no_bunch;  // of a free one likewise
    BunchPlace place = BunchPlace::Free;
};

class BunchPool {
  public:
    explicit BunchPool(MemoryResource* resource)
        : resource_(resource), chunks_(Allocator<Chunk*>(resource)) {}
    ~BunchPool();
    BunchPool(const BunchPool&) = delete;
    BunchPool& operator=(const BunchPool&) = delete;

    /// Of a slot that was taken.
    [[nodiscard]] BunchNode& operator[](BunchSlot slot) noexcept {
        return chunks_[slot / chunk_nodes]->nodes[slot % chunk_nodes];
    }
    [[nodiscard]] const BunchNode& operator[](BunchSlot slot) const noexcept {
        return chunks_[slot / chunk_nodes]->nodes[slot % chunk_nodes];
    }
    /// Null where there is none any more; of a slot that was taken once.
    [[nodiscard]] BunchNode* find(BunchSlot slot) noexcept {
        const std::size_t chunk = slot / chunk_nodes;
        return chunk < chunks_.size() && chunks_[chunk] != nullptr ? &(*this)[slot] : nullptr;
    }

    /// One that is in no list, with what its last bunch left in it.
    [[nodiscard]] BunchSlot take();
    void give_back(BunchSlot slot) noexcept;
    /// Taken, and not given back.
    [[nodiscard]] std::size_t used_count() const noexcept { return used_count_; }

    /// Once in KeptRoom::period: gives back chunks that were not needed since.
    void trim() noexcept;

  private:
    static constexpr std::size_t chunk_nodes = 8;
    static constexpr std::size_t kept_bytes_max = 64;  // of the payload of a free node

    struct Chunk {
        explicit Chunk(MemoryResource* resource)
            : nodes{BunchNode(resource), BunchNode(resource), BunchNode(resource),
                    BunchNode(resource), BunchNode(resource), BunchNode(resource),
                    BunchNode(resource), BunchNode(resource)} {}

        std::array<BunchNode, chunk_nodes> nodes;
        std::uint32_t used_count = 0;
    };

    void add_chunk();

    MemoryResource* resource_;
    Vector<Chunk*> chunks_;  // null: it was given back
    std::size_t chunk_count_ = 0;
    std::size_t used_count_ = 0;
    std::size_t most_used_ = 0;  // since trim()
    BunchSlot first_free_ = no_bunch;
};

/// A list over the nodes of a pool.
class BunchList {
  public:
    explicit BunchList(BunchPlace place) noexcept : place_(place) {}

    [[nodiscard]] bool is_empty() const noexcept { return first_ == no_bunch; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] BunchSlot first() const noexcept { return first_; }

    /// The last one from now on.
    void append(BunchPool& pool, BunchSlot slot) noexcept { insert(pool, slot, last_); }
    /// By its order, where all others are: mostly the last, or next to who came so before it.
    void insert_by_order(BunchPool& pool, BunchSlot slot) noexcept;
    void erase(BunchPool& pool, BunchSlot slot) noexcept;

    /// Calls `visit(slot, node)` for each, in order; it may be erased.
    template <typename Visitor>
    void for_each(BunchPool& pool, Visitor&& visit) {
        for (BunchSlot slot = first_; slot != no_bunch;) {
            BunchNode& node = pool[slot];
            const BunchSlot next = node.next;
            visit(slot, node);
            slot = next;
        }
    }

  private:
    /// Behind that one; no_bunch: in front.
    void insert(BunchPool& pool, BunchSlot slot, BunchSlot before) noexcept;

    BunchPlace place_;
    BunchSlot first_ = no_bunch;
    BunchSlot last_ = no_bunch;
    BunchSlot last_inserted_ = no_bunch;  // by order
    std::size_t count_ = 0;
};

}  // namespace replayout
