// SPDX-License-Identifier: MIT
#include <replayout/receiving_rep_state.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace replayout {

namespace {

constexpr auto is_any = [](const RepPath&) { return true; };

}  // namespace

const ReceivingRepState::Names& ReceivingRepState::all_names() const noexcept {
    static const Names none(std::pmr::new_delete_resource());
    return names_ == nullptr ? none : *names_;
}

ReceivingRepState::Names& ReceivingRepState::make_names() {
    if (names_ == nullptr) {
        MemoryResource* resource = names_.get_deleter().resource;
        names_.reset(Allocator<Names>(resource).new_object<Names>(resource));
    }
    return *names_;
}

bool ReceivingRepState::set_reference(const RepPath& path, Reference reference,
                                      std::uint32_t count_max, Vector<NetGUID>* dropped) {
    if (reference.guid.is_null() && !has_references()) {
        return true;
    }
    Table<Reference>& references = make_names().references;
    const auto found = references.find(path);
    if (found != references.end()) {
        if (found->second.guid != reference.guid) {
            drop_reference(found->second.guid, dropped);
            if (reference.guid.is_null()) {
                references.erase(found);
                return true;
            }
            add_naming(reference.guid);
        }
        found->second = reference;
        return true;
    }
    if (reference.guid.is_null()) {
        return true;
    }
    if (reference_count() >= count_max) {
        return false;
    }
    references[path] = reference;
    add_naming(reference.guid);
    return true;
}

void ReceivingRepState::remove_naming(NetGUID guid) {
    const auto found = names_->counts.find(guid.value);
    REPLAYOUT_ASSERT(found != names_->counts.end());
    if (--found->second == 0) {
        names_->counts.erase(found);
    }
}

// Of two ascending tables the shorter one is walked.
void ReceivingRepState::find_named(std::span<const NetGUID> guids, Vector<NetGUID>& named) const {
    if (guids.size() <= all_names().counts.size()) {
        std::copy_if(guids.begin(), guids.end(), std::back_inserter(named),
                     [this](NetGUID guid) { return names(guid); });
        return;
    }
    for (const auto& [value, count] : all_names().counts) {
        if (std::binary_search(guids.begin(), guids.end(), NetGUID{value})) {
            named.push_back(NetGUID{value});
        }
    }
}

std::size_t ReceivingRepState::rebind_steps(std::span<const NetGUID> guids) const noexcept {
    std::size_t named_count = 0;
    std::size_t reference_count = 0;
    const NodeMap<std::uint64_t, std::uint32_t>& counts = all_names().counts;
    if (guids.size() <= counts.size()) {
        for (const NetGUID guid : guids) {
            const auto found = counts.find(guid.value);
            named_count += found == counts.end() ? 0u : 1u;
            reference_count += found == counts.end() ? 0u : found->second;
        }
    } else {
        for (const auto& [value, count] : counts) {
            const bool is_one = std::binary_search(guids.begin(), guids.end(), NetGUID{value});
            named_count += is_one ? 1u : 0u;
            reference_count += is_one ? count : 0u;
        }
    }
    if (named_count == 0) {
        return 0;
    }
    // A step is some 10 ns. To look at an entry, or for an id, takes a quarter of one. What is set
    // takes 16, and so does each other id of a value that is read again, whose bits are read 8
    // bytes at a time. The elements of keyed arrays are put in order.
    std::size_t steps = named_count + reference_count * 16;
    std::size_t looks =
        references().size() + values().size() + std::min(guids.size(), counts.size());
    std::size_t bytes = 0;
    for (const auto& [path, value] : values()) {
        looks += std::min(guids.size(), value.guids.size());
        if (value.names_any(guids)) {
            steps += (value.guids.size() - 1) * 16;
            bytes += value.bytes.size();
        }
    }
    steps += looks / 4 + bytes / 8;
    for (const auto& [handle, known] : keyed_) {
        steps += known.elements().size() * 2;
    }
    return steps;
}

bool ReceivingRepState::SerializedValue::names_any(std::span<const NetGUID> others) const noexcept {
    std::span<const NetGUID> few(guids.data(), guids.size());
    std::span<const NetGUID> many = others;
    if (many.size() < few.size()) {
        std::swap(few, many);
    }
    return std::any_of(few.begin(), few.end(), [many](NetGUID guid) {
        return std::binary_search(many.begin(), many.end(), guid);
    });
}

