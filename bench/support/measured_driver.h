// SPDX-License-Identifier: MIT
//
// The settings of a driver that is measured.
#pragma once

#include <replayout/netdriver/net_driver_settings.h>

namespace replayout::bench {

/// What looks for mistakes is not to be measured, whatever the build.
[[nodiscard]] inline NetDriverSettings measured_driver(const NetConfig& config,
                                                       const InterestSettings& interest,
                                                       SharingLevel sharing) {
    NetDriverSettings driver;
    driver.config = config;
    driver.interest = interest;
    driver.sharing = sharing;
    driver.is_validating = false;
    driver.mark_validation_ticks = 0;
    return driver;
}

}  // namespace replayout::bench
