// SPDX-License-Identifier: MIT
//
// How an address is proved before a server keeps anything of it. The first byte of a datagram tells
// which it is.
//
//     0  data        token, what it is for                     both ways; of UDP alone
//     1  request     client, cookie, zeros up to 1,000 bytes   client to server
//     2  challenge   client, cookie                            server to client
//     3  welcome     client, token                             server to client
//
// `client`, `cookie` and `token` are 64 bits, lowest byte first. A client asks with cookie 0, is
// sent a cookie, asks with that, and is welcome; until then it asks again and again. A server
// answers with less than it was sent, and keeps nothing before a cookie came back.
//
// Who is welcome knows the token, and so does nobody who cannot read what the two send each other:
// by that the data of a peer is told from what others send in its name.
#pragma once

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
    std::uint64_t cookie = 0;  ///< of Welcome: the token

    friend bool operator==(const AddressHandshake&, const AddressHandshake&) = default;
};

/// Before the bytes of Data.
inline constexpr std::size_t address_data_head_bytes = 9;
/// Into the first bytes of `buffer`.
void write_address_data_head(std::uint64_t token, std::span<std::byte> buffer);
/// The token of bytes that begin as Data does; nothing: they do not, or are too short.
[[nodiscard]] std::optional<std::uint64_t> read_address_data_head(std::span<const std::byte> bytes);

/// The bytes, in `buffer`, which has room for address_request_bytes.
[[nodiscard]] std::span<const std::byte> write_address_handshake(const AddressHandshake& handshake,
                                                                 std::span<std::byte> buffer);
/// Of bytes that a stranger sent; nothing: they are no such message.
[[nodiscard]] std::optional<AddressHandshake> read_address_handshake(
    std::span<const std::byte> bytes);

}  // namespace replayout
