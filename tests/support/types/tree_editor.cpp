// SPDX-License-Identifier: MIT
#include "support/types/tree_editor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

namespace replayout::test {

namespace {

struct Slot {
    const Property* property;
    std::byte* memory;
};

[[nodiscard]] std::vector<Slot> slots_of(const RawObject& object) {
    std::vector<Slot> slots;
    for_each_slot(object.type(), 0, [&](const Property& property, std::uint32_t offset) {
        slots.push_back({&property, object.memory() + offset});
    });
    return slots;
}

[[nodiscard]] std::vector<const Property*> replicated_members(const Type& type,
                                                              const ArrayKey* key) {
    std::vector<const Property*> members;
    for_each_member(type, key,
                    [&](const Property& property, std::uint32_t) { members.push_back(&property); });
    return members;
}

/// Texts that are names; a table of names never forgets, so there are not too many.
constexpr std::uint32_t name_count = 200;

/// Elements of an array in another.
constexpr std::uint32_t nested_count_max = 6;

constexpr std::string_view letters[] = {"a", "b", "x", "z", "0",  "_",
                                        " ", "é", "ß", "Ж", "語", "\U0001F600"};

}  // namespace

TreeEditor::TreeEditor(std::uint64_t seed, const TreeEditLimits& limits,
                       std::function<Reference()> pick_reference)
    : random_(seed), limits_(limits), pick_reference_(std::move(pick_reference)) {}

std::vector<SavedValue> TreeEditor::edit(RawObject& object, std::uint32_t count) {
    const std::vector<Slot> slots = slots_of(object);
    std::vector<SavedValue> saved;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto index = random_.below(static_cast<std::uint32_t>(slots.size()));
        const auto& [property, memory] = slots[index];
        const Value before = read_value(*property, memory);
        Value after = before;
        change(*property, after, limits_.array_count_max);
        if (encoded_bytes_max(after) > limits_.property_bytes_max) {
            after = default_value(*property);
        }
        write_value(*property, memory, after);
        if (property->is_replicated) {
            saved.push_back({index, before});
        }
    }
    return saved;
}

void TreeEditor::restore(RawObject& object, const SavedValue& saved) {
    const Slot slot = slots_of(object).at(saved.slot);
    write_value(*slot.property, slot.memory, saved.value);
}

std::string_view TreeEditor::name_of(const RawObject& object, const SavedValue& saved) {
    return slots_of(object).at(saved.slot).property->name;
}

void TreeEditor::increment(RawObject& object, std::string_view name) {
    for (const auto& [property, memory] : slots_of(object)) {
        if (property->name == name) {
            std::uint32_t value = 0;
            std::memcpy(&value, memory, sizeof(value));
            ++value;
            std::memcpy(memory, &value, sizeof(value));
        }
    }
}

void TreeEditor::change(const Property& property, Value& value, std::uint32_t count_max) {
    if (property.quantisation && !random_.percent(15)) {
        change_quantised(property, value);
    } else if (auto* bits = std::get_if<Bits>(&value.content)) {
        change_bits(property, *bits);
    } else if (auto* text = std::get_if<Text>(&value.content)) {
        change_text(property, *text);
    } else if (auto* reference = std::get_if<Reference>(&value.content)) {
        *reference = pick_reference_();
    } else if (property.kind == PropertyKind::Optional) {
        change_optional(*property.element, std::get<List>(value.content).parts, count_max);
    } else if (property.array_key) {
        change_keyed_list(property, std::get<List>(value.content).parts, count_max);
    } else if (auto* list = std::get_if<List>(&value.content)) {
        change_list(*property.element, list->parts, count_max);
    } else if (auto* record = std::get_if<Record>(&value.content)) {
        change_members(*property.struct_type, record->parts, count_max);
    } else if (property.kind != PropertyKind::Struct) {
        change_floats(std::get<Atom>(value.content).parts);
    } else if (const auto* collection = CollectionType::find(*property.struct_type)) {
        change_collection(*collection, value, count_max);
    } else {
        change_members(*property.struct_type, std::get<Atom>(value.content).parts, count_max);
    }
}

