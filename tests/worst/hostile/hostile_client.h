// SPDX-License-Identifier: MIT
//
// Plays steps to a server of ours, whose game plays meanwhile. What the numbers of a step mean:
//
//     add        count, class, whether the client owns them
//     remove     count, the first
//     play       ticks, milliseconds of each, what changes (World::change), one object in so many,
//                which packets the client acknowledges meanwhile, calls of the game in each tick
//     neighbour  an honest client joins: so many
//     hello      the session that begins, how many layouts it lists
//     acks       HostileLine::acknowledge
//     calls      function, count, count and first of what is in them, form, and how: bit 0 the
//                next step is in the same packet, bits 1 to 3 sequences passed over, bit 4 those
//                that were passed over come, bits 8 on the channel
//     part       of a call: which (first, middle, last), bytes, how, channel
//     control    kind, names in it or the reason of a goodbye, bytes of each, how
//     junk       bytes, seed, in the session or not
//     flip       HostileLine::flip, of the next packet
//     hold       the packets of so many steps are dispatched together
//     wait       milliseconds
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "worst/hostile/hostile_line.h"

namespace replayout::worst {

class HostileClient {
  public:
    explicit HostileClient(std::uint32_t marked = no_place);

    /// Once.
    [[nodiscard]] Costs play(const Steps& steps);
    [[nodiscard]] NetDriver& driver() noexcept { return end_.driver(); }

  private:
    struct Added {
        NetObjectId id;
        ObjectHandle object;
        bool has_functions = false;
    };
    /// A client that acknowledges all.
    struct Neighbour {
        PeerId peer;
        HostileLine line;
    };

    [[nodiscard]] std::uint32_t object_count() const noexcept {
        return static_cast<std::uint32_t>(added_.size());
    }
    void play_step(const Step& step);
    void add(const Step& step);
    void remove(const Step& step);
    void play_game(const Step& step);
    void change_objects(const Step& step, std::uint32_t turn);
    void tick(std::uint32_t milliseconds);
    void join_neighbours(std::uint32_t count);
    void say_hello(HostileLine& line, std::uint16_t session, std::uint32_t layouts);
    void send_unless_joined(std::uint32_t how);
    void note_kept();

    Costs costs_;
    MeasuredEnd end_;
    HostileLine line_;
    std::vector<Added> added_;
    std::size_t most_objects_ = 0;  // at a time
    std::vector<std::unique_ptr<Neighbour>> neighbours_;
    std::int64_t work_left_;
    bool has_rare_ = false;  // objects of whose pairs more than 16 bytes are kept
    std::uint32_t turn_ = 0;
    std::uint32_t held_steps_ = 0;
    NetTime began_;
};

}  // namespace replayout::worst
