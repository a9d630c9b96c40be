// SPDX-License-Identifier: MIT
#include <replayout/behaviours/local_role.h>
#include <replayout/behaviours/network_behaviour.h>
#include <replayout/behaviours/object_components.h>

#include <utility>

namespace replayout::detail {

void LocalRole::start(const ObjectComponents& components) {
    if (!std::exchange(is_started_, true)) {
        components.for_each(&NetworkBehaviour::on_start_client);
    }
}

void LocalRole::tell(const ObjectComponents& components, const ObjectRole& role) {
    if (is_told_player_ && !role.is_player) {
        is_told_player_ = false;
        components.for_each(&NetworkBehaviour::on_stop_local_player);
    }
    const bool is_player_until_now = role_.is_player;
    role_ = role;
    role_.is_player = is_player_until_now && role.is_player;
    if (is_told_owned_ != role.is_owned) {
        is_told_owned_ = role.is_owned;
        components.for_each(role.is_owned ? &NetworkBehaviour::on_start_authority
                                          : &NetworkBehaviour::on_stop_authority);
    }
    role_.is_player = role.is_player;
    if (!is_told_player_ && role.is_player) {
        is_told_player_ = true;
        components.for_each(&NetworkBehaviour::on_start_local_player);
    }
}

void LocalRole::stop(const ObjectComponents& components) {
    if (std::exchange(is_told_player_, false)) {
        components.for_each(&NetworkBehaviour::on_stop_local_player);
    }
    if (std::exchange(is_started_, false)) {
        components.for_each(&NetworkBehaviour::on_stop_client);
    }
    tell(components, {});
}

}  // namespace replayout::detail
