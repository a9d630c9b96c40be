// SPDX-License-Identifier: MIT
//
// Transports where descriptors have run out.
#include "support/few_descriptors.h"

#include <replayout/reflection/error.h>

#include <cstdint>
#include <string>

#include "support/catch.h"
#include "transports/transport_ends.h"

#if REPLAYOUT_TESTS_HAVE_FEW_DESCRIPTORS

namespace replayout::test {
namespace {

/// What `make` gives with none left, one, two, and so on, until it is a transport.
template <typename Make>
void check_is_refused_until_there_are_enough(Make make) {
    make();  // what is opened once in a process
    for (int left = 0; left < 20; ++left) {
        CAPTURE(left);
        auto made = [&] {
            const FewDescriptors few(left);
            return make();
        }();
        if (made.has_value()) {
            CHECK(left > 0);
            return;
        }
        CHECK(made.error().code == ErrorCode::InvalidArgument);
        CHECK(made.error().message.find(" address \"127.0.0.1:") != std::string::npos);
    }
    FAIL("it takes more than 20 descriptors");
}

TEST_CASE("Transports: without a descriptor for their socket they are refused with a sentence",
          "[transport]") {
#if REPLAYOUT_TESTS_HAVE_UDP
    check_is_refused_until_there_are_enough([] { return UdpTransport::listen("127.0.0.1:0"); });
    check_is_refused_until_there_are_enough([] { return UdpTransport::connect("127.0.0.1:7"); });
#endif
#if REPLAYOUT_TESTS_HAVE_ENET
    check_is_refused_until_there_are_enough([] { return EnetTransport::listen("127.0.0.1:0"); });
    check_is_refused_until_there_are_enough([] { return EnetTransport::connect("127.0.0.1:7"); });
#endif
#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
    check_is_refused_until_there_are_enough(
        [] { return WebSocketTransport::listen("127.0.0.1:0"); });
    check_is_refused_until_there_are_enough(
        [] { return WebSocketTransport::connect("127.0.0.1:7"); });
#endif
}

}  // namespace
}  // namespace replayout::test

#endif
