// SPDX-License-Identifier: MIT
#include "support/types/value_tree.h"

#include "support/types/collection_types.h"
#include "support/types/raw_object.h"

#include <replayout/quantise.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <new>
#include <string_view>

namespace replayout::test {

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

[[nodiscard]] std::uint64_t mix(std::uint64_t seed, std::uint64_t value) noexcept {
    // The finalizer of splitmix64 (Steele, Lea, Flood 2014).
    std::uint64_t word = seed * 0x9E3779B97F4A7C15u + value + 1;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

[[nodiscard]] std::uint64_t hash_of_text(std::string_view text) noexcept {
    std::uint64_t hash = text.size();
    for (const char letter : text) {
        hash = mix(hash, static_cast<unsigned char>(letter));
    }
    return hash;
}

[[nodiscard]] std::uint64_t hash_of_parts(std::uint64_t seed, const std::vector<Value>& parts) {
    std::uint64_t hash = mix(seed, parts.size());
    for (const Value& part : parts) {
        hash = mix(hash, hash_of(part));
    }
    return hash;
}

[[nodiscard]] std::uint64_t load_bits(const void* memory, std::uint32_t size) noexcept {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t bits = 0;
    std::memcpy(&bits, memory, size);
    return bits;
}

[[nodiscard]] bool is_one_value(const Type& type) noexcept {
    return type.traits().has_net_serializer || type.traits().has_net_delta_serializer;
}

[[nodiscard]] bool is_keyed(const Property& property) noexcept {
    return property.kind == PropertyKind::DynamicArray && static_cast<bool>(property.array_key);
}

/// Where a path is in a keyed array it counts from here.
constexpr std::uint32_t keyed_path_begin = 0x8000'0000u;

[[nodiscard]] std::uint32_t float_count(PropertyKind kind) noexcept {
    switch (kind) {
        case PropertyKind::Vector:
        case PropertyKind::Rotator:
            return 3;
        case PropertyKind::Quat:
            return 4;
        default:
            return 0;
    }
}

/// What is read of a quantised value.
enum class Precision : std::uint8_t { Memory, Integers };

class Reader {
  public:
    Reader(const NameReference& name, Precision precision) : name_(name), precision_(precision) {}

    [[nodiscard]] std::vector<Value> read_members(const Type& type, const std::byte* memory,
                                                  const ArrayKey* key = nullptr) {
        std::vector<Value> parts;
        for_each_member(type, key, [&](const Property& property, std::uint32_t offset) {
            parts.push_back(read(property, memory + offset));
        });
        return parts;
    }

    [[nodiscard]] Value read(const Property& property, const std::byte* memory) {
        if (property.kind == PropertyKind::Struct && !is_one_value(*property.struct_type)) {
            return Record{read_members(*property.struct_type, memory)};
        }
        ++path_.back();
        if (precision_ == Precision::Integers && property.quantisation) {
            const QuantisedValue value = quantise(property, memory);
            return Atom{{Bits{value.words[0]}, Bits{value.words[1]}}};
        }
        switch (property.kind) {
            case PropertyKind::Struct:
                return read_whole(*property.struct_type, memory);
            case PropertyKind::String:
            case PropertyKind::Name:
                return Text(property.string.view(memory, property.string.context));
            case PropertyKind::ObjectReference:
                return name_(property.reference.get(memory), path_);
            case PropertyKind::DynamicArray:
            case PropertyKind::Optional:
                return read_array(property, memory);
            case PropertyKind::Vector:
            case PropertyKind::Rotator:
            case PropertyKind::Quat:
                return read_floats(float_count(property.kind), memory);
            case PropertyKind::BitBool: {
                const auto byte = std::to_integer<std::uint8_t>(*memory);
                return Bits{(byte & property.bit_mask) != 0 ? 1u : 0u};
            }
            default:
                return Bits{load_bits(memory, property.size)};
        }
    }

  private:
    [[nodiscard]] static Value read_floats(std::uint32_t count, const std::byte* memory) {
        Atom atom;
        for (std::uint32_t i = 0; i < count; ++i) {
            atom.parts.emplace_back(Bits{load_bits(memory + i * sizeof(float), sizeof(float))});
        }
        return atom;
    }

    [[nodiscard]] Value read_whole(const Type& type, const std::byte* memory) {
        if (const CollectionType* collection = CollectionType::find(type)) {
            return collection->read(memory);
        }
        // Below here nothing has a handle of its own.
        const HandlePath path = path_;
        Atom atom{read_members(type, memory)};
        path_ = path;
        return atom;
    }

    [[nodiscard]] Value read_keyed_array(const Property& property, const std::byte* memory) {
        List list;
        const ArrayKey& key = property.array_key;
        const std::size_t count = property.array.count(memory);
        const auto* elements = static_cast<const std::byte*>(property.array.data(memory));
        path_.push_back(keyed_path_begin);
        for (std::size_t i = 0; i < count; ++i) {
            const std::byte* element = elements + i * property.element->size;
            Record record;
            record.parts.emplace_back(Bits{load_bits(element + key.offset, key.size)});
            for (Value& member : read_members(*property.element->struct_type, element, &key)) {
                record.parts.push_back(std::move(member));
            }
            const bool is_sent = !key.fast.has_marks() || key_of(record) != ArrayKey::unassigned;
            if (is_sent || precision_ == Precision::Memory) {
                list.parts.emplace_back(std::move(record));
            }
        }
        path_.pop_back();
        if (key.order == ArrayOrder::Free && precision_ == Precision::Integers) {
            std::stable_sort(
                list.parts.begin(), list.parts.end(),
                [](const Value& left, const Value& right) { return key_of(left) < key_of(right); });
        }
        return list;
    }

    [[nodiscard]] Value read_array(const Property& property, const std::byte* memory) {
        if (is_keyed(property)) {
            return read_keyed_array(property, memory);
        }
        List list;
        const std::size_t count = property.array.count(memory);
        const auto* elements = static_cast<const std::byte*>(property.array.data(memory));
        path_.push_back(0);
        for (std::size_t i = 0; i < count; ++i) {
            list.parts.push_back(read(*property.element, elements + i * property.element->size));
        }
        path_.pop_back();
        return list;
    }

    const NameReference& name_;
    Precision precision_;
    HandlePath path_{0};
};

class LeafVisitor {
  public:
    explicit LeafVisitor(const VisitLeaf& visit) : visit_(visit) {}

    void visit_members(const Type& type, const std::vector<Value>& parts, std::uint64_t path,
                       bool is_in_array, const ArrayKey* key = nullptr) {
        std::uint32_t index = 0;
        const std::uint32_t first = key != nullptr ? 1 : 0;
        for_each_member(type, key, [&](const Property& property, std::uint32_t) {
            visit(property, parts.at(first + index), index, path, is_in_array);
            ++index;
        });
    }

  private:
    void visit(const Property& property, const Value& value, std::uint32_t index,
               std::uint64_t parent, bool is_in_array) {
        const std::uint64_t path = mix(parent, index);
        trail_.emplace_back(&property, index);
        if (const auto* record = std::get_if<Record>(&value.content)) {
            visit_group(property, value, path, is_in_array);
            visit_members(*property.struct_type, record->parts, path, is_in_array);
        } else if (is_keyed(property)) {
            visit_keyed(property, std::get<List>(value.content).parts, path);
        } else if (const auto* list = std::get_if<List>(&value.content)) {
            visit_leaf(path, list->parts.size(), property, value, is_in_array);
            for (std::uint32_t i = 0; i < list->parts.size(); ++i) {
                visit(*property.element, list->parts[i], i, path, true);
            }
        } else {
            visit_leaf(path, hash_of(value), property, value, is_in_array);
        }
        trail_.pop_back();
    }

    void visit_leaf(std::uint64_t path, std::uint64_t hash, const Property& property,
                    const Value& value, bool is_in_array, bool is_presence = false) {
        visit_({path, hash, &property, &value, is_in_array, is_presence, keyed_element_, &trail_});
    }

    void visit_keyed(const Property& property, const std::vector<Value>& elements,
                     std::uint64_t parent) {
        const Property& element = *property.element;
        for (const Value& value : elements) {
            const std::uint64_t path = mix(parent, key_of(value));
            trail_.emplace_back(&element, static_cast<std::uint32_t>(key_of(value)));
            visit_leaf(path, 1, element, value, false, true);
            visit_group(element, value, path, false);
            keyed_element_ = path;
            visit_members(*element.struct_type, std::get<Record>(value.content).parts, path, false,
                          &property.array_key);
            keyed_element_ = 0;
            trail_.pop_back();
        }
    }

    /// Its members are right only together.
    void visit_group(const Property& property, const Value& value, std::uint64_t path,
                     bool is_in_array) {
        if (property.struct_type->traits().is_atomic) {
            visit_leaf(mix(path, group_salt), hash_of(value), property, value, is_in_array);
        }
    }

    static constexpr std::uint64_t group_salt = 0x67726F7570;

    const VisitLeaf& visit_;
    Leaf::Trail trail_;
    std::uint64_t keyed_element_ = 0;
};

[[nodiscard]] Value default_struct(const Type& type) {
    if (!is_one_value(type)) {
        Record record;
        for_each_member(type, nullptr, [&](const Property& property, std::uint32_t) {
            record.parts.push_back(default_value(property));
        });
        return record;
    }
    const std::align_val_t alignment{type.alignment()};
    void* memory = ::operator new(type.size(), alignment);
    type.ops().construct(memory);
    Value value =
        read_object(type, memory, [](ObjectHandle, const HandlePath&) { return Reference(); });
    type.ops().destroy(memory);
    ::operator delete(memory, alignment);
    return Atom{std::move(std::get<Record>(value.content).parts)};
}

/// `key`: the parts are those of a keyed element, of which the first is the key.
void write_members(const Type& type, std::byte* memory, const std::vector<Value>& parts,
                   const ArrayKey* key = nullptr) {
    std::size_t index = 0;
    if (key != nullptr) {
        std::memcpy(memory + key->offset, &std::get<Bits>(parts.at(index++).content).pattern,
                    key->size);
    }
    for_each_member(type, key, [&](const Property& property, std::uint32_t offset) {
        write_value(property, memory + offset, parts.at(index++));
    });
}

[[nodiscard]] ItemHeader load_header(const std::byte* item) noexcept {
    ItemHeader header;
    std::memcpy(&header, item, sizeof(header));
    return header;
}

/// Items of a fast array, as they were, by id: the value and the key.
using ItemsById = std::map<std::uint64_t, std::pair<Value, std::uint32_t>>;

[[nodiscard]] ItemsById items_of(const Property& property, const void* array) {
    ItemsById items;
    const Value held = read_value(property, array);
    const auto* memory = static_cast<const std::byte*>(property.array.data(array));
    for (const Value& item : std::get<List>(held.content).parts) {
        items[key_of(item)] = {item, load_header(memory).replication_key};
        memory += property.element->size;
    }
    return items;
}

/// As a game does it: what is new or changed is marked, and so is the array. If nothing is, all of
/// it is marked for nothing.
void mark_changes(const Property& property, void* array, const List& list, const ItemsById& before,
                  bool is_changed) {
    auto& fast_array = *static_cast<RawArray*>(array);
    auto* memory = static_cast<std::byte*>(property.array.mutable_data(array));
    for (const Value& item : list.parts) {
        ItemHeader header = load_header(memory);
        const auto old = before.find(key_of(item));
        const bool is_same = old != before.end() && old->second.first == item;
        header.replication_key =
            is_same && is_changed ? old->second.second : fast_array.mark_array_dirty();
        std::memcpy(memory, &header, sizeof(header));
        memory += property.element->size;
    }
    fast_array.mark_array_dirty();
}

void write_keyed_array(const Property& property, void* array, const List& list) {
    const bool is_fast = property.array_key.fast.has_marks();
    const bool is_changed =
        !(std::get<List>(read_value(property, array).content).parts == list.parts);
    const ItemsById before = is_fast ? items_of(property, array) : ItemsById();
    property.array.resize(array, list.parts.size());
    auto* elements = static_cast<std::byte*>(property.array.mutable_data(array));
    for (std::size_t i = 0; i < list.parts.size(); ++i) {
        write_members(*property.element->struct_type, elements + i * property.element->size,
                      std::get<Record>(list.parts[i].content).parts, &property.array_key);
    }
    if (is_fast) {
        mark_changes(property, array, list, before, is_changed);
    }
}

void write_array(const Property& property, void* array, const List& list) {
    if (is_keyed(property)) {
        write_keyed_array(property, array, list);
        return;
    }
    property.array.resize(array, list.parts.size());
    auto* elements = static_cast<std::byte*>(property.array.mutable_data(array));
    for (std::size_t i = 0; i < list.parts.size(); ++i) {
        write_value(*property.element, elements + i * property.element->size, list.parts[i]);
    }
}

}  // namespace

bool operator==(const Value& left, const Value& right) {
    if (left.content.index() != right.content.index()) {
        return false;
    }
    return std::visit(
        Overloaded{
            [&](const Bits& bits) { return bits.pattern == std::get<Bits>(right.content).pattern; },
            [&](const Text& text) { return text == std::get<Text>(right.content); },
            [&](const Reference& reference) {
                return reference.id == std::get<Reference>(right.content).id;
            },
            [&]<typename Parts>(const Parts& parts) {
                return parts.parts == std::get<Parts>(right.content).parts;
            }},
        left.content);
}

std::uint64_t hash_of(const Value& value) {
    return std::visit(Overloaded{[](const Bits& bits) { return mix(1, bits.pattern); },
                                 [](const Text& text) { return mix(2, hash_of_text(text)); },
                                 [](const Reference& reference) { return mix(3, reference.id); },
                                 [](const auto& parts) { return hash_of_parts(4, parts.parts); }},
                      value.content);
}

bool is_in_keyed_array(const HandlePath& path) noexcept {
    return std::any_of(path.begin(), path.end(),
                       [](std::uint32_t handle) { return handle >= keyed_path_begin; });
}

std::uint64_t key_of(const Value& keyed_element) {
    return std::get<Bits>(std::get<Record>(keyed_element.content).parts.front().content).pattern;
}

bool has_unknown(const Value& value) {
    return std::visit(
        Overloaded{[](const Bits&) { return false; }, [](const Text&) { return false; },
                   [](const Reference& reference) { return reference.id == Reference::unknown_id; },
                   [](const auto& parts) {
                       return std::any_of(parts.parts.begin(), parts.parts.end(), has_unknown);
                   }},
        value.content);
}

std::size_t encoded_bytes_max(const Value& value) {
    return std::visit(Overloaded{[](const Bits&) -> std::size_t { return 9; },
                                 [](const Text& text) { return text.size() + 4; },
                                 [](const Reference&) -> std::size_t { return 6; },
                                 [](const auto& parts) {
                                     std::size_t bytes = 8;
                                     for (const Value& part : parts.parts) {
                                         bytes += encoded_bytes_max(part);
                                     }
                                     return bytes;
                                 }},
                      value.content);
}

Value read_object(const Type& type, const void* memory, const NameReference& name) {
    return Record{Reader(name, Precision::Integers)
                      .read_members(type, static_cast<const std::byte*>(memory))};
}

Value read_value(const Property& property, const void* memory) {
    const NameReference name = [](ObjectHandle held, const HandlePath&) {
        return Reference{held.value};
    };
    return Reader(name, Precision::Memory).read(property, static_cast<const std::byte*>(memory));
}

Value read_member(const Property& property, const void* memory) {
    if (property.array_dim == 1) {
        return read_value(property, memory);
    }
    Record elements;
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        const auto* element = static_cast<const std::byte*>(memory) + i * property.size;
        elements.parts.push_back(read_value(property, element));
    }
    return elements;
}

