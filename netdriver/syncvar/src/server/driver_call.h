// SPDX-License-Identifier: MIT
//
// One function of a spawned object, to be called with what a collection makes of its operations or
// items.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/syncvar/collection_end.h>
#include <replayout/syncvar/network_prefab.h>

#include "prefab_params.h"

namespace replayout::syncvar {

class DriverCall final : public detail::CollectionCall {
  public:
    DriverCall(NetDriver& driver, NetObjectId object, const NetworkPrefab& prefab,
               FunctionIndex function)
        : driver_(driver), object_(object), prefab_(prefab), function_(function) {}

    [[nodiscard]] CallResult run(const void* params) const override {
        return driver_.call_function(object_, function_, params_of(prefab_, function_, params));
    }

  private:
    NetDriver& driver_;
    NetObjectId object_;
    const NetworkPrefab& prefab_;
    FunctionIndex function_;
};

}  // namespace replayout::syncvar
