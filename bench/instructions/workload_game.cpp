// SPDX-License-Identifier: MIT
#include "instructions/workload_game.h"

#include "instructions/counted_tick.h"

#include <utility>

namespace replayout::bench {

WorkloadGame::WorkloadGame(std::unique_ptr<Workload> workload) : workload_(std::move(workload)) {
    if (workload_->error().empty()) {
        layouts_[0] = &workload_->layout();
    }
}

void WorkloadGame::begin(NetDriver& server, std::span<const PeerId> peers) {
    server_ = &server;
    for (std::uint32_t i = 0; i < workload_->object_count(); ++i) {
        count_call(
            [&] { ids_.push_back(server.add_object(workload_->layout(), ObjectHandle{i + 1})); });
    }
    workload_->introduce(server, ids_, peers);
}

void WorkloadGame::play(NetDriver& server) {
    (void)workload_->advance(server.connection_count());
    if (workload_->is_push_based()) {
        count_call([&] { workload_->mark(server, ids_); });
    }
}

void* WorkloadGame::object_memory(ObjectHandle object) {
    return workload_->object_memory(static_cast<std::uint32_t>(object.value) - 1);
}

void WorkloadGame::peer_joined(PeerId peer) {
    workload_->welcome(*server_, peer);
}

}  // namespace replayout::bench
