// SPDX-License-Identifier: MIT
//
// The receiving side of one object: what reading a block takes, and what it found.
#pragma once

#include <replayout/receive_properties.h>

#include <vector>

#include "support/checks/byte_dump.h"
#include "support/types/test_package_map.h"

namespace replayout {

class BlockReceiver {
  public:
    explicit BlockReceiver(const RepLayout& layout,
                           MemoryResource* resource = std::pmr::get_default_resource())
        : state(resource),
          scratch(resource),
          named(Allocator<NetGUID>(resource)),
          dropped(Allocator<NetGUID>(resource)),
          layout_(&layout) {}

    /// One block, which is all of `bytes`, with a fresh decode budget.
    bool receive(void* object, std::span<const std::byte> bytes, bool more_parts_follow = false) {
        DecodeBudget budget;
        BitReader reader(bytes, &budget);
        ReceiveContext receive_context = context();
        receive_context.more_parts_follow = more_parts_follow;
        const bool is_received =
            receive_properties(*layout_, reader, object, state, receive_context);
        bits_left = reader.bits_left();
        is_failed = reader.failed();
        array_steps_spent = DecodeBudget::array_steps_default - budget.array_steps;
        has_too_many_references = receive_context.has_too_many_references;
        values_refused = receive_context.values_refused;
        values_failed += receive_context.values_failed;
        values_unmapped += receive_context.values_unmapped;
        return is_received;
    }

    [[nodiscard]] ReceiveContext context() {
        ReceiveContext result{package_map, scratch};
        result.references_max = references_max;
        result.kept_bytes_max = kept_bytes_max;
        result.named = &named;
        result.dropped = &dropped;
        return result;
    }

    /// An object appeared, or vanished: `target` null.
    std::uint32_t rebind(void* object, NetGUID guid, ObjectHandle target) {
        if (target.is_null()) {
            package_map.unbind(guid);
        } else {
            package_map.bind(guid, target);
        }
        ReceiveContext receive_context = context();
        const std::uint32_t count =
            rebind_references(*layout_, object, state, {&guid, 1}, receive_context);
        values_failed += receive_context.values_failed;
        values_unmapped += receive_context.values_unmapped;
        return count;
    }

    ClientPackageMap package_map;
    ReceivingRepState state;
    ReceiveScratch scratch;
    Vector<NetGUID> named;
    Vector<NetGUID> dropped;
    std::uint32_t references_max = 4'096;
    std::uint32_t kept_bytes_max = 1'024 * 1024;
    std::size_t bits_left = 0;
    bool is_failed = false;
    std::size_t array_steps_spent = 0;  ///< of the last block
    bool has_too_many_references = false;
    std::uint64_t values_refused = 0;
    std::uint64_t values_failed = 0;    ///< since the beginning
    std::uint64_t values_unmapped = 0;  ///< likewise

  private:
    const RepLayout* layout_;
};

[[nodiscard]] inline std::vector<std::uint64_t> values_of(const Vector<NetGUID>& guids) {
    std::vector<std::uint64_t> values;
    for (const NetGUID guid : guids) {
        values.push_back(guid.value);
    }
    return values;
}

}  // namespace replayout
