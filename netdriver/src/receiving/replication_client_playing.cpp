// SPDX-License-Identifier: MIT
//
// A client whose server is a recording: packets come from there, and nothing is sent.
#include "replication_client.h"

namespace replayout {

CloseReason ReplicationClient::add_layout(std::span<const std::byte> message) {
    REPLAYOUT_ASSERT(is_playing_ && receiver_.channels().is_empty());
    std::uint32_t name_hash = 0;
    return server_layouts_.add(message, name_hash);
}

void ReplicationClient::play(std::span<const std::byte> content, bool has_bunches, NetTime now) {
    REPLAYOUT_ASSERT(is_playing_);
    run_put_off_calls();
    connection_.play(content, has_bunches, now, *this);
    close_when_ended();
}

void ReplicationClient::begin_checkpoint() {
    REPLAYOUT_ASSERT(is_playing_);
    connection_.play_anew();
    initial_count_.reset();
    is_initial_finished_ = false;
    receiver_.objects().begin_carrying_over();
}

void ReplicationClient::end_checkpoint() {
    receiver_.objects().end_carrying_over();
}

void ReplicationClient::stop_playing() {
    if (is_open_) {
        is_open_ = false;
        is_end_told_ = true;
        receiver_.close_all();
    }
}

}  // namespace replayout
