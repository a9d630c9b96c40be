// SPDX-License-Identifier: MIT
#include <replayout/dump.h>
#include <replayout/materialized_shadow.h>

#include <replayout/keyed_array.h>
#include <replayout/net_delta.h>
#include <replayout/quantise.h>

#include "native_value.h"
#include "struct_value.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace replayout {

namespace {

/// Reads the values of one block into shadow memory.
class BlockDecoder {
  public:
    BlockDecoder(const RepLayout& layout, const ShadowMemory& memory, PackageMap& package_map,
                 MemoryResource* resource, FlatMap<std::uint32_t, Version>& versions,
                 std::span<const std::byte> block)
        : layout_(layout),
          memory_(memory),
          package_map_(package_map),
          resource_(resource),
          versions_(versions),
          reader_(block) {}

    [[nodiscard]] bool decode(ShadowBuffer object) {
        ChangeMask handles(resource_);
        read_change_mask(reader_, handles, layout_.handle_count(), EmptySet::Impossible);
        decode_values(layout_.root(), handles, object.data(), 0);
        reader_.finish_byte();
        return !reader_.failed() && reader_.bits_left() == 0;
    }

  private:
    /// The values at `handles`, counted over scopes that lie `stride_bytes` apart.
    void decode_values(const RepScope& scope, const ChangeMask& handles, std::byte* first,
                       std::size_t stride_bytes) {
        for (std::uint32_t bit = handles.next(0); bit < handles.bit_count() && !reader_.failed();
             bit = handles.next(bit + 1)) {
            const ShadowBuffer element(first + bit / scope.handle_count * stride_bytes);
            const CmdIndex index = layout_.cmd_of(scope, RepHandle{bit % scope.handle_count + 1});
            decode_value(index, element + layout_.cmd(index).shadow_offset);
        }
    }

    void decode_value(CmdIndex index, ShadowBuffer leaf) {
        switch (layout_.cmd(index).type) {
            case RepLayoutCmdType::Bool:
            case RepLayoutCmdType::BitBool:
                *leaf.data() = std::byte{reader_.read_bool() ? std::uint8_t{1} : std::uint8_t{0}};
                return;
            case RepLayoutCmdType::Bits8:
            case RepLayoutCmdType::Bits16:
            case RepLayoutCmdType::Bits32:
            case RepLayoutCmdType::Bits64:
                return decode_words(leaf, layout_.cmd(index).element_size, 1);
            case RepLayoutCmdType::Vector:
                return decode_words(leaf, 4, 3);
            case RepLayoutCmdType::Quat:
                return decode_words(leaf, 4, 4);
            case RepLayoutCmdType::String:
                return decode_string(shadow_value<PmrString>(leaf));
            case RepLayoutCmdType::Object:
                shadow_value<ShadowReference>(leaf) = {{}, NetGUID{reader_.read_packed_uint()}};
                return;
            case RepLayoutCmdType::NetSerializeStruct:
                return decode_struct(*layout_.cmd(index).property->struct_type, leaf);
            case RepLayoutCmdType::NetDeltaStruct:
                return decode_delta(layout_.cmd(index), leaf);
            case RepLayoutCmdType::DynamicArray:
                return decode_array(index, shadow_value<ShadowArray>(leaf));
            case RepLayoutCmdType::KeyedArray:
                return decode_keyed_array(index, shadow_value<ShadowKeyedArray>(leaf));
            case RepLayoutCmdType::Quantised:
                return decode_quantised(layout_.cmd(index).property->quantisation, leaf);
            case RepLayoutCmdType::Return:
                REPLAYOUT_ASSERT(false);
        }
    }

    void decode_words(ShadowBuffer leaf, std::uint32_t word_size, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            store_integer(leaf.data() + i * word_size, reader_.read_bits(word_size * 8), word_size);
        }
    }

    /// What a value is, and not what it may be: what quantise() never gives is not looked for.
    void decode_quantised(const Quantisation& quantisation, ShadowBuffer leaf) {
        QuantisedValue value;
        switch (quantisation.form) {
            case QuantisationForm::VectorSteps: {
                const auto width = static_cast<std::uint32_t>(reader_.read_bits(5));
                std::uint32_t words[3] = {};
                for (std::uint32_t& word : words) {
                    word = static_cast<std::uint32_t>(reader_.read_bits(width));
                    const bool is_negative = width > 0 && (word >> (width - 1)) != 0;
                    word |= is_negative ? ~std::uint32_t{0} << (width - 1) : 0;
                }
                value = {{words[0] | (std::uint64_t{words[1]} << 32), words[2]}};
                break;
            }
            case QuantisationForm::Angles:
                for (std::uint32_t i = 0; i < 3; ++i) {
                    const bool is_written = reader_.read_bool();
                    value.words[0] |= reader_.read_bits(is_written ? quantisation.bits : 0)
                                      << (i * quantisation.bits);
                }
                break;
            default:
                value.words[0] = reader_.read_bits(quantised_bit_count(quantisation, value));
                break;
        }
        store_quantised(value, leaf.data(), quantised_size(quantisation));
    }

