// SPDX-License-Identifier: MIT
//
// Changes objects at random, through the description of their type: a game that nobody wrote.
#pragma once

#include <replayout/reflection/type.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace replayout {

class RandomEditor {
  public:
    /// References are null or one of `object_count` objects: handles 1, 2, ...
    RandomEditor(std::mt19937_64& random, std::uint32_t object_count) noexcept
        : random_(random), object_count_(object_count) {}

    /// Changes one property of a value, or an element of one; perhaps to what it was.
    void edit(const Type& type, void* value) {
        std::vector<Member> members;
        collect(type, static_cast<std::byte*>(value), members);
        if (!members.empty()) {
            const Member& member = members[below(members.size())];
            edit_value(*member.property, member.memory);
        }
    }

  private:
    struct Member {
        const Property* property;
        std::byte* memory;
    };

    [[nodiscard]] std::size_t below(std::size_t count) { return random_() % count; }

    static void collect(const Type& type, std::byte* value, std::vector<Member>& members) {
        if (type.base() != nullptr) {
            collect(*type.base(), value + type.base_offset(), members);
        }
        for (const Property& property : type.properties()) {
            for (std::uint32_t index = 0; index < property.array_dim; ++index) {
                members.push_back(
                    {&property, value + property.offset + std::size_t{index} * property.size});
            }
        }
    }

    void edit_value(const Property& property, std::byte* memory) {
        switch (property.kind) {
            case PropertyKind::Bool:
                *memory = static_cast<std::byte>(below(2));
                return;
            case PropertyKind::BitBool:
                *memory ^= std::byte{property.bit_mask};
                return;
            case PropertyKind::Float:
            case PropertyKind::Vector:
            case PropertyKind::Rotator:
            case PropertyKind::Quat:
                return property.quantisation ? edit_floats(memory, property.size)
                                             : edit_bits(memory, property.size);
            case PropertyKind::String:
                (void)property.string.assign(memory, random_text(), property.string.context);
                return;
            case PropertyKind::Name:
                // Names are never given back, so there are few of them.
                (void)property.string.assign(memory, "name " + std::to_string(below(9)),
                                             property.string.context);
                return;
            case PropertyKind::ObjectReference:
                property.reference.set(memory, ObjectHandle{below(object_count_ + 1)});
                return;
            case PropertyKind::Struct:
                edit(*property.struct_type, memory);
                return;
            case PropertyKind::Optional:
                edit_optional(property, memory);
                return;
            case PropertyKind::DynamicArray:
                edit_array(property, memory);
                return;
            default:
                edit_bits(memory, property.size);
                return;
        }
    }

    void edit_bits(std::byte* memory, std::uint32_t size) {
        // Small numbers too, so that a value often is again what it was.
        const bool is_small = below(2) == 0;
        for (std::uint32_t index = 0; index < size; ++index) {
            memory[index] = static_cast<std::byte>(is_small ? below(3) : random_());
        }
    }

    void edit_floats(std::byte* memory, std::uint32_t size) {
        for (std::uint32_t index = 0; index < size; index += sizeof(float)) {
            // Now and then a change below every step.
            float value = 0.0f;
            std::memcpy(&value, memory + index, sizeof(value));
            value = below(3) == 0 ? value + 0.0001f : static_cast<float>(below(4'001)) / 10 - 200;
            std::memcpy(memory + index, &value, sizeof(value));
        }
    }

    void edit_optional(const Property& property, std::byte* memory) {
        if (property.array.count(memory) == 0) {
            property.array.resize(memory, 1);
        } else if (below(3) == 0) {
            property.array.resize(memory, 0);
            return;
        }
        if (below(4) != 0) {
            edit_value(*property.element, element_at(property, memory, 0));
        }
    }

    void edit_array(const Property& property, std::byte* memory) {
        const std::size_t old_count = property.array.count(memory);
        if (old_count == 0 || below(3) == 0) {
            const std::size_t count = below(5) == 0 ? 0 : below(9);
            property.array.resize(memory, count);
            for (std::size_t index = old_count; index < count; ++index) {
                // Some new elements stay as they are made: equal to a fresh shadow.
                if (below(3) != 0) {
                    edit_value(*property.element, element_at(property, memory, index));
                }
            }
            return;
        }
        for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
            edit_value(*property.element, element_at(property, memory, below(old_count)));
        }
    }

    static std::byte* element_at(const Property& property, std::byte* array, std::size_t index) {
        return static_cast<std::byte*>(property.array.mutable_data(array)) +
               index * property.element->size;
    }

    std::string random_text() {
        static constexpr const char* characters[] = {
            "a", "z", " ", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
        std::string text;
        for (std::size_t count = below(below(8) == 0 ? 40 : 6); count > 0; --count) {
            text += characters[below(std::size(characters))];
        }
        return text;
    }

    std::mt19937_64& random_;
    std::uint32_t object_count_;
};

}  // namespace replayout