void TreeEditor::change_bits(const Property& property, Bits& bits) {
    if (property.kind == PropertyKind::Bool || property.kind == PropertyKind::BitBool) {
        bits.pattern ^= 1;
        return;
    }
    switch (random_.below(6)) {
        case 0:
            bits.pattern = 0;
            break;
        case 1:
            bits.pattern = ~std::uint64_t{0};
            break;
        case 2:
            bits.pattern = random_.below(4);
            break;
        case 3:
            bits.pattern += 1;
            break;
        default:
            bits.pattern = random_.bits();
            break;
    }
    if (property.size < 8) {
        bits.pattern &= (std::uint64_t{1} << (property.size * 8)) - 1;
    }
}

void TreeEditor::change_text(const Property& property, Text& text) {
    if (property.kind == PropertyKind::Name) {
        const std::uint32_t number = random_.below(name_count);
        text = number == 0 ? "" : "name " + std::to_string(number);
    } else {
        text = make_text(draw_text_bytes());
    }
}

std::uint32_t TreeEditor::draw_text_bytes() {
    if (random_.percent(limits_.large_percent)) {
        constexpr std::uint32_t large[] = {300, 1'190, 1'300, 3'200, 6'000};
        return std::min(random_.pick(large), limits_.string_bytes_max);
    }
    constexpr std::uint32_t small[] = {0, 1, 5, 12, 30};
    return random_.pick(small);
}

Text TreeEditor::make_text(std::uint32_t bytes) {
    Text text;
    while (text.size() < bytes) {
        text += random_.pick(letters);
    }
    while (text.size() > bytes) {
        // Back to the start of a letter: text is UTF-8.
        do {
            text.pop_back();
        } while (!text.empty() && (text.back() & 0x80) != 0);
    }
    return text;
}

void TreeEditor::change_floats(std::vector<Value>& parts) {
    constexpr std::uint64_t float_mask = 0xFFFF'FFFFu;
    for (Value& part : parts) {
        part.content = Bits{random_.percent(30) ? 0 : random_.bits() & float_mask};
    }
}

double TreeEditor::draw_number(double previous) {
    constexpr double extents[] = {0.6, 1.5, 200.0, 1e4, 1e6};
    const double share = static_cast<double>(random_.below(2'000'001)) / 1e6 - 1.0;
    switch (random_.below(4)) {
        case 0:
            return 0.0;
        case 1:
            return previous + share * 1e-3;
        default:
            return share * random_.pick(extents);
    }
}

void TreeEditor::change_quantised(const Property& property, Value& value) {
    if (auto* atom = std::get_if<Atom>(&value.content)) {
        for (Value& part : atom->parts) {
            const auto pattern = static_cast<std::uint32_t>(std::get<Bits>(part.content).pattern);
            const double number = draw_number(static_cast<double>(std::bit_cast<float>(pattern)));
            part.content = Bits{std::bit_cast<std::uint32_t>(static_cast<float>(number))};
        }
        return;
    }
    Bits& bits = std::get<Bits>(value.content);
    if (property.kind == PropertyKind::Float) {
        const auto previous = std::bit_cast<float>(static_cast<std::uint32_t>(bits.pattern));
        const double number = draw_number(static_cast<double>(previous));
        bits.pattern = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    } else if (property.kind == PropertyKind::Double) {
        bits.pattern =
            std::bit_cast<std::uint64_t>(draw_number(std::bit_cast<double>(bits.pattern)));
    } else {
        // A little beyond the range, too; what the type cannot hold is cut off.
        const Quantisation& quantisation = property.quantisation;
        const auto extent =
            static_cast<std::uint64_t>(quantisation.integer_max - quantisation.integer_min) + 4;
        bits.pattern =
            static_cast<std::uint64_t>(quantisation.integer_min - 2) + random_.bits() % extent;
        if (property.size < 8) {
            bits.pattern &= (std::uint64_t{1} << (property.size * 8)) - 1;
        }
    }
}

