// SPDX-License-Identifier: MIT
//
// The blocks of one object that are under way to one receiver, and what each of them carries.
// Part of ObjectReplicator.
#pragma once

#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <optional>
#include <span>

namespace replayout::detail {

/// Blocks must be taken in the order in which they were added. Takes memory for the most that were
/// under way at a time.
class BlockRecords {
  public:
    /// One part that a block carries. A block that repeats several losses has several records.
    struct Record {
        std::uint64_t packet = 0;
        LostPart carried;
        bool is_more = false;     ///< of the same block as the record before
        bool is_initial = false;  ///< with what is sent only at first
    };
    static_assert(sizeof(Record) == 48, "the head of ObjectReplicator says so");

    explicit BlockRecords(MemoryResource* resource) : records_(Allocator<Record>(resource)) {}

    /// A block goes out in that packet. Only the block before it may be in the same packet.
    void add(std::uint64_t packet, std::span<const LostPart> carried, bool is_initial);
    /// Takes out the oldest record if it is of that packet.
    [[nodiscard]] std::optional<Record> take(std::uint64_t packet);
    [[nodiscard]] bool contains(std::uint64_t packet) const noexcept;

  private:
    Vector<Record> records_;
};

}  // namespace replayout::detail
