// SPDX-License-Identifier: MIT
//
// What it costs to find out what changed: objects against their shadow states, and as the floor
// memcmp of the same objects against the same shadow bytes. BM_CompareProperties measures both by
// turns and prints the ratio (to_memcmp); BM_Memcmp is the floor alone.
//
// 1,000 objects are those of a tick: what is read of each is in no nearer cache than the second.
// One object, 1,000 times, is the path of instructions alone.
#include "support/measurement.h"
#include "support/no_references.h"
#include "support/workloads/class_layout.h"

#include <replayout/changelist_state.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t compare_count = 1'000;  // in each iteration
constexpr std::uint32_t block_bytes = 64;
constexpr std::uint32_t health_offset = 40;

/// Objects of one or more blocks of 64 bytes and twelve plain properties, without padding.
class CompareScene {
  public:
    /// `object_count` divides compare_count. Quantised are positions, rotations and velocities.
    CompareScene(std::uint32_t object_bytes, std::uint32_t object_count, bool is_quantised)
        : object_bytes_(object_bytes),
          object_count_(object_count),
          is_quantised_(is_quantised),
          memory_(std::size_t{object_count} * object_bytes),
          // All bytes of the archetype are zero, as those of the objects still are.
          class_([this](TypeRegistry& registry) { return declare(registry); },
                 {.limits = {}, .archetype = memory_.data()}),
          error_(class_.error()) {
        if (!error_.empty()) {
            return;
        }
        if (class_.layout().runs().size() != 1) {
            error_ = "all properties must make one run to compare";
            return;
        }
        for (std::uint32_t i = 0; i < object_count_; ++i) {
            // Every byte of a fresh object differs from its archetype, which is all zeros.
            std::memset(object(i), static_cast<int>(i % 251 + 1), object_bytes);
            states_.push_back(std::make_unique<ChangelistState>(class_.layout(),
                                                                std::pmr::get_default_resource()));
        }
        if (update_all() != object_count_ || update_all() != 0) {
            error_ = "the first comparison must find every object changed, the second none";
        } else if (differing_count() != 0) {
            error_ = "the floor must compare the same bytes as the library";
        }
        // The history of an object grows up to its full length; that is no part of a steady tick.
        for (std::uint32_t tick = 0; tick < 2 * ChangelistHistory::count_max; ++tick) {
            change(object_count_);
            (void)update_all();
        }
    }

    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const ReplicationCounters& counters() const noexcept { return counters_; }

    /// Changes health, in the middle of the object, of the next `count` objects.
    void change(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            add_to_health(first_ + i, 1);
        }
        first_ = (first_ + count) % object_count_;
    }
    /// Takes back what the last change() of `count` objects did.
    void change_back(std::uint32_t count) {
        for (std::uint32_t i = 1; i <= count; ++i) {
            add_to_health(first_ + object_count_ - i, -1);
        }
    }

    /// compare_count times, round and round. Returns how often an object had changed.
    std::uint32_t update_all() {
        std::uint32_t changed_count = 0;
        for (std::uint32_t done = 0; done < compare_count; done += object_count_) {
            for (std::uint32_t i = 0; i < object_count_; ++i) {
                changed_count += states_[i]->update(object(i), no_references_, counters_) ? 1u : 0u;
            }
            benchmark::ClobberMemory();
        }
        return changed_count;
    }

    [[nodiscard]] std::uint32_t differing_count() const noexcept {
        std::uint32_t count = 0;
        for (std::uint32_t done = 0; done < compare_count; done += object_count_) {
            for (std::uint32_t i = 0; i < object_count_; ++i) {
                const std::byte* bytes = memory_.data() + std::size_t{i} * object_bytes_;
                const std::byte* shadow = states_[i]->shadow().data();
                count += std::memcmp(bytes, shadow, object_bytes_) != 0 ? 1u : 0u;
            }
            benchmark::ClobberMemory();
        }
        return count;
    }

  private:
    [[nodiscard]] Result<const Type*> declare(TypeRegistry& registry) const {
        DynamicTypeBuilder builder(registry, TypeKind::Class, "Plain", object_bytes_, 8);
        for (std::uint32_t offset = 0; offset < object_bytes_; offset += block_bytes) {
            const std::string suffix = std::to_string(offset / block_bytes);
            builder.property("position" + suffix, PropertyKind::Vector, offset)
                .quantised(is_quantised_ ? Quantisation::hundredth() : Quantisation())
                .property("rotation" + suffix, PropertyKind::Quat, offset + 12)
                .quantised(is_quantised_ ? Quantisation::smallest_three() : Quantisation())
                .property("velocity" + suffix, PropertyKind::Vector, offset + 28)
                .quantised(is_quantised_ ? Quantisation::tenth() : Quantisation())
                .property("health" + suffix, PropertyKind::Int32, offset + health_offset)
                .property("owner" + suffix, PropertyKind::UInt32, offset + 44)
                .property("ammo" + suffix, PropertyKind::UInt16, offset + 48, 2)
                .property("state" + suffix, PropertyKind::UInt8, offset + 52, 4)
                .property("score" + suffix, PropertyKind::Double, offset + 56);
        }
        return builder.build();
    }

    [[nodiscard]] std::byte* object(std::uint32_t index) noexcept {
        return memory_.data() + std::size_t{index} * object_bytes_;
    }

    void add_to_health(std::uint32_t index, std::int32_t amount) noexcept {
        const std::uint32_t block = object_bytes_ / block_bytes / 2;
        std::byte* place =
            object(index % object_count_) + std::size_t{block} * block_bytes + health_offset;
        std::int32_t health = 0;
        std::memcpy(&health, place, sizeof(health));
        health += amount;
        std::memcpy(place, &health, sizeof(health));
    }

    std::uint32_t object_bytes_;
    std::uint32_t object_count_;
    bool is_quantised_;
    std::vector<std::byte> memory_;
    ClassLayout class_;
    std::vector<std::unique_ptr<ChangelistState>> states_;
    NoReferences no_references_;
    ReplicationCounters counters_;
    std::uint32_t first_ = 0;
    std::string error_;
};

