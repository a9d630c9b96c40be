// SPDX-License-Identifier: MIT
//
// What a serializer may ask of its receiver (ReceiverIds), answered from a set.
#pragma once

#include <replayout/package_map.h>

#include <set>

namespace replayout::test {

/// A receiver that has some objects.
class FewIds final : public ReceiverIds {
  public:
    [[nodiscard]] bool is_mapped(NetGUID guid) const override { return guids.contains(guid); }

    std::set<NetGUID> guids;
};

}  // namespace replayout::test
