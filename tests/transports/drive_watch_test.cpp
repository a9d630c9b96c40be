// SPDX-License-Identifier: MIT
#include "drive_watch.h"

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"

namespace replayout::test {

TEST_CASE("DriveWatch: a transport that is asked and never ticked logs that once",
          "[transport][drive_watch]") {
    DriveWatch watch;
    const LogSpy log(LogLevel::Warning);
    const auto ask = [&] { (void)watch.answered(Transport::nothing_received, "A transport"); };
    for (int i = 0; i < 1'000; ++i) {
        watch.ticked();
        ask();
        ask();
    }
    watch.ticked();
    for (std::uint32_t i = 0; i < DriveWatch::vain_asks_max - 1; ++i) {
        ask();
    }
    watch.ticked();
    for (std::uint32_t i = 0; i < DriveWatch::vain_asks_max - 1; ++i) {
        ask();
    }
    CHECK(LogSpy::messages().empty());
    for (int i = 0; i < 10'000; ++i) {
        CHECK(watch.answered(7, "A transport") == 7);
        ask();
    }
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0] ==
          "A transport: receive() was called 256 times and tick() not once between: call tick(now) "
          "of the transport before each tick_dispatch()");
}

}  // namespace replayout::test