void TreeEditor::change_members(const Type& type, std::vector<Value>& parts,
                                std::uint32_t count_max, const ArrayKey* key) {
    const std::vector<const Property*> members = replicated_members(type, key);
    const std::uint32_t first = key != nullptr ? 1 : 0;
    for (std::uint32_t i = random_.between(1, 2); i > 0 && !members.empty(); --i) {
        const auto index = random_.below(static_cast<std::uint32_t>(members.size()));
        change(*members[index], parts.at(first + index), count_max);
    }
}

std::uint64_t TreeEditor::draw_key(const ArrayKey& key) {
    if (key.fast.has_marks() && limits_.leaves_items_unmarked && random_.percent(4)) {
        return ArrayKey::unassigned;
    }
    // Few, so that keys come back.
    constexpr std::uint32_t counts[] = {12, 60, 250};
    const std::uint64_t bits =
        random_.percent(90) ? random_.below(random_.pick(counts)) : random_.bits();
    return key.size == 8 ? bits : bits & ((std::uint64_t{1} << (key.size * 8)) - 1);
}

void TreeEditor::insert_keyed(const Property& array, std::vector<Value>& parts, std::uint32_t count,
                              std::uint32_t count_max) {
    const ArrayKey& key = array.array_key;
    const std::uint32_t where = random_.below(3);
    for (std::uint32_t i = 0; i < count && parts.size() < count_max; ++i) {
        const std::uint64_t drawn = draw_key(key);
        const bool is_id = !key.fast.has_marks() || drawn != ArrayKey::unassigned;
        if (is_id && std::any_of(parts.begin(), parts.end(),
                                 [drawn](const Value& part) { return key_of(part) == drawn; })) {
            continue;
        }
        Value element = new_keyed_element(array, drawn);
        if (random_.percent(80)) {
            change_members(*array.element->struct_type, std::get<Record>(element.content).parts,
                           std::min(count_max, nested_count_max), &key);
        }
        const auto part_count = static_cast<std::uint32_t>(parts.size());
        const std::uint32_t places[] = {0, part_count, random_.below(part_count + 1)};
        parts.insert(parts.begin() + places[where], std::move(element));
    }
}

void TreeEditor::move_keyed(std::vector<Value>& parts) {
    const auto count = static_cast<std::uint32_t>(parts.size());
    const auto first = parts.begin() + random_.below(count);
    const auto second = parts.begin() + random_.below(count);
    const auto [begin, end] = std::minmax(first, second);
    switch (random_.below(4)) {
        case 0:
            std::swap(*first, *second);
            break;
        case 1:  // one of them to the front
            std::rotate(begin, end, end + 1);
            break;
        case 2:
            std::reverse(begin, end);
            break;
        default:
            std::stable_sort(begin, end, [](const Value& left, const Value& right) {
                return key_of(left) < key_of(right);
            });
            break;
    }
}

void TreeEditor::change_keyed_list(const Property& array, std::vector<Value>& parts,
                                   std::uint32_t count_max) {
    const auto count = static_cast<std::uint32_t>(parts.size());
    if (count == 0 || random_.percent(20)) {
        const bool is_large = random_.percent(limits_.large_percent);
        insert_keyed(array, parts, is_large ? count_max : random_.between(1, 5), count_max);
        return;
    }
    switch (random_.below(10)) {
        case 0:
            parts.clear();
            break;
        case 1:
            parts.erase(parts.begin(), parts.begin() + random_.below(count));
            break;
        case 2:  // gone, and some of it there again within a tick
            parts.clear();
            insert_keyed(array, parts, random_.between(1, count), count_max);
            break;
        case 3:
            insert_keyed(array, parts, 1, count_max);
            break;
        case 4:
            parts.erase(parts.begin() + random_.below(count));
            break;
        case 5:
        case 6:
            move_keyed(parts);
            break;
        case 7:  // another one in its place
            parts.erase(parts.begin() + random_.below(count));
            insert_keyed(array, parts, 1, count_max);
            break;
        default:
            for (std::uint32_t i = random_.between(1, 3); i > 0; --i) {
                change_members(*array.element->struct_type,
                               std::get<Record>(parts[random_.below(count)].content).parts,
                               std::min(count_max, nested_count_max), &array.array_key);
            }
            break;
    }
}

