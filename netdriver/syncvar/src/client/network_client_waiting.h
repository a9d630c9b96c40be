// SPDX-License-Identifier: MIT
#pragma once

#include <replayout/syncvar/network_client.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <replayout/reflection/value_copy.h>

namespace replayout::syncvar {

/// What an object is to be told when it is started, or the initial batch is there. No more than it
/// has SyncVars, and than a collection may have items.
struct NetworkClient::Waiting {
    /// What a SyncVar with a hook was before.
    struct KeptValue {
        NetworkBehaviour* component = nullptr;
        std::uint32_t variable = 0;
        ValueCopy value;
        bool is_lost = false;  ///< an object went that it named, or that the variable named later
    };

    std::vector<KeptValue> values;
    std::vector<SyncCollection*> calls;  // that each keeps, in their order
    std::size_t operation_count = 0;
};

}  // namespace replayout::syncvar