    void decode_string(PmrString& text) {
        const std::uint64_t byte_count = reader_.read_packed_uint();
        if (byte_count > layout_.limits().string_bytes_max) {
            reader_.fail();
            return;
        }
        text.resize(byte_count);
        reader_.read_bytes(std::as_writable_bytes(std::span(text.data(), text.size())));
    }

    void decode_struct(const Type& type, ShadowBuffer leaf) {
        NetArchive archive(reader_);
        bool ok = true;
        (void)type.traits().net_serialize(leaf.data(), archive, &package_map_, ok);
        if (!ok) {
            reader_.fail();
        }
    }

    void decode_delta(const RepLayoutCmd& cmd, ShadowBuffer leaf) {
        const std::uint64_t to = reader_.read_packed_uint();
        const std::uint64_t from = to - reader_.read_packed_uint();
        const std::uint64_t bit_count = reader_.read_packed_uint();
        Version& held = versions_[cmd.relative_handle];
        if (from != held) {
            reader_.skip_bits(bit_count);
            return;
        }
        held = static_cast<Version>(to);
        NetArchive archive(reader_);
        NetDeltaInfo info(archive, package_map_);
        if (!cmd.property->struct_type->traits().net_delta_serialize(leaf.data(), info)) {
            reader_.fail();
        }
    }

    void decode_array(CmdIndex index, ShadowArray& array) {
        const bool is_optional = layout_.cmd(index).property->kind == PropertyKind::Optional;
        const std::uint64_t count = is_optional ? reader_.read_bits(1) : reader_.read_packed_uint();
        if (count > count_max_of(*layout_.cmd(index).property, layout_.limits())) {
            reader_.fail();
            return;
        }
        const RepScope& element = layout_.element_scope(index);
        memory_.resize_array(layout_.cmd(index), element, array, static_cast<std::uint32_t>(count));
        if (count == 0) {
            return;
        }
        ChangeMask changed(resource_);
        changed.reset(1);
        changed.set(0);
        if (!is_optional || element.handle_count > 1) {
            read_change_mask(reader_, changed, array.count * element.handle_count,
                             EmptySet::Possible);
        }
        decode_values(element, changed, array.elements, element.shadow_size);
    }

    /// Keys that ascend.
    [[nodiscard]] std::uint64_t decode_key(std::uint64_t& next) {
        const std::uint64_t key = next + reader_.read_packed_uint();
        next = key + 1;
        return key;
    }

    void remove_element(const RepScope& element, ShadowKeyedArray& array, std::uint32_t index) {
        // The last one takes its place: the order is that of the ranks.
        ShadowArray rest;
        memory_.make_room(element, rest, array.count());
        Vector<ShadowKeyedArray::Item> items(array.items.get_stored_allocator());
        for (std::uint32_t i = 0; i < array.count(); ++i) {
            if (i == index) {
                memory_.destroy_element(element, array.elements, i);
            } else {
                memory_.move_element(element, array.elements, i, rest);
                items.push_back(array.items[i]);
            }
        }
        array.elements.count = 0;
        std::swap(array.elements, rest);
        memory_.free_array(element, rest);
        array.items.swap(items);
    }

    [[nodiscard]] static std::uint32_t find_element(const ShadowKeyedArray& array,
                                                    std::uint64_t key) {
        std::uint32_t index = 0;
        while (index < array.count() && array.items[index].key != key) {
            ++index;
        }
        return index;
    }

    void decode_keyed_array(CmdIndex index, ShadowKeyedArray& array) {
        const RepScope& element = layout_.element_scope(index);
        const bool is_full_set = reader_.read_bool();
        const bool is_beginning_anew = is_full_set && reader_.read_bool() && decode_restart(index);
        std::uint64_t next = 0;
        const bool has_begin = is_full_set && reader_.read_bool();
        const std::uint64_t begin = has_begin ? decode_key(next) : 0;
        const bool has_end = is_full_set && reader_.read_bool();
        const std::uint64_t end = has_end ? decode_key(next) : 0;
        const std::uint64_t removed = is_full_set ? 0 : reader_.read_packed_uint();
        next = 0;
        for (std::uint64_t i = 0; i < removed && !reader_.failed(); ++i) {
            const std::uint32_t gone = find_element(array, decode_key(next));
            if (gone < array.count()) {
                remove_element(element, array, gone);
            }
        }
        const std::uint64_t listed = reader_.read_packed_uint();
        Vector<std::uint64_t> keys(Allocator<std::uint64_t>{resource_});
        next = 0;
        for (std::uint64_t i = 0; i < listed && !reader_.failed(); ++i) {
            keys.push_back(decode_key(next));
            decode_keyed_element(index, array, keys.back());
        }
        for (std::uint32_t i = array.count(); is_full_set && i-- > 0;) {
            const std::uint64_t key = array.items[i].key;
            const bool is_meant =
                is_beginning_anew || ((!has_begin || key > begin) && (!has_end || key <= end));
            if (is_meant && std::find(keys.begin(), keys.end(), key) == keys.end()) {
                remove_element(element, array, i);
            }
        }
    }

