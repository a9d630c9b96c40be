// SPDX-License-Identifier: MIT
#include "naive_replicator.h"

#include <replayout/reflection/diagnostics.h>

#include <bit>
#include <cstring>

namespace replayout::bench {

namespace {

// Everything before the name. Bytes of padding may differ, which costs a look at each property and
// sends nothing.
constexpr std::size_t plain_bytes = offsetof(Pawn, owner) + sizeof(Pawn::owner);

[[nodiscard]] bool is_equal(const Pawn& pawn, const Pawn& shadow) noexcept {
    return std::memcmp(&pawn, &shadow, plain_bytes) == 0 && pawn.name == shadow.name;
}

/// Writes what differs behind a place for index and mask, and keeps it.
class RecordWriter {
  public:
    explicit RecordWriter(std::byte* record) noexcept
        : record_(record), end_(record + head_bytes) {}

    /// Bits are compared: of the numbers, two zeros would be equal and a NaN never.
    template <typename T>
    void write_plain(const T& value, T& kept) noexcept {
        if (std::memcmp(&value, &kept, sizeof(T)) != 0) {
            kept = value;
            append(&value, sizeof(T));
            mask_ |= bit_;
        }
        bit_ <<= 1;
    }

    void write_string(const std::string& text, std::string& kept) {
        if (text != kept) {
            REPLAYOUT_ASSERT(text.size() <= 255);
            kept = text;
            const auto length = static_cast<std::uint8_t>(text.size());
            append(&length, sizeof(length));
            append(text.data(), length);
            mask_ |= bit_;
        }
        bit_ <<= 1;
    }

    [[nodiscard]] std::uint32_t value_count() const noexcept {
        return static_cast<std::uint32_t>(std::popcount(mask_));
    }

    /// Returns the size in bytes.
    [[nodiscard]] std::size_t finish(std::uint32_t index) noexcept {
        const auto mask = static_cast<std::uint16_t>(mask_);
        std::memcpy(record_, &index, sizeof(index));
        std::memcpy(record_ + sizeof(index), &mask, sizeof(mask));
        return static_cast<std::size_t>(end_ - record_);
    }

  private:
    static constexpr std::size_t head_bytes = 6;

    void append(const void* bytes, std::size_t size) noexcept {
        std::memcpy(end_, bytes, size);
        end_ += size;
    }

    std::byte* record_;
    std::byte* end_;
    std::uint32_t mask_ = 0;
    std::uint32_t bit_ = 1;
};

}  // namespace

NaiveReplicator::NaiveReplicator(std::uint32_t pawn_count, std::uint32_t connection_count,
                                 Transport& transport)
    : transport_(transport), connections_(connection_count) {
    for (std::uint32_t i = 0; i < connection_count; ++i) {
        connections_[i].peer = PeerId{i + 2};
        connections_[i].shadows.resize(pawn_count);
    }
}

void NaiveReplicator::replicate(std::span<const Pawn> pawns) {
    for (Connection& connection : connections_) {
        REPLAYOUT_ASSERT(pawns.size() == connection.shadows.size());
        for (std::uint32_t index = 0; index < pawns.size(); ++index) {
            Pawn& shadow = connection.shadows[index];
            if (!is_equal(pawns[index], shadow)) {
                write_record(connection, index, pawns[index], shadow);
            }
        }
        flush(connection);
    }
}

void NaiveReplicator::write_record(Connection& connection, std::uint32_t index, const Pawn& pawn,
                                   Pawn& shadow) {
    std::byte* const record = connection.packet.data() + connection.packet_bytes;
    RecordWriter writer(record);
    writer.write_plain(pawn.px, shadow.px);
    writer.write_plain(pawn.py, shadow.py);
    writer.write_plain(pawn.pz, shadow.pz);
    writer.write_plain(pawn.qx, shadow.qx);
    writer.write_plain(pawn.qy, shadow.qy);
    writer.write_plain(pawn.qz, shadow.qz);
    writer.write_plain(pawn.qw, shadow.qw);
    writer.write_plain(pawn.vx, shadow.vx);
    writer.write_plain(pawn.vy, shadow.vy);
    writer.write_plain(pawn.vz, shadow.vz);
    writer.write_plain(pawn.health, shadow.health);
    writer.write_plain(pawn.state, shadow.state);
    writer.write_plain(pawn.ammo, shadow.ammo);
    writer.write_plain(pawn.owner, shadow.owner);
    writer.write_string(pawn.name, shadow.name);
    if (writer.value_count() == 0) {
        return;
    }
    const std::size_t record_bytes = writer.finish(index);
    values_written_ += writer.value_count();
    if (connection.packet_bytes + record_bytes > packet_bytes_max) {
        flush(connection);
        std::memmove(connection.packet.data(), record, record_bytes);
    }
    connection.packet_bytes += record_bytes;
}

void NaiveReplicator::flush(Connection& connection) {
    if (connection.packet_bytes > 0) {
        transport_.send(connection.peer,
                        std::span(connection.packet).first(connection.packet_bytes));
        connection.packet_bytes = 0;
    }
}

}  // namespace replayout::bench
