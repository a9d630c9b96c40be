// SPDX-License-Identifier: MIT
//
// Addresses as the game writes them.
#include "address_text.h"

#include <replayout/reflection/error.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

TEST_CASE("Address text: a host, without its brackets, and a port", "[transport]") {
    struct Row {
        std::string_view text;
        std::string_view host;
        std::uint16_t port;
    };
    for (const Row& row : {
             Row{"1.2.3.4:7777", "1.2.3.4", 7'777},
             Row{"[::1]:0", "::1", 0},
             Row{"[]:65535", "", 65'535},
             Row{":7", "", 7},
             Row{"[:7", "[", 7},
             Row{"[::1:7", "[::1", 7},
             Row{"::1]:7", "::1]", 7},
         }) {
        CAPTURE(row.text);
        const auto parts = split_address("UDP", row.text);
        REQUIRE(parts.has_value());
        CHECK(parts->host == row.host);
        CHECK(parts->port == row.port);
    }
}

TEST_CASE("Address text: without a port of 0 to 65535 it is refused with a sentence",
          "[transport]") {
    for (const std::string_view text :
         {"", "host", "[::1]", "1.2.3.4:", "1.2.3.4:-1", "1.2.3.4:65536", "1.2.3.4:7x"}) {
        CAPTURE(text);
        const auto parts = split_address("UDP", text);
        REQUIRE_FALSE(parts.has_value());
        CHECK(parts.error().code == ErrorCode::InvalidArgument);
        CHECK(parts.error().message.find("UDP address \"" + std::string(text) + "\": ") == 0);
    }
}

}  // namespace
}  // namespace replayout::test
