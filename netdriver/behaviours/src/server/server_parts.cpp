// SPDX-License-Identifier: MIT
#include "server_parts.h"

#include "inside.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout::detail {

ServerParts::ServerParts(NetworkServer& server, const NetDriverSettings& settings,
                         const InterestManagement& interest)
    : server(server),
      manager(server.manager_),
      driver(server.driver_),
      types(server.types_),
      now(server.now_),
      counters(server.counters_),
      resource(resource_of(settings)),
      log(server.now_),
      objects(*this),
      host(*this),
      observers(*this, interest),
      authority(*this),
      owner_values(*this),
      part_sender(*this, settings.config),
      states(*this),
      phases(*this) {}

ServerParts& server_parts_of(const NetworkIdentity& object) noexcept {
    ServerParts* const parts = Inside::of(object).server.end;
    if (parts == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "server: this object is not spawned by a server: ask is_server() before", __FILE__,
            __LINE__);
    }
    return *parts;
}

}  // namespace replayout::detail