void write_value(const Property& property, void* memory, const Value& value) {
    auto* bytes = static_cast<std::byte*>(memory);
    switch (property.kind) {
        case PropertyKind::Struct:
            if (const auto* collection = CollectionType::find(*property.struct_type)) {
                collection->write(memory, value);
            } else if (const auto* atom = std::get_if<Atom>(&value.content)) {
                write_members(*property.struct_type, bytes, atom->parts);
            } else {
                write_members(*property.struct_type, bytes, std::get<Record>(value.content).parts);
            }
            return;
        case PropertyKind::String:
        case PropertyKind::Name:
            (void)property.string.assign(memory, std::get<Text>(value.content),
                                         property.string.context);
            return;
        case PropertyKind::ObjectReference:
            property.reference.set(memory, ObjectHandle{std::get<Reference>(value.content).id});
            return;
        case PropertyKind::DynamicArray:
        case PropertyKind::Optional:
            write_array(property, memory, std::get<List>(value.content));
            return;
        case PropertyKind::BitBool: {
            const bool is_set = std::get<Bits>(value.content).pattern != 0;
            const std::byte mask{property.bit_mask};
            *bytes = is_set ? *bytes | mask : *bytes & ~mask;
            return;
        }
        case PropertyKind::Vector:
        case PropertyKind::Rotator:
        case PropertyKind::Quat: {
            const Atom& atom = std::get<Atom>(value.content);
            for (std::size_t i = 0; i < atom.parts.size(); ++i) {
                std::memcpy(bytes + i * sizeof(float),
                            &std::get<Bits>(atom.parts[i].content).pattern, sizeof(float));
            }
            return;
        }
        default:
            std::memcpy(memory, &std::get<Bits>(value.content).pattern, property.size);
            return;
    }
}

