// SPDX-License-Identifier: MIT
#include "host_queue.h"

#include <algorithm>

namespace replayout {

void NetworkServer::HostQueue::begin(NetworkConnection& host) {
    host_ = &host;
    host.is_host_ = true;
}

void NetworkServer::HostQueue::end() {
    for (NetworkIdentity* object : queue_) {
        detail::Inside::of(*object).host.is_queued = false;
    }
    queue_.clear();
    are_all_queued_ = false;
    host_ = nullptr;
}

std::vector<NetworkIdentity*> NetworkServer::HostQueue::take(const Objects& objects) {
    if (std::exchange(are_all_queued_, false)) {
        for (const auto& [net_id, object] : objects.spawned()) {
            add(*object);
        }
    }
    std::vector<NetworkIdentity*> taken;
    taken.swap(queue_);
    std::sort(taken.begin(), taken.end(),
              [](const auto* left, const auto* right) { return left->net_id() < right->net_id(); });
    return taken;
}

void NetworkServer::HostQueue::recycle(std::vector<NetworkIdentity*> looked_at) {
    if (queue_.empty()) {
        looked_at.clear();
        queue_.swap(looked_at);
    }
}

}  // namespace replayout
