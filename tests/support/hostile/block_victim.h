// SPDX-License-Identifier: MIT
//
// An object that is sent blocks, whatever they are. A refusal leaves no trace in it, and what it
// holds keeps to the limits.
#pragma once

#include <replayout/receive_properties.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/hostile/received_traces.h"
#include "support/replication/block_receiver.h"
#include "support/types/raw_object.h"
#include "support/types/value_tree.h"

namespace replayout::test {

class BlockVictim {
  public:
    /// `layout` may be one that is only received with.
    BlockVictim(std::unique_ptr<RawObject> object, const RepLayout& layout,
                std::uint32_t array_count_max)
        : receiver(layout, &memory_),
          layout_(layout),
          object_(std::move(object)),
          array_count_max_(array_count_max) {}

    /// Whether the first `bit_count` bits are taken for a block.
    bool receive(std::span<const std::byte> bytes, std::size_t bit_count, bool more_parts_follow) {
        const std::vector<Value> before = read_members(*object_);
        const ReceiverTrace trace = trace_of(receiver, layout_);
        receiver.named.clear();
        receiver.dropped.clear();
        DecodeBudget budget;
        const DecodeBudget whole = budget;
        BitReader reader(bytes, 0, bit_count, &budget);
        ReceiveContext context = receiver.context();
        context.more_parts_follow = more_parts_follow;
        const bool is_taken =
            receive_properties(layout_, reader, object_->memory(), receiver.state, context);
        // A step costs a bit, but for elements that an array has got anew and runs of them.
        REQUIRE(budget.steps <= whole.steps);
        REQUIRE(memory_.bytes_in_use_max() <= memory_bytes_max);
        REQUIRE(receiver.state.references().size() <= receiver.references_max);
        if (is_taken) {
            has_refused_ = has_refused_ || context.values_refused + context.values_failed > 0;
            // What goes at the end of an update is still there until then.
            check_counts(2 * array_count_max_);
            return true;
        }
        REQUIRE(reader.failed());
        REQUIRE(read_members(*object_) == before);
        REQUIRE(trace_of(receiver, layout_) == trace);
        REQUIRE(receiver.named.empty());
        REQUIRE(receiver.dropped.empty());
        return false;
    }

    /// The update under way ends, if there is one.
    void finish() {
        ReceiveContext context = receiver.context();
        finish_update(layout_, object_->memory(), receiver.state, context);
        check_counts(array_count_max_);
    }

    [[nodiscard]] RawObject& object() noexcept { return *object_; }
    [[nodiscard]] const RawObject& object() const noexcept { return *object_; }
    /// Some value would not be taken by its own type, so that nobody can send it on.
    [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }

  private:
    void check_counts(std::uint32_t count_max) const {
        for (const Value& value : read_members(*object_)) {
            REQUIRE(greatest_count(value) <= count_max);
        }
    }

    CountingResource memory_;

  public:
    BlockReceiver receiver;
    std::int64_t memory_bytes_max = std::numeric_limits<std::int64_t>::max();

  private:
    const RepLayout& layout_;
    std::unique_ptr<RawObject> object_;
    std::uint32_t array_count_max_;
    bool has_refused_ = false;
};

}  // namespace replayout::test
