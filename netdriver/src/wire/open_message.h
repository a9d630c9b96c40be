// SPDX-License-Identifier: MIT
//
// What an open says of its object (docs/wire_format.md, "The channel of an object").
//
//     packed      network id
//     packed      class number
//     packed      facts: bits 0 to 2 the receiver's role, the others say what follows
//     ...         the spawn record: archetype, outer, stable name, location, rotation, scale,
//                 velocity
//
// Ids and facts are of one receiver; the record is the same for all, and encoded once.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/reflection/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace replayout {

/// Archetype, outer, stable name; location, scale and velocity; rotation.
inline constexpr std::size_t spawn_record_bytes_max =
    5 + 10 + (1 + stable_name_bytes_max) + 3 * 12 + 16;

/// The spawn record as it travels.
struct SpawnRecord {
    explicit SpawnRecord(MemoryResource* resource) : bytes(Allocator<std::byte>(resource)) {}

    std::uint32_t facts = 0;  ///< of the open: which parts there are
    Vector<std::byte> bytes;  ///< takes no memory where there are none
};

/// Its numbers are finite, and its name, if it has one, is UTF-8 of up to stable_name_bytes_max.
[[nodiscard]] bool is_valid(const SpawnParameters& parameters) noexcept;

/// `outer` null: an object of its own. The parameters are valid.
void encode_spawn_record(ArchetypeId archetype, NetGUID outer, const SpawnParameters& parameters,
                         SpawnRecord& record);

/// Empty where there is none. Lies in the record.
[[nodiscard]] std::string_view stable_name_of(const SpawnRecord& record) noexcept;

/// The first byte of a bunch with "message".
enum class ObjectMessageKind : std::uint8_t {
    Role = 1,            ///< what the receiver is to the object: packed role bits
    PartsDestroyed = 2,  ///< stable names of parts that are no more, up to the end
};

/// Bits 0 to 2 of the facts.
[[nodiscard]] std::uint32_t role_bits(const ObjectRole& role) noexcept;
/// False: no role is written so.
[[nodiscard]] bool read_role(std::uint64_t bits, ObjectRole& role) noexcept;

class OpenPayload {
  public:
    OpenPayload(NetGUID guid, std::uint32_t layout_number, const ObjectRole& role,
                const SpawnRecord* record) noexcept;

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(memory_).first(size_);
    }

  private:
    // Network id, class number, facts.
    static constexpr std::size_t bytes_max = 10 + 5 + 2 + spawn_record_bytes_max;
    static_assert(bytes_max <= fragment_bytes(256), "no open is cut, even in the smallest packets");

    std::array<std::byte, bytes_max> memory_;
    std::size_t size_ = 0;
};

struct OpenMessage {
    NetGUID guid;
    std::uint64_t layout_number = 0;
    ObjectRole role;
    ArchetypeId archetype;
    NetGUID outer;               ///< null of an object of its own
    SpawnParameters parameters;  ///< the name lies in the message
};

/// Whether the bytes are exactly an open. Numbers and ids are not looked at, but that the id is
/// one.
[[nodiscard]] bool read_open(std::span<const std::byte> message, OpenMessage& open) noexcept;

}  // namespace replayout
