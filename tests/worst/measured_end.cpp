// SPDX-License-Identifier: MIT
#include "worst/measured_end.h"

#include <algorithm>
#include <array>

namespace {

/// Keeps a function that Callgrind finds by its name: the call does not become a jump.
void keep_function() noexcept {
    asm volatile("" ::: "memory");
}

}  // namespace

extern "C" {

[[gnu::noinline]] void replayout_worst_dispatch(replayout::NetDriver& driver,
                                                replayout::NetTime now) {
    driver.tick_dispatch(now);
    keep_function();
}

[[gnu::noinline]] void replayout_worst_marked_dispatch(replayout::NetDriver& driver,
                                                       replayout::NetTime now) {
    driver.tick_dispatch(now);
    keep_function();
}

}  // extern "C"

namespace replayout::worst {

namespace {

constexpr std::size_t queue_datagrams_max = 1u << 12;

[[nodiscard]] NetDriverSettings with_config(NetDriverSettings settings, const NetConfig& config) {
    settings.config = config;
    return settings;
}

}  // namespace

NetDriverSettings plain_settings(MemoryResource* resource) {
    NetDriverSettings settings;
    settings.is_validating = false;
    settings.mark_validation_ticks = 0;
    settings.resource = resource;
    return settings;
}

MeasuredEnd::MeasuredEnd(PeerId self, Costs& costs, std::uint32_t marked, const NetConfig& config)
    : costs_(costs),
      marked_(marked),
      self_(self),
      network_({datagram_bytes_max, queue_datagrams_max}, std::pmr::new_delete_resource()),
      driver_(with_config(plain_settings(&memory_), config), network_.endpoint(self), world_) {}

void MeasuredEnd::send(PeerId from, std::span<const std::byte> datagram, bool is_hello,
                       std::uint64_t free_instructions) {
    if (waiting_ == queue_datagrams_max) {
        return;
    }
    if (waiting_ == 0) {
        driver_.tick_dispatch(now_);  // what was to be done without it
        (void)network_.endpoint(from);
    }
    network_.endpoint(from).send(self_, datagram);
    ++waiting_;
    hellos_waiting_ += is_hello ? 1 : 0;
    others_waiting_ += from != server_peer && from != client_peer ? 1u : 0u;
    free_instructions_ = is_hello ? free_instructions : free_instructions_;
    bytes_taken_ += datagram.size();
    ++datagrams_taken_;
    if (!is_holding_) {
        dispatch();
    }
}

void MeasuredEnd::release() {
    is_holding_ = false;
    if (waiting_ > 0) {
        dispatch();
    }
}

void MeasuredEnd::dispatch() {
    const bool was_joined = driver_.state() == ConnectionState::Joined;
    CostMeter meter;
    if (place_ == marked_) {
        meter.begin();
        replayout_worst_marked_dispatch(driver_, now_);
    } else {
        meter.begin();
        replayout_worst_dispatch(driver_, now_);
    }
    const std::uint64_t instructions = meter.instructions();
    const std::uint64_t beyond =
        instructions - (hellos_waiting_ > 0 ? std::min(instructions, free_instructions_) : 0);
    const bool has_ended = was_joined && driver_.state() != ConnectionState::Joined;
    if (has_ended) {
        costs_.note(Score::End, beyond, place_);
    } else if (others_waiting_ > 0) {
        // The hostile client's put off calls run in the same dispatch, which are as much again.
        costs_.note(Score::Dispatch, beyond / (waiting_ + 1), place_);
    } else if (waiting_ > 1) {
        costs_.note(Score::Dispatch, beyond / waiting_, place_);
    } else {
        costs_.note(hellos_waiting_ > 0 ? Score::Hello : Score::Datagram, beyond, place_);
    }
    ++place_;
    waiting_ = 0;
    hellos_waiting_ = 0;
    others_waiting_ = 0;
}

void MeasuredEnd::wait(std::uint32_t milliseconds) {
    now_ = now_.plus_milliseconds(milliseconds);
    driver_.tick_dispatch(now_);
}

std::vector<Bytes> MeasuredEnd::take_sent(PeerId to) {
    std::vector<Bytes> datagrams;
    std::array<std::byte, datagram_bytes_max> buffer;
    PeerId peer;
    Transport& line = network_.endpoint(to);
    for (std::size_t size = line.receive(peer, buffer); size != Transport::nothing_received;
         size = line.receive(peer, buffer)) {
        datagrams.emplace_back(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
    }
    return datagrams;
}

}  // namespace replayout::worst
