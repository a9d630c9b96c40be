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
      log(now),
      objects(driver, references, resource_of(settings)),
      sources(client, types, objects, log),
      spawned(*this),
      waiting(spawned, references, resource_of(settings)),
      references(objects.all(), &waiting, resource_of(settings)),
      updates(driver, now, settings),
      roles(*this),
      starts(*this),
      readiness(*this),
      wanted(*this, resource_of(settings)) {}

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
