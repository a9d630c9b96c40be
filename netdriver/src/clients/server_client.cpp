// SPDX-License-Identifier: MIT
#include "server_client.h"

namespace replayout {

ServerClient::ServerClient(const Shared& shared, const PacketStream::Settings& settings,
                           ServerLane& client_lane, NetTime now, Transport* recording)
    : is_replay(recording != nullptr),
      lane(client_lane),
      connection(shared.environment.settings.config, settings,
                 ReceiveLimits::of_client_control(shared.environment.settings.config),
                 recording != nullptr ? *recording : lane.client_transport, lane.stats,
                 ConnectionState::Joined, now, shared.environment.memory, shared.log.closes),
      sender(shared.objects.store, connection.packets(), lane.context, lane.stats,
             {shared.environment.settings.config, settings.peer, shared.type_counters,
              lane.candidates, lane.open_runs, lane.flush_copies, lane.number, lane.bundle_choice,
              shared.objects.changes, connection.now(), shared.waiting_pool},
             shared.environment.memory),
      interest(settings.peer, shared.environment.memory),
      other_versions(&shared.environment.memory.connections),
      call_limiter(shared.environment.settings.config, CallLimiter::Side::Server, now,
                   &shared.environment.memory.connections),
      strikes(shared.environment.settings.config.client_strikes_per_second_max,
              shared.environment.settings.config.client_strikes_per_second_max, now) {
    if (shared.environment.settings.is_validating) {
        sender.start_validating(shared.environment.guids);
    }
}

}  // namespace replayout
