// SPDX-License-Identifier: MIT
//
// Whether the counters of types add up to those of the whole, as replayout/type_counters.h
// promises.
#pragma once

#include <replayout/replication_counters.h>
#include <replayout/type_counters.h>

#include <string>

namespace replayout {

class TypeCountersSum {
  public:
    void add(const TypeCounters& type) {
        std::uint64_t value_bits = 0;
        sum_.payloads_built += type.payloads_built;
        sum_.payloads_reused += type.payloads_reused;
        sum_.blocks_sent += type.blocks_sent;
        sum_.block_bytes_sent += type.block_bytes_sent;
        for (std::size_t i = 0; i < block_miss_count; ++i) {
            sum_.block_misses[i] += type.block_misses[i];
        }
        for (const PropertyCounters& property : type.properties) {
            sum_.values_encoded += property.values_encoded();
            sum_.values_unshared +=
                property.encoded[static_cast<std::size_t>(EncodeReason::NotShared)];
            sum_.serializer_calls += property.serializer_calls;
            sum_.pieces_built += property.pieces_built;
            sum_.values_reused += property.values_reused + property.payload_reuses;
            sum_.properties_sent += property.values_sent;
            value_bits += property.bits_sent;
        }
        has_more_values_ = has_more_values_ || value_bits > type.block_bytes_sent * 8;
    }

    /// What does not add up; nothing when all does. Blocks and payloads are their holder's to
    /// count: below the driver nobody does.
    [[nodiscard]] std::string find_difference(const ReplicationCounters& whole,
                                              bool has_driver) const {
        std::string text;
        compare("values_encoded", sum_.values_encoded, whole.values_encoded, text);
        compare("values_unshared", sum_.values_unshared, whole.values_unshared, text);
        compare("serializer_calls", sum_.serializer_calls, whole.serializer_calls, text);
        compare("pieces_built", sum_.pieces_built, whole.pieces_built, text);
        compare("values_reused", sum_.values_reused, whole.values_reused, text);
        compare("properties_sent", sum_.properties_sent, whole.properties_sent, text);
        if (has_driver) {
            compare("payloads_built", sum_.payloads_built, whole.payloads_built, text);
            compare("payloads_reused", sum_.payloads_reused, whole.payloads_reused, text);
            text += find_block_difference(whole);
        }
        return text;
    }
    /// The same of blocks alone: values and payloads of the whole are also parameters of calls.
    [[nodiscard]] std::string find_block_difference(const ReplicationCounters& whole) const {
        std::string text;
        compare("blocks_sent", sum_.blocks_sent, whole.blocks_sent, text);
        compare("block_bytes_sent", sum_.block_bytes_sent, whole.block_bytes_sent, text);
        for (std::size_t i = 0; i < block_miss_count; ++i) {
            compare(to_string(static_cast<BlockMiss>(i)).data(), sum_.block_misses[i],
                    whole.block_misses[i], text);
        }
        if (has_more_values_) {
            text += "more bits of values of a type than of its blocks; ";
        }
        return text;
    }

    [[nodiscard]] const ReplicationCounters& sum() const noexcept { return sum_; }

  private:
    static void compare(const char* name, std::uint64_t part, std::uint64_t all,
                        std::string& text) {
        if (part != all) {
            text += std::string(name) + " " + std::to_string(part) + " of " + std::to_string(all) +
                    "; ";
        }
    }

    ReplicationCounters sum_;
    bool has_more_values_ = false;
};

}  // namespace replayout
