// SPDX-License-Identifier: MIT
//
// The package map of benchmarks without a driver: their objects refer to nothing.
#pragma once

#include <replayout/package_map.h>

namespace replayout::bench {

class NoReferences final : public PackageMap {
  public:
    [[nodiscard]] NetGUID guid_of(ObjectHandle) override { return {}; }
    [[nodiscard]] ObjectHandle object_of(NetGUID) override { return {}; }
};

}  // namespace replayout::bench
