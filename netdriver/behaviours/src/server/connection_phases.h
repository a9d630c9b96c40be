// SPDX-License-Identifier: MIT
//
// Whether each connection is ready, and what follows from that.
//
//     NotReady --> Ready      spawn_started, then what the connection is to see, then batches that
//                             name all of it, then spawn_finished
//     Ready --> Leaving       not_ready; nothing is hidden yet
//     Leaving --> NotReady    the client answered: objects are hidden
//     Leaving --> Ready       as from NotReady; an earlier answer is still owed
//
// The host has no channel, so the server sends it no message of phases, and it is never Leaving. A
// client that does not answer in time is disconnected.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/transport.h>

#include <cstdint>

#include "part_of.h"

namespace replayout {

class NetworkServer::Phases : detail::PartOf<detail::ServerParts> {
  public:
    using PartOf::PartOf;

    /// How long a client has to answer that it is no longer ready.
    [[nodiscard]] std::uint32_t answer_wait_ms() const noexcept { return answer_wait_ms_; }
    void set_answer_wait_ms(std::uint32_t milliseconds) noexcept { answer_wait_ms_ = milliseconds; }

    // What clients say on their channels.

    void ready(PeerId peer);
    void add_player(PeerId peer);
    void not_ready_heard(PeerId peer);

    /// Changes the phase at once, so that what the server calls next reaches the connection.
    void set_ready(NetworkConnection& connection);
    /// The phase changes with the next update_all().
    void set_not_ready(NetworkConnection& connection) { connection.is_ready_ = false; }

    // With each late_update().

    /// Makes the phase of each connection what it is to be, as far as its calls have room.
    void update_all();
    /// Does that for one connection.
    void update(NetworkConnection& connection);
    /// Names to connections that became ready the objects that they are to see.
    void send_batches();

  private:
    /// The connection's phase is not what it is to be.
    void change_phase(NetworkConnection& connection);
    void begin_showing(NetworkConnection& connection);
    void end_showing(NetworkConnection& connection);
    /// The client is to answer, and did not in time.
    [[nodiscard]] bool is_answer_missing(NetworkConnection& connection);
    /// True: all objects were named, and that these are all.
    [[nodiscard]] bool send_batch(NetworkConnection& connection);

    std::uint32_t answer_wait_ms_ = 10'000;
};

}  // namespace replayout
