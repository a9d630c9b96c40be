// SPDX-License-Identifier: MIT
#include "server_parts.h"

namespace replayout::syncvar::detail {

ServerParts::ServerParts(NetworkServer& server, const NetDriverSettings& settings,
                         const InterestManagement& interest)
    : end(server, *this),
      log(server.now_),
      environment{server,           end,           server.manager_,
                  server.driver_,   server.types_, server.now_,
                  server.counters_, log,           resource_of(settings)},
      objects(environment),
      observers(server.driver_, interest, {connections, objects, host}),
      authority(environment, {connections, host, observers}),
      owner_values(server.driver_, connections),
      part_sender(environment, settings.config, connections, objects),
      states(environment, {connections, authority, owner_values, part_sender}),
      phases(environment, {connections, objects, observers, authority}),
      host_view(environment, {objects, host, observers}),
      lives(environment,
            {connections, objects, host, observers, authority, owner_values, states, host_view}) {}

}  // namespace replayout::syncvar::detail
