// SPDX-License-Identifier: MIT
#include "pair_validator.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout {

namespace {

[[nodiscard]] Vector<std::byte> copy_bytes(std::span<const std::byte> bytes,
                                           MemoryResource* resource) {
    return Vector<std::byte>(bytes.begin(), bytes.end(), Allocator<std::byte>(resource));
}

[[nodiscard]] std::string to_text(VersionInterval interval) {
    return interval.is_empty() ? "nothing"
                               : '(' + std::to_string(interval.after) + ", " +
                                     std::to_string(interval.through) + ']';
}

}  // namespace

PairValidator::Pair::Pair(const RepLayout& object_layout, PackageMap& package_map,
                          std::uint64_t channel_life, MemoryResource* resource)
    : layout(object_layout),
      copy(object_layout, package_map, resource),
      life(channel_life),
      carried(object_layout.handle_count(), 0, Allocator<std::uint32_t>(resource)),
      left_out(resource),
      unknown(resource),
      values(resource) {
    left_out.reset(layout.handle_count());
    unknown.reset(layout.handle_count());
}

PairValidator::PairValidator(const ObjectStore& objects, const NetGUIDCache& guids,
                             MemoryResource* resource)
    : objects_(objects),
      names_(guids),
      resource_(resource),
      pairs_(resource),
      sent_(resource),
      touched_(resource) {}

PairValidator::Pair* PairValidator::find(ObjectIndex index) {
    const auto found = pairs_.find(index);
    return found == pairs_.end() ? nullptr : &found->second;
}

void PairValidator::channel_opened(ObjectIndex index) {
    const RepLayout& layout = objects_.at(index)->changelist_state().layout();
    const bool is_new = pairs_.try_emplace(index, layout, names_, ++last_life_, resource_).second;
    expect(is_new, index, "its channel was opened twice");
    touched_.grow(objects_.slot_count());
    touched_.set(index);
}

void PairValidator::channel_closed(ObjectIndex index) {
    expect(pairs_.erase(index) == 1, index, "its channel was closed and had not been opened");
    touched_.clear(index);
}

void PairValidator::channel_dormant(ObjectIndex index) {
    Pair* pair = find(index);
    expect(pair != nullptr && pair->is_open, index, "it went dormant and was not open");
    expect(pair->in_flight == 0 && pair->values.empty(), index,
           "it went dormant with data in flight");
    pair->is_open = false;
    touched_.set(index);
}

void PairValidator::block_sent(ObjectIndex index, std::span<const std::byte> block) {
    Pair* pair = find(index);
    expect(pair != nullptr, index, "a block was sent on a channel that is not open");
    ++pair->in_flight;
    count_carried(index, *pair, block, 1);
    end_left_out(index, *pair, block);
    sent_.push_back({index, pair->life, copy_bytes(block, resource_)});
    touched_.set(index);
}

void PairValidator::value_queued(ObjectIndex index, const RepRange& handles,
                                 std::uint32_t bunch_count, std::span<const std::byte> block) {
    Pair* pair = find(index);
    expect(pair != nullptr, index, "a value was queued on a channel that is not open");
    expect(bunch_count > 0, index, "a value was queued and is not sent");
    end_left_out(index, *pair, block);
    pair->values.push_back({handles, bunch_count, copy_bytes(block, resource_)});
    touched_.set(index);
}

void PairValidator::value_left_out(ObjectIndex index, RepHandle handle) {
    Pair* pair = find(index);
    expect(pair != nullptr, index, "a value was left out on a channel that is not open");
    pair->left_out.set(handle.value - 1);
}

void PairValidator::value_unknown(ObjectIndex index, RepHandle handle) {
    Pair* pair = find(index);
    expect(pair != nullptr, index, "a value was forgotten on a channel that is not open");
    pair->unknown.set(handle.value - 1);
}

PairValidator::Pair* PairValidator::resolve(ObjectIndex index) {
    expect(!sent_.empty() && sent_.front().index == index, index,
           "a record is not that of the oldest block in flight");
    const SentBlock& block = sent_.front();
    Pair* pair = find(index);
    if (pair == nullptr) {
        return nullptr;
    }
    expect(pair->life == block.life, index, "a record outlived the channel that it was sent on");
    --pair->in_flight;
    count_carried(index, *pair, block.bytes, -1);
    touched_.set(index);
    return pair;
}

void PairValidator::block_delivered(ObjectIndex index) {
    Pair* pair = resolve(index);
    if (pair != nullptr && pair->is_open) {
        apply(index, *pair, sent_.front().bytes);
    }
    sent_.pop_front();
}

void PairValidator::block_lost(ObjectIndex index) {
    (void)resolve(index);
    sent_.pop_front();
}

void PairValidator::bunch_delivered(const BunchTag& tag) {
    Pair* pair = tag.kind == BunchTag::Kind::Control ? nullptr : find(tag.object_index);
    if (pair == nullptr) {
        return;
    }
    touched_.set(tag.object_index);
    if (tag.kind == BunchTag::Kind::Open) {
        expect(!pair->is_open, tag.object_index, "its open was delivered twice");
        pair->is_open = true;
    } else if (tag.kind == BunchTag::Kind::Value) {
        const auto value =
            std::find_if(pair->values.begin(), pair->values.end(), [&](const ReliableValue& entry) {
                return entry.handles.handle_begin == tag.handle && entry.bunches_left > 0;
            });
        expect(value != pair->values.end(), tag.object_index,
               "a part of a value was delivered that was never queued");
        --value->bunches_left;
        value->is_taken_back = value->is_taken_back || tag.is_taken_back;
    }
    apply_values(tag.object_index, *pair);
}

