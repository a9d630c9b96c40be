// SPDX-License-Identifier: MIT
#include "address_handshake.h"

#include <replayout/reflection/diagnostics.h>

#include "little_endian.h"

#include <algorithm>

namespace replayout {

namespace {

[[nodiscard]] std::size_t size_of(AddressMessage message) {
    switch (message) {
        case AddressMessage::Request:
            return address_request_bytes;
        case AddressMessage::Challenge:
        case AddressMessage::Welcome:
            return 1 + 2 * number_bytes;
        case AddressMessage::Data:
            break;
    }
    return 0;
}

}  // namespace

void write_address_data_head(std::uint64_t token, std::span<std::byte> buffer) {
    static_assert(address_data_head_bytes == 1 + number_bytes);
    buffer[0] = static_cast<std::byte>(AddressMessage::Data);
    write_number(buffer.subspan(1), token);
}

std::optional<std::uint64_t> read_address_data_head(std::span<const std::byte> bytes) {
    if (bytes.size() < address_data_head_bytes ||
        bytes[0] != static_cast<std::byte>(AddressMessage::Data)) {
        return std::nullopt;
    }
    return read_number(bytes.subspan(1));
}

std::span<const std::byte> write_address_handshake(const AddressHandshake& handshake,
                                                   std::span<std::byte> buffer) {
    REPLAYOUT_ASSERT(handshake.message != AddressMessage::Data);
    const std::span<std::byte> bytes = buffer.first(size_of(handshake.message));
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    bytes[0] = static_cast<std::byte>(handshake.message);
    write_number(bytes.subspan(1), handshake.client);
    write_number(bytes.subspan(1 + number_bytes), handshake.cookie);
    return bytes;
}

std::optional<AddressHandshake> read_address_handshake(std::span<const std::byte> bytes) {
    if (bytes.empty() || bytes[0] == std::byte{0} || bytes[0] > std::byte{3}) {
        return std::nullopt;
    }
    AddressHandshake handshake;
    handshake.message = static_cast<AddressMessage>(bytes[0]);
    if (bytes.size() != size_of(handshake.message)) {
        return std::nullopt;
    }
    if (handshake.message == AddressMessage::Request) {
        const std::span<const std::byte> padding = bytes.subspan(1 + 2 * number_bytes);
        if (std::any_of(padding.begin(), padding.end(),
                        [](std::byte byte) { return byte != std::byte{0}; })) {
            return std::nullopt;
        }
    }
    handshake.client = read_number(bytes.subspan(1));
    handshake.cookie = read_number(bytes.subspan(1 + number_bytes));
    return handshake;
}

}  // namespace replayout
