// SPDX-License-Identifier: MIT
//
// Objects with a stable name that the game destroyed: every client hears of it, also one that does
// not see the object, and one that joins later. An object that a client has ends with its channel.
#pragma once

#include <replayout/netdriver/memory_report.h>

#include <string_view>

#include "destroyed_names.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class DestructionNotices {
  public:
    DestructionNotices(const ServerEnvironment& environment, ServerObjects& objects,
                       ServerClients& clients)
        : config_(environment.settings.config),
          objects_(objects.store),
          clients_(clients),
          names_(&environment.memory.objects) {}

    /// The game is about to remove the object, or part, because it was destroyed.
    void note(ObjectIndex index);
    /// The name is free for another object. Clients that join later do not hear of its end.
    void forget(std::string_view stable_name);
    void forget_all();
    /// A new part of the object has this name.
    void forget_part(ObjectIndex outer, std::string_view stable_name);
    /// Sends the client what it has not been told, as far as there is room.
    void send(ServerClient& client);
    [[nodiscard]] bool has_sent_all(const ServerClient& client) const noexcept {
        return client.next_notice == names_.count();
    }

  private:
    void note_part(ObjectIndex index, std::string_view name);

    const NetConfig& config_;
    ObjectStore& objects_;
    ServerClients& clients_;
    DestroyedNames names_;
};

}  // namespace replayout
