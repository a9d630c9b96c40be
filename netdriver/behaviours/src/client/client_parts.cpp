// SPDX-License-Identifier: MIT
#include "client_parts.h"

#include "inside.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout::detail {

ClientParts::ClientParts(NetworkClient& client, const NetDriverSettings& settings,
                         NetDriver& driver, const NetworkTypes& types, NetworkManager& manager)
    : client(client),
      manager(manager),
      driver(driver),
      types(types),
      resource(resource_of(settings)),
      log(now),
      waiting(*this),
      objects(&waiting, resource),
      sources(*this),
      spawned(*this),
      updates(*this, settings.config),
      readiness(*this),
      wanted(*this) {}

bool ObjectParts::must_wait() const noexcept {
    return client.end != nullptr && (!client.end->readiness.is_spawn_finished() ||
                                     !local.is_started() || client.is_refreshed);
}

ClientParts& client_parts_of(const NetworkIdentity& object) noexcept {
    ClientParts* const parts = Inside::of(object).client.end;
    if (parts == nullptr) [[unlikely]] {
        replayout::detail::fail_assertion(
            "client: this object is not shown by a client: a host has server()", __FILE__,
            __LINE__);
    }
    return *parts;
}

}  // namespace replayout::detail
