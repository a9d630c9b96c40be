// SPDX-License-Identifier: MIT
//
// Limits of which one makes another useless or impossible: listen() and connect() refuse them, with
// a sentence that names the limit, and nothing has begun.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/test_layout.h"
#include "support/worlds/test_world.h"

namespace replayout::test {
namespace {

struct Letter {
    std::string text;
    std::vector<std::uint64_t> numbers;
};

[[nodiscard]] Result<const Type*> build_letter(TypeRegistry& registry) {
    return class_builder<Letter>(registry, "Letter")
        .property<&Letter::text>()
        .property<&Letter::numbers>()
        .build();
}

struct Contradiction {
    const char* first;   ///< what the sentence names
    const char* second;  ///< ... and the other limit, or the value that it asks for
    void (*set)(NetDriverSettings& settings, RepLimits& limits);
    bool is_of_servers = false;  ///< a client may have it: arrays of its server may be short
};

constexpr Contradiction contradictions[] = {
    {"reliable_waiting_bytes_max", "131072 to 67108864, as bunch_bytes_max says",
     [](NetDriverSettings& settings, RepLimits&) {
         settings.config.bunch_bytes_max = 131'072;
         settings.config.reliable_waiting_bytes_max = 131'071;
     }},
    {"probe_ms", "1 to 200, as probe_max_ms says",
     [](NetDriverSettings& settings, RepLimits&) {
         settings.config.probe_ms = 201;
         settings.config.probe_max_ms = 200;
     }},
    {"probe_max_ms", "1000, as keep_alive_ms says",
     [](NetDriverSettings& settings, RepLimits&) {
         settings.config.probe_max_ms = 1'001;
         settings.config.keep_alive_ms = 1'000;
     }},
    {"keep_alive_ms", "1 to 4999, as timeout_ms says",
     [](NetDriverSettings& settings, RepLimits&) {
         settings.config.keep_alive_ms = 5'000;
         settings.config.timeout_ms = 5'000;
     }},
    {"RepLimits::string_bytes_max", "bunch_bytes_max",
     [](NetDriverSettings& settings, RepLimits& limits) {
         limits.string_bytes_max = 4'097;
         settings.config.bunch_bytes_max = 4'096;
     }},
    {"RepLimits::string_bytes_max", "decode_allocation_bytes_max",
     [](NetDriverSettings& settings, RepLimits& limits) {
         limits.string_bytes_max = 4'097;
         limits.array_count_max = 8;
         settings.config.decode_allocation_bytes_max = 4'096;
     }},
    {"RepLimits::string_bytes_max", "dynamic_bytes_max",
     [](NetDriverSettings& settings, RepLimits& limits) {
         limits.string_bytes_max = 4'097;
         limits.array_count_max = 8;
         settings.config.dynamic_bytes_max = 4'096;
     }},
    {"array \"numbers\"", "decode_allocation_bytes_max",
     [](NetDriverSettings& settings, RepLimits& limits) {
         limits.string_bytes_max = 64;
         limits.array_count_max = 1'000;
         settings.config.decode_allocation_bytes_max = 7'999;
     },
     true},
};

/// The error of listen() or connect() of a driver with these limits.
[[nodiscard]] Status begin(const Contradiction& contradiction, bool is_server) {
    NetDriverSettings settings;
    RepLayoutOptions options;
    contradiction.set(settings, options.limits);
    const TestLayout layout(build_letter, options);
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    TestWorld world(1);
    NetDriver driver(settings, network.endpoint(PeerId{2}), world);
    if (const Status added = driver.add_layout(*layout); !added) {
        return added;
    }
    const Status status = is_server ? driver.listen() : driver.connect(PeerId{1}, NetTime());
    CHECK(driver.stats().packets_sent == 0);
    return status;
}

}  // namespace

TEST_CASE("Limits: those that contradict each other are refused at both ends, by name",
          "[netdriver][limits][net_config]") {
    for (const Contradiction& contradiction : contradictions) {
        for (const bool is_server : {true, false}) {
            INFO(contradiction.first << ", " << contradiction.second
                                     << (is_server ? ", listen()" : ", connect()"));
            const Status status = begin(contradiction, is_server);
            if (contradiction.is_of_servers && !is_server) {
                CHECK(status);
                continue;
            }
            REQUIRE_FALSE(status);
            CAPTURE(status.error().message);
            CHECK(status.error().message.find(contradiction.first) != std::string::npos);
            CHECK(status.error().message.find(contradiction.second) != std::string::npos);
        }
    }
}

}  // namespace replayout::test