Value default_value(const Property& property) {
    switch (property.kind) {
        case PropertyKind::Struct:
            return default_struct(*property.struct_type);
        case PropertyKind::String:
        case PropertyKind::Name:
            return Text();
        case PropertyKind::ObjectReference:
            return Reference();
        case PropertyKind::DynamicArray:
        case PropertyKind::Optional:
            return List();
        case PropertyKind::Vector:
        case PropertyKind::Rotator:
        case PropertyKind::Quat: {
            Atom atom{std::vector<Value>(float_count(property.kind))};
            if (property.kind == PropertyKind::Quat) {
                atom.parts.back().content = Bits{std::bit_cast<std::uint32_t>(1.0f)};
            }
            return atom;
        }
        default:
            return Bits();
    }
}

Value new_keyed_element(const Property& array, std::uint64_t key) {
    Record record;
    record.parts.emplace_back(Bits{key});
    for_each_member(*array.element->struct_type, &array.array_key,
                    [&](const Property& property, std::uint32_t) {
                        record.parts.push_back(default_value(property));
                    });
    return record;
}

Value default_state(const Property& property) {
    if (property.kind == PropertyKind::Struct && !is_one_value(*property.struct_type)) {
        Record record;
        for_each_member(*property.struct_type, nullptr, [&](const Property& member, std::uint32_t) {
            record.parts.push_back(default_state(member));
        });
        return record;
    }
    const Value value = default_value(property);
    if (!property.quantisation) {
        return value;
    }
    alignas(8) std::byte memory[16] = {};
    write_value(property, memory, value);
    const QuantisedValue integers = quantise(property, memory);
    return Atom{{Bits{integers.words[0]}, Bits{integers.words[1]}}};
}

