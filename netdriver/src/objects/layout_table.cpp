// SPDX-License-Identifier: MIT
#include "layout_table.h"

#include <algorithm>
#include <string>

namespace replayout {

namespace {

[[nodiscard]] bool is_before(const RepLayout* left, std::string_view name) noexcept {
    return left->type().name() < name;
}

[[nodiscard]] bool has_lower_id(const LayoutTable::Archetype& left, ArchetypeId id) noexcept {
    return left.id < id;
}

[[nodiscard]] Status check_texts_of(const RepLayout& layout, const NetConfig& config) {
    const std::uint64_t bytes = layout.limits().string_bytes_max;
    const auto is_text = [](const RepLayoutCmd& cmd) {
        return cmd.property != nullptr && (cmd.property->kind == PropertyKind::String ||
                                           cmd.property->kind == PropertyKind::Name);
    };
    const auto text = std::find_if(layout.cmds().begin(), layout.cmds().end(), is_text);
    if (text == layout.cmds().end()) {
        return {};
    }
    const auto error = [&](const char* name, std::uint64_t value) {
        return Error{ErrorCode::LimitExceeded,
                     "net driver: layout of \"" + std::string(layout.name()) + "\": text \"" +
                         text->property->name + "\" may have " + std::to_string(bytes) +
                         " bytes (RepLimits::string_bytes_max), and NetConfig::" + name + " is " +
                         std::to_string(value) +
                         ": such a text would never arrive; lower "
                         "string_bytes_max or raise that"};
    };
    if (bytes > config.bunch_bytes_max) {
        return error("bunch_bytes_max", config.bunch_bytes_max);
    }
    if (bytes > config.decode_allocation_bytes_max) {
        return error("decode_allocation_bytes_max", config.decode_allocation_bytes_max);
    }
    if (bytes > config.dynamic_bytes_max) {
        return error("dynamic_bytes_max", config.dynamic_bytes_max);
    }
    return {};
}

}  // namespace

Status check_array_growth(const RepLayout& layout, const NetConfig& config) {
    for (const RepLayoutCmd& cmd : layout.cmds()) {
        if (!is_array(cmd.type)) {
            continue;
        }
        const std::uint64_t bytes =
            std::uint64_t{cmd.element_size} * count_max_of(*cmd.property, layout.limits());
        if (bytes > config.decode_allocation_bytes_max) {
            return Error{ErrorCode::LimitExceeded,
                         "net driver: layout of \"" + std::string(layout.name()) + "\": array \"" +
                             cmd.property->name + "\" may have " +
                             std::to_string(count_max_of(*cmd.property, layout.limits())) +
                             " elements of " + std::to_string(cmd.element_size) +
                             " bytes, which is more than decode_allocation_bytes_max; lower "
                             "array_count_max or raise that"};
        }
    }
    return {};
}

Status LayoutTable::add(const RepLayout& layout) {
    const std::string_view name = layout.name();
    if (layout.is_receive_only()) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: layout of \"" + std::string(name) +
                         "\": it is only read with (create_compatible); add that of create()"};
    }
    const auto position = std::lower_bound(layouts_.begin(), layouts_.end(), name, is_before);
    if (position != layouts_.end() && (*position)->type().name() == name) {
        return Error{ErrorCode::DuplicateName,
                     "net driver: there is a layout for \"" + std::string(name) + "\" already"};
    }
    layouts_.insert(position, &layout);
    return {};
}

Status LayoutTable::add_archetype(ArchetypeId id, const RepLayout& layout) {
    const std::string name(layout.name());
    const std::string what =
        "net driver: archetype " + std::to_string(id.value) + " of \"" + name + "\": ";
    if (id.value == 0) {
        return Error{ErrorCode::InvalidArgument, what + "0 is the archetype of the class itself"};
    }
    const RepLayout* of_class = find_by_name(name);
    if (of_class == nullptr) {
        return Error{ErrorCode::InvalidArgument, what + "no layout of the class was added"};
    }
    if (layout.is_receive_only() || of_class->fingerprint() != layout.fingerprint()) {
        return Error{ErrorCode::InvalidArgument, what + "its layout is not that of the class"};
    }
    const auto position =
        std::lower_bound(archetypes_.begin(), archetypes_.end(), id, has_lower_id);
    if (position != archetypes_.end() && position->id == id) {
        return Error{ErrorCode::DuplicateName, what + "there is one with that id already"};
    }
    if (of_class == &layout || !archetype_ids_.emplace(&layout, id).second) {
        return Error{ErrorCode::DuplicateName, what + "its layout was added already"};
    }
    archetypes_.insert(position, {id, &layout});
    return {};
}

