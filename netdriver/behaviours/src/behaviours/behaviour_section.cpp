// SPDX-License-Identifier: MIT
#include "behaviour_section.h"

#include "inside.h"
#include "server_parts.h"

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/printable.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace replayout {

namespace detail {

namespace {

void serialize_bytes(NetArchive& archive, std::span<std::byte> bytes) {
    constexpr std::size_t step = sizeof(std::uint64_t);
    for (std::size_t begin = 0; begin < bytes.size(); begin += step) {
        const std::span<std::byte> part =
            bytes.subspan(begin, std::min(step, bytes.size() - begin));
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < part.size(); ++i) {
            bits |= std::to_integer<std::uint64_t>(part[i]) << (8 * i);
        }
        archive.serialize_bits(bits, static_cast<std::uint32_t>(8 * part.size()));
        for (std::size_t i = 0; archive.is_loading() && i < part.size(); ++i) {
            part[i] = static_cast<std::byte>(bits >> (8 * i));
        }
    }
}

/// Names what a reader did not read, or refused.
[[nodiscard]] std::string describe_misread(const NetworkReader& reader) {
    if (reader.failed()) {
        return std::string(to_string(reader.error()));
    }
    return reader.bytes_left() != 0 ? std::to_string(reader.bytes_left()) + " bytes left"
                                    : "on_deserialize() says so";
}

}  // namespace

void serialize_counted_bytes(NetArchive& archive, std::vector<std::byte>& bytes,
                             std::size_t bytes_max, bool& ok) {
    std::uint64_t count = bytes.size();
    archive.serialize_packed_uint(count);
    if (archive.is_loading()) {
        if (count > bytes_max || !archive.spend(count, count)) {
            archive.fail();
            ok = false;
            return;
        }
        bytes.resize(static_cast<std::size_t>(count));
    }
    serialize_bytes(archive, bytes);
    ok = !archive.failed();
}

bool SectionParameters::net_serialize(NetArchive& archive, PackageMap* /*map*/, bool& ok) {
    archive.serialize(number);
    archive.serialize(is_missing);
    serialize_counted_bytes(archive, bytes, section_bytes_max, ok);
    return true;
}

bool SectionState::net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
    if (archive.is_saving() && source != nullptr) {
        SectionParameters& written =
            source->component != nullptr
                ? source->component->section().write_initial(*source->component)
                : source->last;
        written.number = section.number;
        return written.net_serialize(archive, map, ok);
    }
    return section.net_serialize(archive, map, ok);
}

void add_section_types(TypeRegistry& registry) {
    const bool are_added =
        struct_builder<SectionState>(registry, "BehaviourSection").build().has_value() &&
        struct_builder<SectionParameters>(registry, "BehaviourSectionParameters")
            .build()
            .has_value() &&
        struct_builder<SectionCall>(registry, "BehaviourSectionCall")
            .property<&SectionCall::section>("section")
            .build()
            .has_value();
    REPLAYOUT_ASSERT(are_added);
    (void)are_added;
}

std::string describe_writer(const std::string& name, const NetworkWriter& writer) {
    return "behaviour \"" + name +
           "\" cannot write its section: " + std::string(to_string(writer.error()));
}

SectionParameters& BehaviourSection::write_initial(ObjectComponent& component) {
    const ServerParts* server = Inside::of(component.identity()).server.end;
    if (server == nullptr || initial_flush == server->flush_number) {
        return initial;
    }
    // Of its own, as several objects may be written at once.
    const auto room = std::make_unique_for_overwrite<std::byte[]>(section_bytes_max);
    NetworkWriter writer({room.get(), section_bytes_max});
    (void)Inside::behaviour_of(component).on_serialize(writer, true);
    const bool was_missing = std::exchange(initial.is_missing, writer.failed());
    initial.bytes.clear();
    initial_flush = server->flush_number;
    if (!writer.failed()) {
        initial.bytes.assign(writer.bytes().begin(), writer.bytes().end());
    } else if (!was_missing) {
        // Once, and not by a PeerLog: several may be written at once.
        log(LogLevel::Error, printable(describe_writer(component.type().name, writer)));
    }
    return initial;
}

void BehaviourSection::changes_written(std::span<const std::byte> bytes) {
    waiting.section.number = state.section.number++;
    initial_flush = 0;  // what was written in this flush lacks the change
    waiting.section.bytes.assign(bytes.begin(), bytes.end());
}

void BehaviourSection::keep_last(ObjectComponent& component) {
    initial_flush = 0;  // as it is now
    state.source->last = write_initial(component);
}

void BehaviourSection::begin_anew(ObjectComponent& component) {
    // It differs from that of the prefab, so a client for which the object opens is sent it.
    if (state.source != nullptr) {
        state.source->component = nullptr;  // a shadow may keep it
    }
    *this = {};
    state.source = std::make_shared<SectionSource>();
    state.source->component = &component;
    state.section.number = 1;
}

std::string read_section(ObjectComponent& component, const SectionParameters& section,
                         bool initial_state) {
    if (section.is_missing) {
        return {};
    }
    NetworkReader reader(section.bytes);
    const bool is_read = Inside::behaviour_of(component).on_deserialize(reader, initial_state);
    if (is_read && !reader.failed() && reader.bytes_left() == 0) {
        return {};
    }
    return "behaviour \"" + component.type().name + "\" (component " +
           std::to_string(component.index()) + ") misread its section: " + describe_misread(reader);
}

}  // namespace detail

}  // namespace replayout