void for_each_leaf(const Type& type, const Value& object, const VisitLeaf& visit) {
    LeafVisitor(visit).visit_members(type, std::get<Record>(object.content).parts, 0, false);
}

std::string to_string(const Leaf::Trail& trail) {
    std::string text;
    for (const auto& [property, index] : trail) {
        // An element has no name; neighbours of a C array share one, so both are told.
        text += text.empty() || property->name.empty() ? "" : ".";
        text += property->name + "[" + std::to_string(index) + "]";
    }
    return text;
}

std::string to_string(const Value& value) {
    const auto list_parts = [](char begin, const std::vector<Value>& parts, char end) {
        std::string text(1, begin);
        for (const Value& part : parts) {
            text += (text.size() == 1 ? "" : " ") + to_string(part);
        }
        return text + end;
    };
    return std::visit(
        Overloaded{[](const Bits& bits) { return std::to_string(bits.pattern); },
                   [](const Text& text) {
                       return text.size() <= 32
                                  ? "\"" + text + "\""
                                  : "text of " + std::to_string(text.size()) + " bytes, hash " +
                                        std::to_string(hash_of_text(text));
                   },
                   [](const Reference& reference) { return "#" + std::to_string(reference.id); },
                   [&](const Record& record) { return list_parts('{', record.parts, '}'); },
                   [&](const Atom& atom) { return list_parts('<', atom.parts, '>'); },
                   [&](const List& list) { return list_parts('[', list.parts, ']'); }},
        value.content);
}

}  // namespace replayout::test