std::uint32_t LayoutTable::number_of(const RepLayout& layout) const noexcept {
    const auto position =
        std::lower_bound(layouts_.begin(), layouts_.end(), layout.name(), is_before);
    const bool is_known =
        position != layouts_.end() && (*position)->fingerprint() == layout.fingerprint();
    return is_known ? static_cast<std::uint32_t>(position - layouts_.begin()) : no_number;
}

std::uint32_t LayoutTable::number_of_added(const RepLayout& layout) const noexcept {
    const std::uint32_t number = number_of(layout);
    const bool was_added =
        number != no_number && (layouts_[number] == &layout || archetype_ids_.contains(&layout));
    return was_added ? number : no_number;
}

ArchetypeId LayoutTable::archetype_of(const RepLayout& layout) const noexcept {
    const auto found = archetype_ids_.find(&layout);
    return found == archetype_ids_.end() ? ArchetypeId{} : found->second;
}

const RepLayout* LayoutTable::find_archetype(ArchetypeId id) const noexcept {
    const auto position =
        std::lower_bound(archetypes_.begin(), archetypes_.end(), id, has_lower_id);
    return position != archetypes_.end() && position->id == id ? position->layout : nullptr;
}

Status LayoutTable::check_array_growth(const NetConfig& config) const {
    for (const RepLayout* layout : layouts_) {
        if (Status status = replayout::check_array_growth(*layout, config); !status) {
            return status;
        }
    }
    return {};
}

Status LayoutTable::check_texts(const NetConfig& config) const {
    for (const RepLayout* layout : layouts_) {
        if (Status status = check_texts_of(*layout, config); !status) {
            return status;
        }
    }
    return {};
}

Digest128 LayoutTable::digest() const {
    Fingerprint fingerprint;
    fingerprint.add("replayout schema 1");
    for (const RepLayout* layout : layouts_) {
        fingerprint.add(layout->type().name());
        fingerprint.add(layout->fingerprint());
    }
    return fingerprint.digest();
}

LayoutId LayoutTable::id_of(const RepLayout& layout) noexcept {
    return {static_cast<std::uint32_t>(hash64(layout.type().name())),
            static_cast<std::uint32_t>(layout.fingerprint().low)};
}

std::size_t LayoutTable::write_ids(std::span<std::byte> room) const noexcept {
    BitWriter writer(room);
    for (const RepLayout* layout : layouts_) {
        if (writer.bits_left() < LayoutId::encoded_bytes * 8) {
            break;
        }
        write_layout_id(writer, id_of(*layout));
    }
    return writer.byte_count();
}

std::uint32_t LayoutTable::find_difference(std::span<const std::byte> ids,
                                           std::uint32_t layout_count) const noexcept {
    const std::size_t id_count = ids.size() / LayoutId::encoded_bytes;
    for (std::size_t i = 0; i < id_count; ++i) {
        const LayoutId theirs = read_layout_id(ids, i);
        const RepLayout* ours = find_by_hash(theirs.name_hash);
        if (ours == nullptr || id_of(*ours).fingerprint != theirs.fingerprint) {
            return theirs.name_hash;
        }
    }
    if (id_count < layout_count) {
        return 0;  // the rest of its list did not fit
    }
    for (const RepLayout* layout : layouts_) {
        const std::uint32_t ours = id_of(*layout).name_hash;
        bool is_known = false;
        for (std::size_t i = 0; i < id_count && !is_known; ++i) {
            is_known = read_layout_id(ids, i).name_hash == ours;
        }
        if (!is_known) {
            return ours;
        }
    }
    return 0;
}

const RepLayout* LayoutTable::find_by_name(std::string_view name) const noexcept {
    const auto position = std::lower_bound(layouts_.begin(), layouts_.end(), name, is_before);
    return position != layouts_.end() && (*position)->name() == name ? *position : nullptr;
}

bool LayoutTable::is_listed(const RepLayout& layout, std::span<const std::byte> ids) noexcept {
    const LayoutId ours = id_of(layout);
    for (std::size_t i = 0; i < ids.size() / LayoutId::encoded_bytes; ++i) {
        const LayoutId theirs = read_layout_id(ids, i);
        if (theirs.name_hash == ours.name_hash) {
            return theirs.fingerprint == ours.fingerprint;
        }
    }
    return false;
}

bool LayoutTable::is_named(std::uint32_t name_hash, std::span<const std::byte> ids) noexcept {
    bool is_found = false;
    for (std::size_t i = 0; i < ids.size() / LayoutId::encoded_bytes && !is_found; ++i) {
        is_found = read_layout_id(ids, i).name_hash == name_hash;
    }
    return is_found;
}

const RepLayout* LayoutTable::find_by_hash(std::uint32_t name_hash) const noexcept {
    for (const RepLayout* layout : layouts_) {
        if (id_of(*layout).name_hash == name_hash) {
            return layout;
        }
    }
    return nullptr;
}

}  // namespace replayout
