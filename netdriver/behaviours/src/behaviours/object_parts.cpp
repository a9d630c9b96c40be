// SPDX-License-Identifier: MIT
#include "client_parts.h"

#include <replayout/behaviours/object_parts.h>

namespace replayout::detail {

bool ObjectParts::must_wait() const noexcept {
    return client.end != nullptr && (!client.end->readiness.is_spawn_finished() ||
                                     !local.is_started() || client.is_refreshed);
}

}  // namespace replayout::detail
