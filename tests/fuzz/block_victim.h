// SPDX-License-Identifier: MIT
//
// For fuzz targets that read blocks: classes of every kind of property, and an object that is sent
// whatever there is.
#pragma once

#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "support/hostile/block_victim.h"
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

/// A victim with small limits, which knows a few objects.
class FuzzVictim : public BlockVictim {
  public:
    /// `layout` may be one that is only received with; the object is of `types`.
    FuzzVictim(const RandomTypes& types, const RepLayout& layout)
        : BlockVictim(types.make_object(0), layout, fuzz_array_count_max) {
        receiver.references_max = 64;
        receiver.kept_bytes_max = 4 * 1'024;
        memory_bytes_max = 2 * 1'024 * 1'024;
        for (std::uint64_t guid = 1; guid <= fuzz_guid_max; ++guid) {
            receiver.package_map.bind(NetGUID{guid}, ObjectHandle{guid});
        }
    }

    /// The object of that id comes or goes.
    void rebind(std::uint64_t guid) {
        const bool is_there = !receiver.package_map.object_of(NetGUID{guid}).is_null();
        (void)receiver.rebind(object().memory(), NetGUID{guid},
                              is_there ? ObjectHandle{} : ObjectHandle{guid});
    }
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
