// SPDX-License-Identifier: MIT
//
// What a driver holds of its memory resource, by what makes it more. Counted where it is taken, so
// the sum is what the resource gave, to the byte.
//
//     const MemoryReport report = server.memory_report();
//     report.pair_bytes, report.bytes_per_pair()      // grows with connections x objects
//
// Not in it: layouts, which belong to whoever made them, and the few objects of a driver that lie
// in the global heap (docs/architecture.md, "Seams").
#pragma once

#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace replayout {

struct MemoryReport {
    /// What a server keeps of its objects: shadow, versions, history, shared buffer, and slots.
    /// Slots stay, for the objects to come.
    std::size_t object_bytes = 0;
    /// All that scales with connections x objects: the states, the rows of what is pending, their
    /// room to grow, and what lies beside a state where something is rare.
    std::size_t pair_bytes = 0;
    /// Connections themselves, and what is remembered of those that ended.
    std::size_t connection_bytes = 0;
    /// What packets under way carried, and what is reliable and not delivered. Records keep the
    /// room that they needed in the last 8,192 flushes: 40 bytes for a block in flight.
    std::size_t in_flight_bytes = 0;
    /// Lists of what changed in the flushes that are under way. A server keeps them for bundles,
    /// and one list serves all connections.
    std::size_t bundle_bytes = 0;
    /// Of a client: channels, and which references of its objects name which.
    std::size_t channel_bytes = 0;
    std::size_t guid_bytes = 0;  ///< network ids of objects, and the other way round
    std::size_t layout_table_bytes = 0;
    std::size_t scratch_bytes = 0;     ///< kept from tick to tick, whatever there is to send
    std::size_t validation_bytes = 0;  ///< copies that only NetDriverSettings::is_validating makes

    std::uint64_t object_count = 0;      ///< of a server
    std::uint64_t connection_count = 0;  ///< those that are closing included
    std::uint64_t pair_count = 0;        ///< connections x objects

    [[nodiscard]] std::size_t total_bytes() const noexcept {
        return object_bytes + pair_bytes + connection_bytes + in_flight_bytes + bundle_bytes +
               channel_bytes + guid_bytes + layout_table_bytes + scratch_bytes + validation_bytes;
    }
    /// At most 16 where there are two objects or more, none of them needs anything rare, their
    /// slots are in use, and no cap was reached (docs/performance.md); 0 without pairs.
    [[nodiscard]] double bytes_per_pair() const noexcept {
        return pair_count == 0 ? 0.0
                               : static_cast<double>(pair_bytes) / static_cast<double>(pair_count);
    }
};

/// Counts what passes through it to the resource behind it.
class MeteredResource final : public MemoryResource {
  public:
    /// `mutex`: held while the resource is called, and outlives this; null: one thread at a time.
    explicit MeteredResource(MemoryResource* upstream, std::mutex* mutex = nullptr) noexcept
        : upstream_(upstream), mutex_(mutex) {}

    [[nodiscard]] std::size_t bytes_in_use() const noexcept { return bytes_in_use_; }

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const std::unique_lock<std::mutex> lock = take_turn();
        void* memory = upstream_->allocate(bytes, alignment);
        bytes_in_use_ += bytes;
        return memory;
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        const std::unique_lock<std::mutex> lock = take_turn();
        upstream_->deallocate(memory, bytes, alignment);
        bytes_in_use_ -= bytes;
    }
    [[nodiscard]] bool do_is_equal(const MemoryResource& other) const noexcept override {
        return this == &other;
    }
    [[nodiscard]] std::unique_lock<std::mutex> take_turn() const {
        return mutex_ != nullptr ? std::unique_lock<std::mutex>(*mutex_)
                                 : std::unique_lock<std::mutex>();
    }

    MemoryResource* upstream_;
    std::mutex* mutex_;
    std::size_t bytes_in_use_ = 0;
};

/// Where the parts of a driver take their memory; the names are those of MemoryReport.
struct MemoryMeters {
    /// `mutex`: one for all of them, as they have one resource (MeteredResource).
    explicit MemoryMeters(MemoryResource* upstream, std::mutex* mutex = nullptr) noexcept
        : objects(upstream, mutex),
          pairs(upstream, mutex),
          connections(upstream, mutex),
          in_flight(upstream, mutex),
          bundles(upstream, mutex),
          channels(upstream, mutex),
          guids(upstream, mutex),
          layout_table(upstream, mutex),
          scratch(upstream, mutex),
          validation(upstream, mutex) {}

    MeteredResource objects;
    MeteredResource pairs;
    MeteredResource connections;
    MeteredResource in_flight;
    MeteredResource bundles;
    MeteredResource channels;
    MeteredResource guids;
    MeteredResource layout_table;
    MeteredResource scratch;
    MeteredResource validation;
};

}  // namespace replayout
