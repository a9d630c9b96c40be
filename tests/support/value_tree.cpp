// SPDX-License-Identifier: MIT
#include "support/value_tree.h"

#include <replayout/quantise.h>

#include <bit>
#include <cstring>
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

[[nodiscard]] bool is_atomic(const Type& type) noexcept {
    return type.traits().has_net_serializer;
}

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

    [[nodiscard]] std::vector<Value> read_members(const Type& type, const std::byte* memory) {
        std::vector<Value> parts;
        for_each_slot(type, 0, [&](const Property& property, std::uint32_t offset) {
            if (property.is_replicated) {
                parts.push_back(read(property, memory + offset));
            }
        });
        return parts;
    }

    [[nodiscard]] Value read(const Property& property, const std::byte* memory) {
        if (property.kind == PropertyKind::Struct && !is_atomic(*property.struct_type)) {
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
        // Below here nothing has a handle of its own.
        const HandlePath path = path_;
        Atom atom{read_members(type, memory)};
        path_ = path;
        return atom;
    }

    [[nodiscard]] Value read_array(const Property& property, const std::byte* memory) {
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
                       bool is_in_array) {
        std::uint32_t index = 0;
        for_each_slot(type, 0, [&](const Property& property, std::uint32_t) {
            if (property.is_replicated) {
                visit(property, parts.at(index), index, path, is_in_array);
                ++index;
            }
        });
    }

  private:
    void visit(const Property& property, const Value& value, std::uint32_t index,
               std::uint64_t parent, bool is_in_array) {
        const std::uint64_t path = mix(parent, index);
        trail_.emplace_back(&property, index);
        if (const auto* record = std::get_if<Record>(&value.content)) {
            visit_members(*property.struct_type, record->parts, path, is_in_array);
        } else if (const auto* list = std::get_if<List>(&value.content)) {
            visit_({path, list->parts.size(), &property, is_in_array, &trail_});
            for (std::uint32_t i = 0; i < list->parts.size(); ++i) {
                visit(*property.element, list->parts[i], i, path, true);
            }
        } else {
            visit_({path, hash_of(value), &property, is_in_array, &trail_});
        }
        trail_.pop_back();
    }

    const VisitLeaf& visit_;
    Leaf::Trail trail_;
};

[[nodiscard]] Value default_struct(const Type& type) {
    if (!is_atomic(type)) {
        Record record;
        for_each_slot(type, 0, [&](const Property& property, std::uint32_t) {
            if (property.is_replicated) {
                record.parts.push_back(default_value(property));
            }
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

void write_members(const Type& type, std::byte* memory, const std::vector<Value>& parts) {
    std::size_t index = 0;
    for_each_slot(type, 0, [&](const Property& property, std::uint32_t offset) {
        if (property.is_replicated) {
            write_value(property, memory + offset, parts.at(index++));
        }
    });
}

void write_array(const Property& property, void* array, const List& list) {
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

void write_value(const Property& property, void* memory, const Value& value) {
    auto* bytes = static_cast<std::byte*>(memory);
    switch (property.kind) {
        case PropertyKind::Struct:
            if (const auto* atom = std::get_if<Atom>(&value.content)) {
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

Value default_state(const Property& property) {
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
