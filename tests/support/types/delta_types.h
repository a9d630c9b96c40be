// SPDX-License-Identifier: MIT
//
// A struct with a NetDeltaSerializer that is as strict as one can be: it writes differences, each
// right on one base alone, and the sum of that base, which the reader compares with what it holds.
#pragma once

#include <replayout/net_delta.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <map>

#include "support/checks/catch.h"

namespace replayout::test {

using ScoreMap = std::map<std::uint32_t, std::int32_t>;

struct ScoresState final : NetDeltaBaseState {
    ScoreMap values;

    [[nodiscard]] bool is_state_equal(const NetDeltaBaseState& other) const override {
        return values == static_cast<const ScoresState&>(other).values;
    }
};

struct Scores {
    static constexpr std::uint64_t count_max = 4'096;
    /// Calls to write, of all objects.
    static inline std::uint64_t calls = 0;

    ScoreMap values;
    std::uint32_t note = 0;  ///< compared, and never sent
    bool is_broken = false;  ///< cannot be written
    bool is_stateless = false;

    bool operator==(const Scores&) const = default;

    bool net_delta_serialize(NetDeltaInfo& info) {
        return info.is_saving() ? write(info) : read(info);
    }

    [[nodiscard]] static std::uint64_t sum_of(const ScoreMap& values) {
        std::uint64_t sum = 17;
        for (const auto& [key, value] : values) {
            sum = (sum * 31 + key) * 31 + static_cast<std::uint32_t>(value);
        }
        return sum & 0xFFFF;
    }

  private:
    bool write(NetDeltaInfo& info) {
        ++calls;
        const ScoreMap none;
        const auto* state = info.old_state<ScoresState>();
        const ScoreMap& old = state == nullptr ? none : state->values;
        ScoreMap changes;  // by how much a score grew; one that is new from zero
        ScoreMap gone;
        for (const auto& [key, value] : old) {
            if (!values.contains(key)) {
                gone[key] = value;
            }
        }
        for (const auto& [key, value] : values) {
            const auto before = old.find(key);
            if (before == old.end() || before->second != value) {
                const std::int32_t from = before == old.end() ? 0 : before->second;
                changes[key] = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) -
                                                         static_cast<std::uint32_t>(from));
            }
        }
        if (is_broken) {
            info.archive().fail();
        }
        if (!is_stateless) {
            info.set_new_state<ScoresState>().values = values;
        }
        if (changes.empty() && gone.empty() && note == 1) {
            return false;  // and with another note by is_state_equal
        }
        std::uint64_t sum = sum_of(old);
        info.archive().serialize_bits(sum, 16);
        write_list(info.archive(), changes, true);
        write_list(info.archive(), gone, false);
        return true;
    }

    static void write_list(NetArchive& archive, const ScoreMap& list, bool has_values) {
        std::uint64_t count = list.size();
        archive.serialize_packed_uint(count);
        for (const auto& [key, value] : list) {
            std::uint64_t bits = key;
            archive.serialize_packed_uint(bits);
            bits = static_cast<std::uint32_t>(value);
            if (has_values) {
                archive.serialize_packed_uint(bits);
            }
        }
    }

    bool read(NetDeltaInfo& info) {
        NetArchive& archive = info.archive();
        if (!archive.spend(values.size(), 0)) {
            return false;  // the value is copied for this
        }
        std::uint64_t sum = 0;
        archive.serialize_bits(sum, 16);
        if (sum != sum_of(values)) {
            return false;
        }
        for (const bool has_values : {true, false}) {
            std::uint64_t count = 0;
            archive.serialize_packed_uint(count);
            for (std::uint64_t i = 0; i < count && !archive.failed(); ++i) {
                std::uint64_t key = 0;
                archive.serialize_packed_uint(key);
                std::uint64_t value = 0;
                if (has_values) {
                    archive.serialize_packed_uint(value);
                    std::int32_t& score = values[static_cast<std::uint32_t>(key)];
                    score = static_cast<std::int32_t>(static_cast<std::uint32_t>(score) +
                                                      static_cast<std::uint32_t>(value));
                } else if (values.erase(static_cast<std::uint32_t>(key)) == 0) {
                    return false;
                }
            }
        }
        return !archive.failed() && values.size() <= count_max;
    }
};

struct Table {
    std::uint32_t round = 0;
    Scores scores;
    std::uint8_t tail = 0;
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Scores> : replayout::DefaultStructTraits {
    static constexpr bool with_net_delta_serializer = true;
    static constexpr bool with_identical_via_equality = true;
};

namespace replayout::test {

[[nodiscard]] inline Result<const Type*> build_table(TypeRegistry& registry) {
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    return class_builder<Table>(registry, "Table")
        .property<&Table::round>()
        .property<&Table::scores>()
        .property<&Table::tail>()
        .build();
}

}  // namespace replayout::test
