// SPDX-License-Identifier: MIT
//
// The bytes by which an address is proved (docs/wire_format.md, section 17).
#include "address_handshake.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {
namespace {

[[nodiscard]] Bytes written(const AddressHandshake& handshake) {
    std::array<std::byte, address_request_bytes> buffer;
    buffer.fill(std::byte{0xAA});
    const std::span<const std::byte> bytes = write_address_handshake(handshake, buffer);
    return {bytes.begin(), bytes.end()};
}

TEST_CASE("Address handshake: the bytes of the document", "[transport]") {
    CHECK(written({AddressMessage::Challenge, 5, 0x0123'4567'89ab'cdef}) ==
          make_bytes(2, 5, 0, 0, 0, 0, 0, 0, 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 1));
    CHECK(written({AddressMessage::Welcome, 5, 0xfedc'ba98'7654'3210}) ==
          make_bytes(3, 5, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe));
    Bytes head(9);
    write_address_data_head(0xfedc'ba98'7654'3210, head);
    CHECK(head == make_bytes(0, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe));
    Bytes request =
        make_bytes(1, 5, 0, 0, 0, 0, 0, 0, 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 1);
    request.resize(1'000);
    CHECK(written({AddressMessage::Request, 5, 0x0123'4567'89ab'cdef}) == request);
}

TEST_CASE("Address handshake: what is written is read", "[transport]") {
    for (const AddressMessage message :
         {AddressMessage::Request, AddressMessage::Challenge, AddressMessage::Welcome}) {
        const AddressHandshake handshake{message, 0x0102'0304'0506'0708, 0xFEDC'BA98'7654'3210};
        CHECK(read_address_handshake(written(handshake)) == handshake);
        const auto other = message == AddressMessage::Request ? AddressMessage::Challenge
                                                              : AddressMessage::Request;
        CHECK_FALSE(handshake == AddressHandshake{other, handshake.client, handshake.cookie});
        CHECK_FALSE(handshake == AddressHandshake{message, 1, handshake.cookie});
        CHECK_FALSE(handshake == AddressHandshake{message, handshake.client, 1});
    }
}

TEST_CASE("Address handshake: data begins with its token, or is none", "[transport]") {
    Bytes bytes = make_bytes(0, 1, 2, 3, 4, 5, 6, 7, 8, 42);
    CHECK(read_address_data_head(bytes) == 0x0807'0605'0403'0201);
    bytes.resize(9);  // of no bytes at all
    CHECK(read_address_data_head(bytes) == 0x0807'0605'0403'0201);
    bytes.resize(8);
    CHECK_FALSE(read_address_data_head(bytes).has_value());
    CHECK_FALSE(read_address_data_head({}).has_value());
    bytes = make_bytes(1, 1, 2, 3, 4, 5, 6, 7, 8, 42);
    CHECK_FALSE(read_address_data_head(bytes).has_value());
}

TEST_CASE("Address handshake: other lengths, kinds and paddings are none", "[transport]") {
    for (const AddressMessage message :
         {AddressMessage::Request, AddressMessage::Challenge, AddressMessage::Welcome}) {
        Bytes bytes = written({message, 1, 0});
        bytes.push_back(std::byte{0});
        CHECK_FALSE(read_address_handshake(bytes).has_value());
        bytes.resize(bytes.size() - 2);
        CHECK_FALSE(read_address_handshake(bytes).has_value());
    }
    CHECK_FALSE(read_address_handshake({}).has_value());
    for (const int kind : {0, 4, 255}) {
        Bytes bytes(17);
        bytes[0] = static_cast<std::byte>(kind);
        CHECK_FALSE(read_address_handshake(bytes).has_value());
    }
    for (const std::size_t place : {17u, 500u, 999u}) {
        Bytes bytes = written({AddressMessage::Request, 1, 2});
        bytes[place] = std::byte{1};
        CHECK_FALSE(read_address_handshake(bytes).has_value());
    }
}

}  // namespace
}  // namespace replayout::test
