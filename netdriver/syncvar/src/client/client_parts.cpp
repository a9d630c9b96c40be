// SPDX-License-Identifier: MIT
#include "client_parts.h"

namespace replayout::syncvar::detail {

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
      roles(spawned, updates),
      starts(driver, spawned, roles, waiting),
      readiness(*this),
      wanted(*this, resource_of(settings)) {}

}  // namespace replayout::syncvar::detail
