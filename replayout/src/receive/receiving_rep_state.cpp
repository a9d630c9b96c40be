// SPDX-License-Identifier: MIT
#include <replayout/receiving_rep_state.h>

#include <algorithm>

namespace replayout {

bool ReceivingRepState::set_reference(const RepPath& path, Reference reference,
                                      std::uint32_t count_max, Vector<NetGUID>* dropped) {
    const auto found = references_.find(path);
    if (found != references_.end()) {
        if (found->second.guid != reference.guid) {
            remove_naming(found->second.guid, 0);
            if (dropped != nullptr) {
                dropped->push_back(found->second.guid);
            }
            if (reference.guid.is_null()) {
                references_.erase(found);
                return true;
            }
            add_naming(reference.guid, 0);
        }
        found->second = reference;
        return true;
    }
    if (reference.guid.is_null()) {
        return true;
    }
    if (references_.size() + value_guid_count_ >= count_max) {
        return false;
    }
    references_.emplace(path, reference);
    add_naming(reference.guid, 0);
    return true;
}

void ReceivingRepState::add_naming(NetGUID guid, std::size_t value_bytes) {
    Naming& naming = namings_[guid.value];
    ++naming.count;
    naming.value_bytes += value_bytes;
}

void ReceivingRepState::remove_naming(NetGUID guid, std::size_t value_bytes) {
    const auto found = namings_.find(guid.value);
    REPLAYOUT_ASSERT(found != namings_.end());
    found->second.value_bytes -= value_bytes;
    if (--found->second.count == 0) {
        namings_.erase(found);
    }
}

std::size_t ReceivingRepState::rebind_steps(NetGUID guid) const noexcept {
    const auto found = namings_.find(guid.value);
    if (found == namings_.end()) {
        return 0;
    }
    // A step is some 10 ns. Looking through both tables takes 1 an entry, one that is found some
    // 100, bits are read 8 bytes at a time, and the elements of keyed arrays are put in order.
    std::size_t steps = 1 + (references_.size() + values_.size()) / 8 + found->second.count * 16u +
                        found->second.value_bytes / 8;
    for (const auto& [handle, known] : keyed_) {
        steps += known.elements().size() * 2;
    }
    return steps;
}

void ReceivingRepState::drop_reference(NetGUID guid, Vector<NetGUID>* dropped) {
    if (dropped != nullptr) {
        dropped->push_back(guid);
    }
    remove_naming(guid, 0);
}

void ReceivingRepState::drop_value(const SerializedValue& value, Vector<NetGUID>* dropped) {
    if (dropped != nullptr) {
        dropped->insert(dropped->end(), value.guids.begin(), value.guids.end());
    }
    for (const NetGUID guid : value.guids) {
        remove_naming(guid, value.bytes.size());
    }
    value_guid_count_ -= static_cast<std::uint32_t>(value.guids.size());
    value_bytes_ -= value.bytes.size();
}

bool ReceivingRepState::set_value(const RepPath& path, std::span<const NetGUID> guids,
                                  BitReader bits, std::uint32_t bit_count, const Limits& limits,
                                  Vector<NetGUID>* dropped) {
    auto found = values_.find(path);
    const std::size_t byte_count = (std::size_t{bit_count} + 7) / 8;
    if (!guids.empty()) {
        const bool is_known = found != values_.end();
        const std::size_t old_guids = is_known ? found->second.guids.size() : 0;
        const std::size_t old_bytes = is_known ? found->second.bytes.size() : 0;
        if (references_.size() + value_guid_count_ - old_guids + guids.size() > limits.references ||
            value_bytes_ - old_bytes + byte_count > limits.value_bytes) {
            return false;
        }
    }
    if (found != values_.end()) {
        drop_value(found->second, dropped);
    }
    if (guids.empty()) {
        if (found != values_.end()) {
            values_.erase(found);
        }
        return true;
    }
    if (found == values_.end()) {
        MemoryResource* resource = values_.get_stored_allocator().resource();
        SerializedValue fresh{Vector<NetGUID>(Allocator<NetGUID>(resource)),
                              Vector<std::byte>(Allocator<std::byte>(resource)), 0};
        found = values_.emplace(path, std::move(fresh)).first;
    }
    SerializedValue& value = found->second;
    value.guids.assign(guids.begin(), guids.end());
    value.bytes.resize(byte_count);
    value.bit_count = bit_count;
    BitWriter writer({value.bytes.data(), value.bytes.size()});
    for (std::uint32_t left = bit_count; left > 0;) {
        const std::uint32_t step = std::min<std::uint32_t>(left, 64);
        const std::uint64_t word = bits.read_bits(step);
        writer.write_bits(word, step);
        left -= step;
    }
    REPLAYOUT_ASSERT(!bits.failed());
    for (const NetGUID guid : guids) {
        add_naming(guid, byte_count);
    }
    value_guid_count_ += static_cast<std::uint32_t>(guids.size());
    value_bytes_ += byte_count;
    return true;
}

void ReceivingRepState::clear() noexcept {
    references_.clear();
    values_.clear();
    namings_.clear();
    keyed_.clear();
    delta_versions_.clear();
    value_guid_count_ = 0;
    value_bytes_ = 0;
}

void ReceivingRepState::truncate(const RepPath& path, std::uint32_t depth,
                                 Vector<NetGUID>* dropped) {
    RepPath end = path;
    std::fill(end.handles.begin() + depth, end.handles.end(), 0xFFFF'FFFFu);
    erase_between(path, end, dropped);
}

void ReceivingRepState::forget_element(RepHandle array, std::uint32_t begin, std::uint32_t end,
                                       Vector<NetGUID>* dropped) {
    RepPath first;
    first.handles[0] = array.value;
    first.handles[1] = begin;
    RepPath last;
    last.handles.fill(0xFFFF'FFFFu);
    last.handles[0] = array.value;
    last.handles[1] = end - 1;
    erase_between(first, last, dropped);
}

void ReceivingRepState::erase_between(const RepPath& begin, const RepPath& end,
                                      Vector<NetGUID>* dropped) {
    if (!has_references()) {
        return;
    }
    const auto first = references_.lower_bound(begin);
    const auto last = references_.upper_bound(end);
    std::for_each(first, last,
                  [&](const auto& entry) { drop_reference(entry.second.guid, dropped); });
    references_.erase(first, last);
    const auto first_value = values_.lower_bound(begin);
    const auto last_value = values_.upper_bound(end);
    std::for_each(first_value, last_value,
                  [&](const auto& entry) { drop_value(entry.second, dropped); });
    values_.erase(first_value, last_value);
}

void ReceivingRepState::forget_keyed_elements(RepHandle array, std::span<const std::uint64_t> keys,
                                              std::uint32_t handle_count,
                                              Vector<NetGUID>* dropped) {
    // To take a few out of the tables one by one is less than to look at all that is in these.
    constexpr std::size_t few = 16;
    KeyedElements& known = keyed_elements(array);
    if (has_references() && keys.size() <= few) {
        for (const std::uint64_t key : keys) {
            if (const KeyedElements::Element* element = known.find(key)) {
                const std::uint32_t first = element->slot * handle_count + 1;
                forget_element(array, first, first + handle_count, dropped);
            }
        }
    }
    known.erase(keys);
    if (has_references() && keys.size() > few) {
        forget_unknown(array, known, handle_count, dropped);
    }
}

void ReceivingRepState::forget_unknown(RepHandle array, const KeyedElements& known,
                                       std::uint32_t handle_count, Vector<NetGUID>* dropped) {
    RepPath begin;
    begin.handles[0] = array.value;
    RepPath end;
    end.handles[0] = array.value + 1;
    const auto is_gone = [&](const RepPath& path) {
        return known.find_slot((path.handles[1] - 1) / handle_count) == nullptr;
    };
    const auto last = references_.lower_bound(end);
    references_.erase(std::remove_if(references_.lower_bound(begin), last,
                                     [&](const auto& entry) {
                                         const bool goes = is_gone(entry.first);
                                         if (goes) {
                                             drop_reference(entry.second.guid, dropped);
                                         }
                                         return goes;
                                     }),
                      last);
    const auto last_value = values_.lower_bound(end);
    values_.erase(std::remove_if(values_.lower_bound(begin), last_value,
                                 [&](const auto& entry) {
                                     const bool goes = is_gone(entry.first);
                                     if (goes) {
                                         drop_value(entry.second, dropped);
                                     }
                                     return goes;
                                 }),
                  last_value);
}

KeyedElements& ReceivingRepState::keyed_elements(RepHandle array) {
    const auto found = keyed_.find(array.value);
    if (found != keyed_.end()) {
        return found->second;
    }
    return keyed_.emplace(array.value, KeyedElements(keyed_.get_stored_allocator().resource()))
        .first->second;
}

const KeyedElements* ReceivingRepState::find_keyed_elements(RepHandle array) const noexcept {
    const auto found = keyed_.find(array.value);
    return found == keyed_.end() ? nullptr : &found->second;
}

namespace {

[[nodiscard]] bool has_lower_key(const KeyedElements::Element& element,
                                 std::uint64_t key) noexcept {
    return element.key < key;
}

}  // namespace

const KeyedElements::Element* KeyedElements::find(std::uint64_t key) const noexcept {
    const auto found = std::lower_bound(elements_.begin(), elements_.end(), key, has_lower_key);
    return found == elements_.end() || found->key != key ? nullptr : &*found;
}

const KeyedElements::Element* KeyedElements::find_slot(std::uint32_t slot) const noexcept {
    const Element* element = slot < slot_keys_.size() ? find(slot_keys_[slot]) : nullptr;
    return element == nullptr || element->slot != slot ? nullptr : element;
}

KeyedElements::Element& KeyedElements::at(std::uint64_t key, std::int64_t rank,
                                          Vector<Element>& made) {
    const auto place = std::lower_bound(elements_.begin(), elements_.end(), key, has_lower_key);
    if (place != elements_.end() && place->key == key) {
        return *place;
    }
    if (!made.empty() && made.back().key == key) {
        return made.back();
    }
    REPLAYOUT_ASSERT(made.empty() || made.back().key < key);
    // Slots that are not free are as many as elements, so the next one is their count.
    auto slot = static_cast<std::uint32_t>(elements_.size() + made.size());
    if (!free_slots_.empty()) {
        slot = free_slots_.back();
        free_slots_.pop_back();
    }
    if (slot == slot_keys_.size()) {
        slot_keys_.push_back(key);
    }
    slot_keys_[slot] = key;
    made.push_back({key, static_cast<std::int32_t>(rank), slot, 0});
    return made.back();
}

void KeyedElements::merge(Vector<Element>& made) {
    std::size_t from = elements_.size();
    elements_.resize(from + made.size());
    for (std::size_t to = elements_.size(); !made.empty(); --to) {
        if (from > 0 && made.back().key < elements_[from - 1].key) {
            elements_[to - 1] = elements_[--from];
        } else {
            elements_[to - 1] = made.back();
            made.pop_back();
        }
    }
}

void KeyedElements::erase(std::span<const std::uint64_t> keys) {
    if (keys.empty()) {
        return;
    }
    auto key = keys.begin();
    auto kept = std::lower_bound(elements_.begin(), elements_.end(), *key, has_lower_key);
    for (auto element = kept; element != elements_.end(); ++element) {
        while (key != keys.end() && *key < element->key) {
            ++key;
        }
        if (key != keys.end() && *key == element->key) {
            free_slots_.push_back(element->slot);
        } else {
            *kept++ = *element;
        }
    }
    elements_.erase(kept, elements_.end());
}

Version ReceivingRepState::delta_version(RepHandle handle) const noexcept {
    const auto found = delta_versions_.find(handle.value);
    return found == delta_versions_.end() ? 0 : found->second;
}

void ReceivingRepState::set_delta_version(RepHandle handle, Version version) {
    delta_versions_[handle.value] = version;
}

void ReceivingRepState::carry_over_deltas() noexcept {
    for (auto& [handle, version] : delta_versions_) {
        version = 0;
    }
}

bool ReceivingRepState::is_delta_carried_over(RepHandle handle) const noexcept {
    const auto found = delta_versions_.find(handle.value);
    return found != delta_versions_.end() && found->second == 0;
}

NetGUID ReceivingRepState::find_reference(const RepPath& path) const noexcept {
    const auto found = references_.find(path);
    return found == references_.end() ? NetGUID{} : found->second.guid;
}

}  // namespace replayout