void ReceivingRepState::drop_reference(NetGUID guid, Vector<NetGUID>* dropped) {
    if (dropped != nullptr) {
        dropped->push_back(guid);
    }
    remove_naming(guid);
}

void ReceivingRepState::drop_value(const SerializedValue& value, Vector<NetGUID>* dropped) {
    if (dropped != nullptr) {
        dropped->insert(dropped->end(), value.guids.begin(), value.guids.end());
    }
    for (const NetGUID guid : value.guids) {
        remove_naming(guid);
    }
    names_->value_guid_count -= static_cast<std::uint32_t>(value.guids.size());
    names_->value_bytes -= value.bytes.size();
}

bool ReceivingRepState::set_value(const RepPath& path, std::span<const NetGUID> guids,
                                  BitReader bits, std::uint32_t bit_count, const Limits& limits,
                                  Vector<NetGUID>* dropped) {
    if (guids.empty() && !has_references()) {
        return true;
    }
    Names& names = make_names();
    const auto found = names.values.find(path);
    const bool is_known = found != names.values.end();
    const std::size_t byte_count = (std::size_t{bit_count} + 7) / 8;
    if (!guids.empty()) {
        const std::size_t old_guids = is_known ? found->second.guids.size() : 0;
        const std::size_t old_bytes = is_known ? found->second.bytes.size() : 0;
        if (reference_count() - old_guids + guids.size() > limits.references ||
            names.value_bytes - old_bytes + byte_count > limits.value_bytes) {
            return false;
        }
    }
    if (is_known) {
        drop_value(found->second, dropped);
    }
    if (guids.empty()) {
        if (is_known) {
            names.values.erase(found);
        }
        return true;
    }
    SerializedValue& value = is_known ? found->second : names.values[path];
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
        add_naming(guid);
    }
    names.value_guid_count += static_cast<std::uint32_t>(guids.size());
    names.value_bytes += byte_count;
    return true;
}

void ReceivingRepState::clear() noexcept {
    keyed_.clear();
    delta_versions_.clear();
    names_.reset();
}

void ReceivingRepState::truncate(const RepPath& path, std::uint32_t depth,
                                 Vector<NetGUID>* dropped) {
    RepPath end = path;
    std::fill(end.handles.begin() + depth, end.handles.end(), 0xFFFF'FFFFu);
    erase_between(path, end, is_any, dropped);
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
    erase_between(first, last, is_any, dropped);
}

template <typename Value, typename IsGone, typename Drop>
void ReceivingRepState::erase_where(Table<Value>& table, const RepPath& begin, const RepPath& end,
                                    const IsGone& is_gone, const Drop& drop) {
    const auto last = table.upper_bound(end);
    for (auto entry = table.lower_bound(begin); entry != last;) {
        if (is_gone(entry->first)) {
            drop(entry->second);
            entry = table.erase(entry);
        } else {
            ++entry;
        }
    }
}

template <typename IsGone>
void ReceivingRepState::erase_between(const RepPath& begin, const RepPath& end,
                                      const IsGone& is_gone, Vector<NetGUID>* dropped) {
    if (has_references()) {
        erase_where(names_->references, begin, end, is_gone,
                    [&](const Reference& gone) { drop_reference(gone.guid, dropped); });
        erase_where(names_->values, begin, end, is_gone,
                    [&](const SerializedValue& gone) { drop_value(gone, dropped); });
    }
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
    end.handles.fill(0xFFFF'FFFFu);
    end.handles[0] = array.value;
    erase_between(
        begin, end,
        [&](const RepPath& path) {
            return known.find_slot((path.handles[1] - 1) / handle_count) == nullptr;
        },
        dropped);
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
    const auto position = std::lower_bound(elements_.begin(), elements_.end(), key, has_lower_key);
    if (position != elements_.end() && position->key == key) {
        return *position;
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
    const auto found = references().find(path);
    return found == references().end() ? NetGUID{} : found->second.guid;
}

}  // namespace replayout