    /// Returns whether this is the first with that version.
    [[nodiscard]] bool decode_restart(CmdIndex index) {
        const std::uint32_t version = reader_.read_packed_uint32();
        Version& before = versions_[layout_.cmd(index).relative_handle];
        return std::exchange(before, version) != version;
    }

    void decode_keyed_element(CmdIndex index, ShadowKeyedArray& array, std::uint64_t key) {
        const RepLayoutCmd& cmd = layout_.cmd(index);
        const RepScope& element = layout_.element_scope(index);
        const std::uint32_t found = find_element(array, key);
        if (found == array.count()) {
            memory_.resize_array(cmd, element, array.elements, found + 1);
            array.items.push_back({key, 0, 0, 0, 0});
        }
        if (cmd.property->array_key.order == ArrayOrder::Kept && reader_.read_bool()) {
            const auto bits = static_cast<std::uint32_t>(reader_.read_packed_uint());
            const std::uint32_t sign = (bits & 1) != 0 ? 0xFFFF'FFFFu : 0;
            array.items[found].rank = static_cast<std::int32_t>((bits >> 1) ^ sign);
        }
        ChangeMask leaves(resource_);
        read_change_mask(reader_, leaves, element.handle_count, EmptySet::Possible);
        decode_values(element, leaves,
                      array.elements.elements + std::size_t{found} * element.shadow_size, 0);
    }

    const RepLayout& layout_;
    const ShadowMemory& memory_;
    PackageMap& package_map_;
    MemoryResource* resource_;
    FlatMap<std::uint32_t, Version>& versions_;
    BitReader reader_;
};

/// The bits of a struct's value.
class StructBits {
  public:
    StructBits(const Type& type, ConstShadowBuffer leaf, PackageMap& package_map,
               MemoryResource* resource)
        : bytes_(bytes_initial, Allocator<std::byte>(resource)) {
        while (!write(type, leaf, package_map)) {
            bytes_.resize(bytes_.size() * 2);
        }
    }

    friend bool operator==(const StructBits&, const StructBits&) = default;

  private:
    static constexpr std::size_t bytes_initial = 256;

    [[nodiscard]] bool write(const Type& type, ConstShadowBuffer leaf, PackageMap& package_map) {
        BitWriter writer({bytes_.data(), bytes_.size()});
        NetArchive archive(writer);
        bool ok = true;
        // Saving does not change the value; the one function serves both directions.
        void* value = const_cast<std::byte*>(leaf.data());
        (void)type.traits().net_serialize(value, archive, &package_map, ok);
        if (writer.overflowed()) {
            return false;
        }
        bit_count_ = writer.bit_count();
        writer.finish_byte();
        bytes_.resize(writer.byte_count());
        return true;
    }

    Vector<std::byte> bytes_;
    std::size_t bit_count_ = 0;
};

/// Compares values in shadow form.
class ValueComparer {
  public:
    ValueComparer(const RepLayout& layout, PackageMap& package_map, MemoryResource* resource)
        : layout_(layout), package_map_(package_map), resource_(resource) {}

    [[nodiscard]] bool equal(CmdIndex index, ConstShadowBuffer left,
                             ConstShadowBuffer right) const {
        const RepLayoutCmd& cmd = layout_.cmd(index);
        switch (cmd.type) {
            case RepLayoutCmdType::Bool:
                return (*left.data() != std::byte{0}) == (*right.data() != std::byte{0});
            case RepLayoutCmdType::String:
                return shadow_value<PmrString>(left) == shadow_value<PmrString>(right);
            case RepLayoutCmdType::Object:
                return shadow_value<ShadowReference>(left).guid ==
                       shadow_value<ShadowReference>(right).guid;
            case RepLayoutCmdType::NetSerializeStruct:
                return equal_structs(*cmd.property->struct_type, left, right);
            case RepLayoutCmdType::NetDeltaStruct:
                return structs_identical(*cmd.property->struct_type, left.data(), right.data());
            case RepLayoutCmdType::DynamicArray:
                return equal_arrays(layout_.element_scope(index), shadow_value<ShadowArray>(left),
                                    shadow_value<ShadowArray>(right));
            case RepLayoutCmdType::KeyedArray:
                return equal_keyed_arrays(index, shadow_value<ShadowKeyedArray>(left),
                                          shadow_value<ShadowKeyedArray>(right));
            case RepLayoutCmdType::Quantised:
                return std::memcmp(left.data(), right.data(),
                                   quantised_size(cmd.property->quantisation)) == 0;
            default:
                return std::memcmp(left.data(), right.data(), cmd.element_size) == 0;
        }
    }

