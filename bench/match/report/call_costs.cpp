// SPDX-License-Identifier: MIT
#include "match/report/call_costs.h"

#include <replayout/send_properties.h>

#include "support/report/percentile.h"
#include "support/stop_watch.h"

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <numeric>

namespace replayout::match {

namespace {

constexpr std::size_t sample_count = 16;
// A batch is long beside the clock's step; of so many the median is a quiet one.
constexpr double batch_seconds = 20e-6;
constexpr std::size_t batch_count = 15;
constexpr std::size_t block_bytes_initial = 64 * 1024;
constexpr std::size_t block_bytes_max = std::size_t{64} * 1024 * 1024;

/// Ids as a server gives them: small numbers, in the order of the objects.
class IdsOfHandles final : public PackageMap {
  public:
    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override { return {object.value}; }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override { return {guid.value}; }
};

/// The states of one class's samples, whose blocks are encoded.
class BlockTimes {
  public:
    BlockTimes(const RepLayout& layout, std::span<const std::unique_ptr<MatchObject>> samples)
        : layout_(layout), scratch_(std::pmr::get_default_resource()), bytes_(block_bytes_initial) {
        for (const auto& sample : samples) {
            states_.push_back(
                std::make_unique<ChangelistState>(layout, std::pmr::get_default_resource()));
            (void)states_.back()->update(sample->memory(), ids_, counters_);
        }
    }

    /// Nanoseconds of a block of these. 0: they are too large for one.
    [[nodiscard]] double measure(std::span<const RepHandle> handles) {
        ChangeMask mask;
        mask.reset(layout_.handle_count());
        for (const RepHandle handle : handles) {
            mask.set(handle.value - 1);
        }
        if (!make_room(mask)) {
            return 0;
        }
        std::size_t passes = 1;
        while (seconds_of(mask, passes) < batch_seconds) {
            passes *= 2;
        }
        std::vector<double> batches(batch_count);
        for (double& batch : batches) {
            batch = seconds_of(mask, passes);
        }
        return bench::percentile(batches, 50) * 1e9 / static_cast<double>(passes * states_.size());
    }

  private:
    [[nodiscard]] bool make_room(const ChangeMask& mask) {
        while (!encode_all(mask)) {
            if (bytes_.size() >= block_bytes_max) {
                return false;
            }
            bytes_.resize(bytes_.size() * 2);
        }
        return true;
    }

    /// Each into the same place. False: one did not fit.
    [[nodiscard]] bool encode_all(const ChangeMask& mask) {
        SendContext context{ids_, counters_, scratch_, SharingLevel::Off};
        context.is_validating = false;
        bool is_whole = true;
        for (const auto& state : states_) {
            BitWriter writer(bytes_);
            is_whole = send_properties(*state, OwedVersions(), mask, writer, context) ==
                           SendResult::Whole &&
                       is_whole;
        }
        return is_whole;
    }

    [[nodiscard]] double seconds_of(const ChangeMask& mask, std::size_t passes) {
        const bench::StopWatch watch;
        for (std::size_t i = 0; i < passes; ++i) {
            (void)encode_all(mask);
        }
        return watch.seconds();
    }

    const RepLayout& layout_;
    IdsOfHandles ids_;
    ReplicationCounters counters_;
    SendScratch scratch_;
    std::vector<std::unique_ptr<ChangelistState>> states_;
    std::vector<std::byte> bytes_;
};

/// What the recordings set, in order; `set` is told the class's index, the field's, and the value.
template <typename Set>
void for_each_set(std::span<const Recording> recordings, const MatchSchema& schema, Set set) {
    std::size_t first_class = 0;
    for (std::uint32_t index = 0; index < recordings.size(); ++index) {
        const Recording& recording = recordings[index];
        std::vector<std::uint16_t> classes(recording.object_count + std::size_t{1});
        for (const Op& op : recording.ops) {
            if (op.kind == OpKind::Spawn) {
                classes[op.object] = op.class_or_field;
            } else if (op.kind == OpKind::Set) {
                const std::size_t class_index = first_class + classes[op.object];
                const auto& field = schema.classes()[class_index]->fields[op.class_or_field];
                const auto value = recording.value(op);
                set(class_index, op.class_or_field, value, schema.target_of(field, index, value));
            }
        }
        first_class += recording.classes.size();
    }
}

}  // namespace

CallCosts::CallCosts(std::span<const Recording> recordings, const MatchSchema& schema)
    : schema_(schema) {
    struct Sets {
        std::size_t count = 0;
        std::size_t seen = 0;
    };
    std::vector<std::vector<Sets>> sets;  // by class and field
    for (const auto& match_class : schema.classes()) {
        sets.emplace_back(match_class->fields.size());
        Samples& samples = samples_.emplace_back();
        for (std::size_t i = 0; i < sample_count; ++i) {
            samples.push_back(std::make_unique<MatchObject>(*match_class));
        }
    }
    for_each_set(recordings, schema, [&](std::size_t class_index, std::size_t field, auto, auto) {
        ++sets[class_index][field].count;
    });
    for_each_set(recordings, schema,
                 [&](std::size_t class_index, std::size_t field, auto value, ObjectHandle target) {
                     Sets& of_field = sets[class_index][field];
                     // Of few each serves several samples, of many a sample has the last of its
                     // share.
                     const std::size_t begin = of_field.seen * sample_count / of_field.count;
                     const std::size_t end = ++of_field.seen * sample_count / of_field.count;
                     for (std::size_t i = begin; i < std::max(end, begin + 1); ++i) {
                         samples_[class_index][i]->set(schema.classes()[class_index]->fields[field],
                                                       value, target);
                     }
                 });
}

CallCosts::~CallCosts() = default;

std::vector<double> CallCosts::measure(std::size_t class_index,
                                       std::span<const RepHandle> handles) const {
    BlockTimes times(*schema_.classes()[class_index]->layout, samples_[class_index]);
    std::vector<double> alone;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        alone.push_back(times.measure(handles.subspan(i, 1)));
    }
    if (handles.size() > 1) {
        const double sum = std::accumulate(alone.begin(), alone.end(), 0.0);
        const double of_block =
            std::max(0.0, sum - times.measure(handles)) / static_cast<double>(handles.size() - 1);
        for (double& ns : alone) {
            ns = std::max(0.0, ns - of_block);
        }
    }
    return alone;
}

}  // namespace replayout::match