void PairValidator::apply_values(ObjectIndex index, Pair& pair) {
    while (pair.is_open && !pair.values.empty() && pair.values.front().bunches_left == 0) {
        if (!pair.values.front().is_taken_back) {
            apply(index, pair, pair.values.front().bytes);
        }
        pair.values.pop_front();
    }
}

void PairValidator::apply(ObjectIndex index, Pair& pair, std::span<const std::byte> block) {
    expect(pair.copy.apply(block), index, "a block that was delivered cannot be read");
}

ChangeMask PairValidator::handles_of(ObjectIndex index, const Pair& pair,
                                     std::span<const std::byte> block) {
    BitReader reader(block);
    ChangeMask handles(resource_);
    read_change_mask(reader, handles, pair.layout.handle_count(), EmptySet::Impossible);
    expect(!reader.failed(), index, "a block was sent that cannot be read");
    return handles;
}

void PairValidator::end_left_out(ObjectIndex index, Pair& pair, std::span<const std::byte> block) {
    if (!pair.left_out.any()) {
        return;
    }
    const ChangeMask handles = handles_of(index, pair, block);
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        pair.left_out.clear(bit);
    }
}

void PairValidator::count_carried(ObjectIndex index, Pair& pair, std::span<const std::byte> block,
                                  int step) {
    const ChangeMask handles = handles_of(index, pair, block);
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        pair.carried[bit] += static_cast<std::uint32_t>(step);
    }
}

ObjectIndex PairValidator::take_touched() {
    ObjectIndex index = touched_.first();
    while (index != BitRow::no_bit) {
        touched_.clear(index);
        if (pairs_.contains(index)) {
            return index;
        }
        index = touched_.after(index);
    }
    return BitRow::no_bit;
}

void PairValidator::touch(const BitRow& changed) {
    touched_.grow(objects_.slot_count());
    touched_.merge(changed);
}

void PairValidator::check(ObjectIndex index, const Claim& claim, ChangeMask& excused,
                          const ChangeMask& hidden) {
    const Pair& pair = *find(index);
    const ChangelistState& object = objects_.at(index)->changelist_state();
    expect(claim.is_open == pair.is_open, index, "the channel is not in the state that it claims");
    // A value that is under way counts as a record, until the sender takes it for delivered.
    expect(claim.state.in_flight == pair.in_flight + claim.paused_count, index,
           "the records in flight are not as many as it claims");
    expect(claim.state.sent_version <= object.version(), index,
           "it claims to have been sent a version that is not there yet");
    const bool must_be_equal = claim.is_open && !claim.has_unmapped_values &&
                               claim.state.is_exact() && claim.paused_count == 0 &&
                               claim.state.sent_version == object.version();
    if (must_be_equal) {
        excused.reset(excused.bit_count());
    }
    for (std::uint32_t bit = 0; bit < excused.bit_count(); ++bit) {
        const bool is_carried = pair.carried[bit] > 0 && !must_be_equal;
        const bool is_left_out = pair.left_out.test(bit) || pair.unknown.test(bit);
        if (is_carried || is_left_out || hidden.test(bit)) {
            excused.set(bit);
        }
    }
    if (!pair.is_open) {
        // Complete values wait for the open. Should it be lost, everything is owed again.
        for (const ReliableValue& value : pair.values) {
            excused.set_range(value.handles.handle_begin - 1,
                              value.handles.handle_end - value.handles.handle_begin);
        }
    }
    const RepHandle handle = pair.copy.find_difference(object, excused);
    if (handle.value != 0) {
        describe(index, claim, handle);
        detail::fail_assertion(message_.c_str(), __FILE__, __LINE__);
    }
}

void PairValidator::describe(ObjectIndex index, const Claim& claim, RepHandle handle) {
    const Pair& pair = *find(index);
    const ServerObject& info = *objects_.at(index);
    const ChangelistState& object = info.changelist_state();
    message_ = "pair validation: object " + std::to_string(value_of(index)) + " (id " +
               std::to_string(info.guid().value) + ") of class \"" +
               std::string(object.layout().type().name()) + "\", " +
               pair.copy.describe(handle, object) + ", and that is not owed; object at version " +
               std::to_string(object.version()) + ", property changed at " +
               std::to_string(object.last_changed(handle)) + ", pair sent " +
               std::to_string(claim.state.sent_version) + ", lost " + to_text(claim.state.lost()) +
               ", " + std::to_string(claim.state.in_flight) + " in flight, channel " +
               (claim.is_open ? "open" : "opening");
}

void PairValidator::expect(bool condition, ObjectIndex index, std::string_view what) {
    if (!condition) {
        message_ =
            "pair validation: object " + std::to_string(value_of(index)) + ": " + std::string(what);
        detail::fail_assertion(message_.c_str(), __FILE__, __LINE__);
    }
}

}  // namespace replayout
