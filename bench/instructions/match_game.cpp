// SPDX-License-Identifier: MIT
#include "instructions/match_game.h"

#include "instructions/counted_tick.h"

#include <utility>

namespace replayout::bench {

MatchGame::MatchGame(match::Recording recording) {
    recordings_.push_back(std::move(recording));
    auto schema = match::MatchSchema::create(recordings_);
    if (!schema) {
        error_ = schema.error().message;
        return;
    }
    schema_ = std::move(*schema);
    world_.emplace(recordings_, *schema_);
    for (const auto& match_class : schema_->classes()) {
        layouts_.push_back(match_class->layout.get());
    }
}

void MatchGame::play(NetDriver& server) {
    world_->apply_tick(tick_++, [&](const match::RecordedChange& change) { tell(server, change); });
}

void MatchGame::tell(NetDriver& server, const match::RecordedChange& change) {
    const RepLayout& layout = *change.object.match_class().layout;
    switch (change.kind) {
        case match::OpKind::Spawn: {
            NetObjectId id;
            count_call([&] { id = server.add_object(layout, change.handle); });
            ids_.emplace(change.handle.value, id);
            return;
        }
        case match::OpKind::Destroy: {
            const auto found = ids_.find(change.handle.value);
            count_call([&] { server.remove_object(found->second); });
            ids_.erase(found);
            return;
        }
        case match::OpKind::Set:
            return;
    }
}

}  // namespace replayout::bench