void TreeEditor::insert_entries(const CollectionType& type, std::vector<Value>& entries,
                                std::uint32_t count, std::uint32_t count_max) {
    for (; count > 0 && entries.size() < count_max; --count) {
        Atom entry;
        for (const Property& property : type.parts) {
            entry.parts.push_back(default_value(property));
            if (random_.percent(80)) {
                change(property, entry.parts.back(), count_max);
            }
        }
        entries.emplace_back(std::move(entry));
    }
}

void TreeEditor::change_collection(const CollectionType& type, Value& value,
                                   std::uint32_t count_max) {
    count_max = std::min(count_max, collection_count_max);
    std::vector<Value>& entries = std::get<Atom>(value.content).parts;
    const auto count = static_cast<std::uint32_t>(entries.size());
    if (count == 0 || random_.percent(30)) {
        const bool is_large = random_.percent(limits_.large_percent);
        insert_entries(type, entries, is_large ? count_max : random_.between(1, 4), count_max);
    } else {
        const auto place = entries.begin() + random_.below(count);
        switch (random_.below(8)) {
            case 0:
                entries.clear();
                break;
            case 1:
            case 2:
                entries.erase(place);
                break;
            case 3:  // another one in its place
                entries.erase(place);
                insert_entries(type, entries, 1, count_max);
                break;
            default: {  // its value; of a set its key, as there is nothing else
                std::vector<Value>& parts = std::get<Atom>(place->content).parts;
                change(type.parts.back(), parts.back(), count_max);
                break;
            }
        }
    }
    value = type.in_order(value);
}

void TreeEditor::change_optional(const Property& element, std::vector<Value>& parts,
                                 std::uint32_t count_max) {
    if (parts.empty()) {
        append(element, parts, 1, count_max);
    } else if (random_.percent(40)) {
        parts.clear();
    } else {
        change(element, parts.front(), std::min(count_max, nested_count_max));
    }
}

void TreeEditor::append(const Property& element, std::vector<Value>& parts, std::uint32_t count,
                        std::uint32_t count_max) {
    for (std::uint32_t i = 0; i < count && parts.size() < count_max; ++i) {
        parts.push_back(default_value(element));
        if (random_.percent(80)) {
            change(element, parts.back(), std::min(count_max, nested_count_max));
        }
    }
}

void TreeEditor::change_list(const Property& element, std::vector<Value>& parts,
                             std::uint32_t count_max) {
    const auto count = static_cast<std::uint32_t>(parts.size());
    if (count == 0 || random_.percent(20)) {
        const bool is_large = random_.percent(limits_.large_percent);
        append(element, parts, is_large ? count_max : random_.between(1, 5), count_max);
        return;
    }
    switch (random_.below(8)) {
        case 0:
            parts.clear();
            break;
        case 1:
            parts.resize(random_.below(count));
            break;
        case 2:  // gone and there again within a tick
            parts.clear();
            append(element, parts, random_.between(1, count), count_max);
            break;
        case 3:
            if (count < count_max) {
                parts.insert(parts.begin() + random_.below(count + 1), default_value(element));
            }
            break;
        case 4:
            parts.erase(parts.begin() + random_.below(count));
            break;
        default:
            for (std::uint32_t i = random_.between(1, 3); i > 0; --i) {
                change(element, parts[random_.below(count)], std::min(count_max, nested_count_max));
            }
            break;
    }
}

}  // namespace replayout::test