[[nodiscard]] std::uint32_t dirty_count_of(const benchmark::State& state) {
    return static_cast<std::uint32_t>(state.range(1) * state.range(2)) / 100;
}

void BM_CompareProperties(benchmark::State& state) {
    CompareScene scene(static_cast<std::uint32_t>(state.range(0)),
                       static_cast<std::uint32_t>(state.range(2)), state.range(3) != 0);
    if (!is_ready(state, scene.error())) {
        return;
    }
    const std::uint32_t dirty_count = dirty_count_of(state);
    const ReplicationCounters before = scene.counters();
    Measured measured;
    double memcmp_seconds = 0;
    for (auto _ : state) {
        scene.change(dirty_count);
        const AllocationWatch allocations;
        const StopWatch watch;
        const std::uint32_t found_count = scene.update_all();
        add_time(state, measured, watch.seconds());
        measured.allocations += allocations.count();
        const StopWatch floor_watch;
        const std::uint32_t left_count = scene.differing_count();
        memcmp_seconds += floor_watch.seconds();
        if (found_count != dirty_count || left_count != 0) {
            state.SkipWithError("found another number of changed objects than there are");
            break;
        }
        measured.objects += compare_count;
        measured.bytes += std::uint64_t{compare_count} * static_cast<std::uint64_t>(state.range(0));
    }
    measured.values_encoded = scene.counters().values_encoded - before.values_encoded;
    if (scene.counters().objects_compared - before.objects_compared != measured.objects) {
        state.SkipWithError("compared another number of objects than there are");
    }
    report(state, measured);
    state.counters["to_memcmp"] = benchmark::Counter(measured.seconds / memcmp_seconds);
}

void BM_Memcmp(benchmark::State& state) {
    CompareScene scene(static_cast<std::uint32_t>(state.range(0)),
                       static_cast<std::uint32_t>(state.range(2)), state.range(3) != 0);
    if (!is_ready(state, scene.error())) {
        return;
    }
    const std::uint32_t dirty_count = dirty_count_of(state);
    Measured measured;
    for (auto _ : state) {
        scene.change(dirty_count);
        const StopWatch watch;
        const std::uint32_t found_count = scene.differing_count();
        add_time(state, measured, watch.seconds());
        scene.change_back(dirty_count);
        if (found_count != dirty_count) {
            state.SkipWithError("found another number of changed objects than there are");
            break;
        }
        measured.objects += compare_count;
        measured.bytes += std::uint64_t{compare_count} * static_cast<std::uint64_t>(state.range(0));
    }
    report(state, measured);
}

void add_axes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"object_bytes", "dirty_percent", "objects", "quantised"})
        ->ArgsProduct({{64, 256, 1'024}, {0, 1, 100}, {compare_count}, {0}})
        ->ArgsProduct({{64, 256, 1'024}, {0}, {1}, {0}})
        ->ArgsProduct({{64, 256, 1'024}, {0}, {compare_count}, {1}})
        ->Apply(clock_by_hand);
}

BENCHMARK(BM_CompareProperties)->Apply(add_axes);
BENCHMARK(BM_Memcmp)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