  private:
    [[nodiscard]] bool equal_structs(const Type& type, ConstShadowBuffer left,
                                     ConstShadowBuffer right) const {
        return structs_identical(type, left.data(), right.data()) ||
               StructBits(type, left, package_map_, resource_) ==
                   StructBits(type, right, package_map_, resource_);
    }

    [[nodiscard]] bool equal_arrays(const RepScope& element, const ShadowArray& left,
                                    const ShadowArray& right) const {
        if (left.count != right.count) {
            return false;
        }
        for (std::size_t i = 0; i < left.count; ++i) {
            if (!equal_elements(element, ConstShadowBuffer(left.elements + i * element.shadow_size),
                                ConstShadowBuffer(right.elements + i * element.shadow_size))) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool equal_elements(const RepScope& element, ConstShadowBuffer left,
                                      ConstShadowBuffer right) const {
        for (RepHandle handle{1}; handle.value <= element.handle_count; ++handle.value) {
            const CmdIndex index = layout_.cmd_of(element, handle);
            const ShadowOffset offset = layout_.cmd(index).shadow_offset;
            if (!equal(index, left + offset, right + offset)) {
                return false;
            }
        }
        return true;
    }

    /// By key, and where order is kept also by rank.
    [[nodiscard]] bool equal_keyed_arrays(CmdIndex index, const ShadowKeyedArray& left,
                                          const ShadowKeyedArray& right) const {
        const RepScope& element = layout_.element_scope(index);
        const bool has_order = layout_.cmd(index).property->array_key.order == ArrayOrder::Kept;
        if (left.count() != right.count()) {
            return false;
        }
        for (std::size_t i = 0; i < left.count(); ++i) {
            std::size_t other = 0;
            while (other < right.count() && right.items[other].key != left.items[i].key) {
                ++other;
            }
            if (other == right.count() ||
                (has_order && left.items[i].rank != right.items[other].rank) ||
                !equal_elements(
                    element, ConstShadowBuffer(left.elements.elements + i * element.shadow_size),
                    ConstShadowBuffer(right.elements.elements + other * element.shadow_size))) {
                return false;
            }
        }
        return true;
    }

    const RepLayout& layout_;
    PackageMap& package_map_;
    MemoryResource* resource_;
};

}  // namespace

MaterializedShadow::MaterializedShadow(const RepLayout& layout, PackageMap& package_map,
                                       MemoryResource* resource)
    : layout_(&layout),
      package_map_(&package_map),
      resource_(resource),
      values_(layout, resource),
      versions_(Allocator<std::pair<std::uint32_t, Version>>(resource)) {
    values_.memory().copy(layout.root(), values_.buffer(), layout.archetype().buffer());
}

bool MaterializedShadow::apply(std::span<const std::byte> block) {
    BlockDecoder decoder(*layout_, values_.memory(), *package_map_, resource_, versions_, block);
    return decoder.decode(values_.buffer());
}

RepHandle MaterializedShadow::find_difference(const ChangelistState& state,
                                              const ChangeMask& excused) const {
    REPLAYOUT_ASSERT(excused.bit_count() == layout_->handle_count());
    for (std::uint32_t bit = excused.next_clear(0); bit < excused.bit_count();
         bit = excused.next_clear(bit + 1)) {
        if (!equals(RepHandle{bit + 1}, state)) {
            return RepHandle{bit + 1};
        }
    }
    return RepHandle{};
}

bool MaterializedShadow::equals(const ChangelistState& state) const {
    ChangeMask none(resource_);
    none.reset(layout_->handle_count());
    return find_difference(state, none).value == 0;
}

bool MaterializedShadow::equals(RepHandle handle, const ChangelistState& state) const {
    REPLAYOUT_ASSERT(&state.layout() == layout_);
    const CmdIndex index = layout_->cmd_of(layout_->root(), handle);
    const ShadowOffset offset = layout_->cmd(index).shadow_offset;
    return ValueComparer(*layout_, *package_map_, resource_)
        .equal(index, buffer() + offset, state.shadow() + offset);
}

std::string MaterializedShadow::describe(RepHandle handle, const ChangelistState& state) const {
    return '"' + property_path(*layout_, handle) + "\" (handle " + std::to_string(handle.value) +
           "): the receiver holds " + value_text(*layout_, handle, buffer()) + ", the object " +
           value_text(*layout_, handle, state.shadow());
}

}  // namespace replayout
