// SPDX-License-Identifier: MIT
#include "match/session/match_drivers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace replayout::match {

namespace {

/// Two keep-alives may be late.
constexpr double timeout_s_min = 3;

}  // namespace

NetConfig match_config() {
    // Texts of 65,535 bytes, and a class of as many references.
    NetConfig config;
    config.bunch_bytes_max = 128 * 1024;
    config.references_per_object_max = 65'536;
    return config;
}

NetDriverSettings match_driver_settings(std::uint64_t seed, SharingLevel sharing,
                                        MemoryResource* resource) {
    NetDriverSettings settings;
    settings.resource = resource;
    settings.seed = seed;
    settings.sharing = sharing;
    settings.is_keeping_names = true;
    settings.config = match_config();
    return settings;
}

void set_timeout(const MatchOptions& options, NetConfig& config) {
    config.timeout_ms = static_cast<std::uint32_t>(
        1e3 * std::clamp(options.timeout_s, timeout_s_min, match_timeout_s_max));
}

Status add_match_layouts(const MatchSchema& schema, NetDriver& driver) {
    for (const auto& match_class : schema.classes()) {
        if (const Status added = driver.add_layout(*match_class->layout); !added) {
            return added;
        }
    }
    return {};
}

void require(const Status& status) {
    if (!status) {
        std::fprintf(stderr, "%s\n", status.error().message.c_str());
        std::abort();
    }
}

void check(const Status& status) {
    if (!status) {
        throw std::runtime_error(status.error().message);
    }
}

}  // namespace replayout::match
