// SPDX-License-Identifier: MIT
//
// The sending side of one object, with everything that writing a block takes.
//
//     BlockSender sender(*layout);
//     sender.update(&pawn);
//     const Bytes block = sender.block(since(0));
#pragma once

#include <replayout/send_properties.h>

#include <limits>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/types/test_package_map.h"

namespace replayout {

/// A receiver that was sent everything up to `version` and lost nothing.
[[nodiscard]] inline OwedVersions since(Version version) {
    OwedVersions position;
    position.sent_version = version;
    return position;
}

/// A receiver that was sent everything up to `version` and lost the versions after < v <= through.
[[nodiscard]] inline OwedVersions since(Version version, Version after, Version through) {
    OwedVersions position = since(version);
    position.lost = {after, through};
    return position;
}

/// A receiver that was sent everything up to `version`, and has taken all of it.
[[nodiscard]] inline OwedVersions exact_at(Version version) {
    OwedVersions position = since(version);
    position.held_version = version;
    return position;
}

/// One block of several, and what it holds.
struct SentPart {
    SendResult result = SendResult::Part;
    RepRange range;
    Bytes bytes;
};

class BlockSender {
  public:
    explicit BlockSender(const RepLayout& layout,
                         MemoryResource* resource = std::pmr::get_default_resource())
        : scratch(resource), state(layout, resource) {}

    bool update(const void* object) { return state.update(object, package_map, counters); }

    /// What keyed arrays cost the receiver does not limit what goes into a block.
    [[nodiscard]] SendContext context() {
        SendContext context{package_map, counters,      scratch,      sharing_level(is_sharing),
                            receiver,    is_validating, type_counters};
        context.array_steps_left = std::numeric_limits<std::size_t>::max();
        return context;
    }

    /// What a receiver is owed; kept in the scratch memory.
    const ChangeMask& collect(const OwedVersions& position) {
        state.collect_owed(position, scratch.owed);
        return scratch.owed;
    }

    /// All that a receiver is owed, in one block; no bytes when it is owed nothing.
    Bytes block(const OwedVersions& position) {
        if (!collect(position).any()) {
            return {};
        }
        BitWriter writer(memory_);
        SendContext send_context = context();
        last = send_properties(state, position, scratch.owed, writer, send_context);
        REQUIRE(last == SendResult::Whole);
        return to_bytes(writer.bytes());
    }

    /// All that a receiver is owed, cut for packets of `capacity_bytes`; a value that is too large
    /// for one stands alone, whole.
    std::vector<SentPart> parts(const OwedVersions& position, std::size_t capacity_bytes) {
        std::vector<SentPart> result;
        (void)collect(position);
        RepCursor cursor;
        SendContext send_context = context();
        while (cursor.element > 0 ||
               scratch.owed.next(cursor.handle.value - 1) < scratch.owed.bit_count()) {
            BitWriter writer(std::span<std::byte>(memory_).first(capacity_bytes));
            SentPart part;
            last =
                send_part(state, position, scratch.owed, cursor, part.range, writer, send_context);
            part.result = last.result;
            part.bytes = part.result == SendResult::ValueTooLarge
                             ? single(position, RepHandle{part.range.handle_begin})
                             : to_bytes(writer.bytes());
            result.push_back(part);
        }
        return result;
    }

    /// One property in a block of its own.
    Bytes single(const OwedVersions& position, RepHandle handle) {
        ChangeMask only;
        only.reset(state.layout().handle_count());
        only.set(handle.value - 1);
        Bytes memory(256 * 1024);
        BitWriter writer(memory);
        SendContext send_context = context();
        last = send_properties(state, position, only, writer, send_context);
        REQUIRE(last == SendResult::Whole);
        return to_bytes(writer.bytes());
    }

    ServerPackageMap package_map;
    ReplicationCounters counters;
    SendScratch scratch;
    ChangelistState state;
    SentBlock last;  ///< by block(), parts() or single()
    bool is_sharing = true;
    const ReceiverIds* receiver = nullptr;
    TypeCounters* type_counters = nullptr;
    bool is_validating = false;  ///< it calls net_serialize once more, and calls are counted

  private:
    Bytes memory_ = Bytes(256 * 1024);
};

/// Handles of a set, ascending.
[[nodiscard]] inline std::vector<std::uint32_t> handles_of(const ChangeMask& mask) {
    std::vector<std::uint32_t> handles;
    for (std::uint32_t bit = mask.next(0); bit < mask.bit_count(); bit = mask.next(bit + 1)) {
        handles.push_back(bit + 1);
    }
    return handles;
}

}  // namespace replayout
