// SPDX-License-Identifier: MIT
#include "behaviour_section.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/printable.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/syncvar/behaviour_type.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_reader.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/network_writer.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace replayout::syncvar {

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
            source->behaviour != nullptr ? source->behaviour->initial_section() : source->last;
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

}  // namespace detail

namespace {

/// Of a reader that did not read what there is, or that refused it.
[[nodiscard]] std::string describe_misread(const NetworkReader& reader) {
    if (reader.failed()) {
        return std::string(to_string(reader.error()));
    }
    return reader.bytes_left() != 0 ? std::to_string(reader.bytes_left()) + " bytes left"
                                    : "on_deserialize() says so";
}

}  // namespace

void NetworkBehaviour::keep_last_section() {
    detail::BehaviourSection& section = this->section();
    section.initial_flush = 0;  // as it is now
    section.state.source->last = initial_section();
}

detail::SectionParameters& NetworkBehaviour::initial_section() {
    detail::BehaviourSection& section = this->section();
    const NetworkServer* server = identity_->server_;
    if (server == nullptr || section.initial_flush == server->flush_number_) {
        return section.initial;
    }
    // Of its own, as several objects may be written at once.
    const auto room = std::make_unique_for_overwrite<std::byte[]>(detail::section_bytes_max);
    NetworkWriter writer({room.get(), detail::section_bytes_max});
    (void)on_serialize(writer, true);
    const bool was_missing = std::exchange(section.initial.is_missing, writer.failed());
    section.initial.bytes.clear();
    section.initial_flush = server->flush_number_;
    if (!writer.failed()) {
        section.initial.bytes.assign(writer.bytes().begin(), writer.bytes().end());
    } else if (!was_missing) {
        // Once, and not by a PeerLog: several may be written at once.
        log(LogLevel::Error, printable(detail::describe_writer(type_->name, writer)));
    }
    return section.initial;
}

void NetworkBehaviour::section_received(const detail::SectionParameters& section,
                                        bool initial_state) {
    if (section.is_missing) {
        return;
    }
    NetworkReader reader(section.bytes);
    const bool is_read = on_deserialize(reader, initial_state);
    if (!is_read || reader.failed() || reader.bytes_left() != 0) {
        section_misread("behaviour \"" + type_->name + "\" (component " +
                        std::to_string(component_index_) +
                        ") misread its section: " + describe_misread(reader));
    }
}

}  // namespace replayout::syncvar
