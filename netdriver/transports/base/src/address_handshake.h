// SPDX-License-Identifier: MIT
//
// How an address is proved before a server keeps anything of it. The first byte of a datagram tells
// which it is.
//
//     0  data        what it is for                            both ways; of UDP alone
//     1  request     client, cookie, zeros up to 1,000 bytes   client to server
//     2  challenge   client, cookie                            server to client
//     3  welcome     client                                    server to client
//
// `client` and `cookie` are 64 bits, lowest byte first. A client asks with cookie 0, is sent a
// cookie, asks with that, and is welcome; until then it asks again and again. A server answers with
// less than it was sent, and keeps nothing before a cookie came back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

enum class AddressMessage : std::uint8_t { Data, Request, Challenge, Welcome };

/// So that an answer is never larger, whoever asks in another's name.
inline constexpr std::size_t address_request_bytes = 1'000;
inline constexpr std::size_t address_answer_bytes_max = 17;

/// All but Data.
struct AddressHandshake {
    AddressMessage message = AddressMessage::Request;
    std::uint64_t client = 0;  ///< a number that the client chose, so that answers are its own
    std::uint64_t cookie = 0;  ///< of Request and Challenge

    friend bool operator==(const AddressHandshake&, const AddressHandshake&) = default;
};

/// The bytes, in `buffer`, which has room for address_request_bytes.
[[nodiscard]] std::span<const std::byte> write_address_handshake(const AddressHandshake& handshake,
                                                                 std::span<std::byte> buffer);
/// Of bytes that a stranger sent; nothing: they are no such message.
[[nodiscard]] std::optional<AddressHandshake> read_address_handshake(
    std::span<const std::byte> bytes);

}  // namespace replayout
