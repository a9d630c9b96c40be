// SPDX-License-Identifier: MIT
#include "server_log.h"

namespace replayout {

bool NetworkServer::Log::refuse(PeerId peer, std::string_view why) {
    write(LogLevel::Warning, peer, why);
    return false;
}

std::string NetworkServer::Log::name_of(const NetworkIdentity& object) {
    std::string name = "an object of prefab \"" + object.prefab().name() + "\"";
    if (object.net_id() != 0) {
        name += " (net id " + std::to_string(object.net_id()) + ")";
    } else if (object.scene_id() != 0) {
        name += " (scene id " + std::to_string(object.scene_id()) + ")";
    }
    return name;
}

}  // namespace replayout
