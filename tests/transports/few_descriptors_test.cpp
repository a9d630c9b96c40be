// SPDX-License-Identifier: MIT
//
// Transports where descriptors have run out.
#include "support/types/few_descriptors.h"

#include <replayout/netdriver/time.h>
#include <replayout/reflection/error.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "transports/transport_ends.h"
#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
#include "transports/caller.h"
#endif

#if REPLAYOUT_TESTS_HAVE_FEW_DESCRIPTORS && REPLAYOUT_TESTS_HAVE_SOCKETS

namespace replayout::test {
namespace {

/// What `make` gives with none left, one, two, and so on, until it is a transport.
template <typename Make>
void check_is_refused_until_there_are_enough(ErrorCode code, Make make) {
    (void)make();  // what is opened once in a process
    for (int left = 0; left < 20; ++left) {
        CAPTURE(left);
        auto made = [&] {
            const FewDescriptors few(left);
            return make();
        }();
        if (made.has_value()) {
            CHECK(left > 0);
            (*made)->tick(NetTime{});
            CHECK((*made)->stats().send_errors == 0);  // nor is it one that cannot work
            return;
        }
        CHECK(made.error().code == code);
        CHECK(made.error().message.find(" address \"127.0.0.1:") != std::string::npos);
    }
    FAIL("it takes more than 20 descriptors");
}

TEST_CASE("Transports: without a descriptor for their socket they are refused with a sentence",
          "[transport]") {
#if REPLAYOUT_TESTS_HAVE_UDP
    check_is_refused_until_there_are_enough(ErrorCode::LimitExceeded,
                                            [] { return UdpTransport::listen("127.0.0.1:0"); });
    check_is_refused_until_there_are_enough(ErrorCode::LimitExceeded,
                                            [] { return UdpTransport::connect("127.0.0.1:7"); });
#endif
#if REPLAYOUT_TESTS_HAVE_ENET
    // ENet does not tell why.
    check_is_refused_until_there_are_enough(ErrorCode::InvalidArgument,
                                            [] { return EnetTransport::listen("127.0.0.1:0"); });
    check_is_refused_until_there_are_enough(ErrorCode::InvalidArgument,
                                            [] { return EnetTransport::connect("127.0.0.1:7"); });
#endif
#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
    check_is_refused_until_there_are_enough(
        ErrorCode::LimitExceeded, [] { return WebSocketTransport::listen("127.0.0.1:0"); });
    check_is_refused_until_there_are_enough(
        ErrorCode::LimitExceeded, [] { return WebSocketTransport::connect("127.0.0.1:7"); });
#endif
}

#if REPLAYOUT_TESTS_HAVE_WEBSOCKET
TEST_CASE("WebSocketTransport: whom it has no descriptor for waits until there is one",
          "[transport][websocket]") {
    auto server = required(WebSocketTransport::listen("127.0.0.1:0"));
    auto client = required(WebSocketTransport::connect(server->local_address()));
    Caller caller(server->local_address());
    caller.say(browser_request());
    NetTime now;
    {
        const FewDescriptors none(0);
        for (std::uint64_t i = 1; i <= 5; ++i) {  // asks once in a tick, and not for ever
            now = now.plus_milliseconds(1);
            server->tick(now);
            CHECK(server->stats().dropped_full == i);
            client->tick(now);
        }
    }
    CHECK(server->stats().peers_welcomed == 0);
    for (int i = 0; i < 10'000 && server->peer_count() < 2; ++i) {
        now = now.plus_milliseconds(1);
        server->tick(now);
        client->tick(now);
    }
    CHECK(server->peer_count() == 2);
    CHECK(client->is_connected());
}
#endif

}  // namespace
}  // namespace replayout::test

#endif
