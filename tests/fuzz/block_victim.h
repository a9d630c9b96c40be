// SPDX-License-Identifier: MIT
//
// For fuzz targets that read blocks: classes of every kind of property, and an object that is sent
// whatever there is. A refusal leaves no trace in it, and what it holds keeps to the limits.
#pragma once

#include <replayout/receive_properties.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "support/checks/counting_resource.h"
#include "support/hostile/received_traces.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/random_types.h"
#include "support/types/tree_editor.h"
#include "support/types/value_tree.h"

namespace replayout::test {

inline constexpr std::uint32_t fuzz_array_count_max = 12;
inline constexpr std::uint32_t fuzz_string_bytes_max = 40;
/// Ids that name objects: 1 up to this.
inline constexpr std::uint64_t fuzz_guid_max = 4;
inline constexpr std::uint32_t fuzz_class_count = 16;

/// Classes that differ, each of a registry of its own, made when they are needed. `has_keyed`:
/// keyed and fast arrays and custom deltas, too.
[[nodiscard]] inline const RandomTypes& fuzz_types(std::uint32_t index, bool has_keyed) {
    static std::array<std::unique_ptr<RandomTypes>, std::size_t{2} * fuzz_class_count> all;
    index %= fuzz_class_count;
    auto& types = all[2 * index + (has_keyed ? 1 : 0)];
    if (types == nullptr) {
        RandomTypesSettings settings;
        settings.class_count = 1;
        settings.property_count_max = 6;
        settings.keyed_percent = has_keyed ? 70 : 0;
        settings.limits.array_count_max = fuzz_array_count_max;
        settings.limits.string_bytes_max = fuzz_string_bytes_max;
        types = std::make_unique<RandomTypes>(index + 1, settings);
    }
    return *types;
}

/// What the object holds that is replicated; references by handle.
[[nodiscard]] inline Value state_of(const RawObject& object) {
    return read_object(object.type(), object.memory(),
                       [](ObjectHandle held, const HandlePath&) { return Reference{held.value}; });
}

/// An object with its receiving side.
class BlockVictim {
  public:
    /// `layout` may be one that is only received with; the object is of `types`.
    BlockVictim(const RandomTypes& types, const RepLayout& layout)
        : layout_(layout), object_(types.make_object(0)), receiver_(layout, &memory_) {
        for (std::uint64_t guid = 1; guid <= fuzz_guid_max; ++guid) {
            receiver_.package_map.bind(NetGUID{guid}, ObjectHandle{guid});
        }
    }

    /// Whether the first `bit_count` bits are taken for a block.
    bool receive(std::span<const std::byte> bytes, std::size_t bit_count, bool more_parts_follow) {
        const std::vector<Value> before = read_members(*object_);
        const ReceiverTrace trace = trace_of(receiver_, layout_);
        receiver_.named.clear();
        receiver_.dropped.clear();
        DecodeBudget budget;
        const DecodeBudget whole = budget;
        BitReader reader(bytes, 0, bit_count, &budget);
        ReceiveContext context = receiver_.context();
        context.references_max = references_max;
        context.kept_bytes_max = kept_bytes_max;
        context.more_parts_follow = more_parts_follow;
        const bool is_taken =
            receive_properties(layout_, reader, object_->memory(), receiver_.state, context);
        // A step costs a bit, but for elements that an array has got anew and runs of them.
        REQUIRE(budget.steps <= whole.steps);
        REQUIRE(memory_.bytes_in_use_max() <= memory_bytes_max);
        REQUIRE(receiver_.state.references().size() <= references_max);
        if (is_taken) {
            has_refused_ = has_refused_ || context.values_refused + context.values_failed > 0;
            for (const Value& value : read_members(*object_)) {
                // What goes at the end of an update is still there until then.
                REQUIRE(greatest_count(value) <= 2 * fuzz_array_count_max);
            }
            return true;
        }
        REQUIRE(reader.failed());
        REQUIRE(read_members(*object_) == before);
        REQUIRE(trace_of(receiver_, layout_) == trace);
        REQUIRE(receiver_.named.empty());
        REQUIRE(receiver_.dropped.empty());
        return false;
    }

    /// The update under way ends, if there is one.
    void finish() {
        ReceiveContext context = receiver_.context();
        finish_update(layout_, object_->memory(), receiver_.state, context);
        for (const Value& value : read_members(*object_)) {
            REQUIRE(greatest_count(value) <= fuzz_array_count_max);
        }
    }

    /// The object of that id comes or goes.
    void rebind(std::uint64_t guid) {
        const bool is_there = !receiver_.package_map.object_of(NetGUID{guid}).is_null();
        (void)receiver_.rebind(object_->memory(), NetGUID{guid},
                               is_there ? ObjectHandle{} : ObjectHandle{guid});
    }

    [[nodiscard]] const RawObject& object() const noexcept { return *object_; }
    /// Some value would not be taken by its own type, so that nobody can send it on.
    [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }

  private:
    static constexpr std::uint32_t references_max = 64;
    static constexpr std::uint32_t kept_bytes_max = 4 * 1'024;
    static constexpr std::int64_t memory_bytes_max = 2 * 1'024 * 1'024;

    const RepLayout& layout_;
    CountingResource memory_;
    std::unique_ptr<RawObject> object_;
    BlockReceiver receiver_;
    bool has_refused_ = false;
};

/// Blocks of one object as it changes: for a receiver that has nothing, and from each state to the
/// next.
[[nodiscard]] inline std::vector<Bytes> fuzz_blocks(const RandomTypes& types, std::uint64_t seed) {
    TreeEditLimits limits;
    limits.array_count_max = fuzz_array_count_max;
    limits.string_bytes_max = fuzz_string_bytes_max;
    limits.property_bytes_max = 300;
    SeededRandom random(seed);
    TreeEditor editor(seed + 1, limits, [&] { return Reference{random.below(fuzz_guid_max + 2)}; });
    const auto object = types.make_object(0);
    BlockSender sender(types.layout(0));
    std::vector<Bytes> blocks;
    for (int change = 0; change < 3; ++change) {
        (void)editor.edit(*object, 6);
        const Version version = sender.state.version();
        if (sender.update(object->memory())) {
            blocks.push_back(sender.block(exact_at(version)));
        }
    }
    return blocks;
}

}  // namespace replayout::test
