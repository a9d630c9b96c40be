// SPDX-License-Identifier: MIT
#include "match/guests/match_guests.h"

#include "match/guests/match_guest.h"
#include "match/guests/match_sockets.h"
#include "match/judge/match_referee.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace replayout::match {

namespace {

/// Between two ticks of all clients.
constexpr auto pause_between_ticks = std::chrono::microseconds(500);

/// A process that comes back must not begin where the one before did.
[[nodiscard]] std::uint64_t random_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

}  // namespace

MatchGuests::MatchGuests(const MatchOptions& options, std::span<const Recording> recordings,
                         const MatchSchema& schema)
    : options_(options),
      recordings_(recordings),
      schema_(schema),
      referee_class_(std::make_unique<RefereeClass>()) {}

MatchGuests::~MatchGuests() = default;

Status MatchGuests::open() {
    const std::uint64_t seed = random_seed();
    for (std::uint32_t i = 0; i < options_.clients; ++i) {
        auto transport = connect_to(options_.transport, options_.connect);
        if (!transport) {
            return transport.error();
        }
        guests_.push_back(std::make_unique<MatchGuest>(options_, schema_, *referee_class_,
                                                       *std::move(transport), seed + i));
    }
    return {};
}

const RecordedWorld& MatchGuests::truth() {
    if (truth_ == nullptr) {
        truth_ = std::make_unique<RecordedWorld>(recordings_, schema_);
        ticks_ = truth_->tick_count();
        if (options_.ticks != 0) {
            ticks_ = std::min(ticks_, options_.ticks);
        }
        for (std::uint64_t tick = 0; tick < ticks_; ++tick) {
            truth_->apply_tick(tick, [](const RecordedChange&) {});
        }
    }
    return *truth_;
}

GuestsResult MatchGuests::run() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double reported_s = 0;  // when the last of them did
    for (bool is_over = false; !is_over;) {
        const auto passed = Clock::now() - start;
        const double now_s = std::chrono::duration<double>(passed).count();
        const NetTime now{std::chrono::duration_cast<std::chrono::microseconds>(passed).count()};
        is_over = true;
        for (const auto& guest : guests_) {
            guest->tick(now);
            if (guest->is_to_report()) {
                const RecordedWorld& world = truth();
                guest->report(world, ticks_);
                reported_s = now_s;
            }
            const bool is_late = !guest->has_joined() && now_s >= options_.timeout_s;
            const bool is_left = guest->report_made() && now_s - reported_s >= options_.timeout_s;
            is_over = is_over && (guest->is_over() || is_late || is_left);
        }
        std::this_thread::sleep_for(pause_between_ticks);
    }
    GuestsResult result;
    for (const auto& guest : guests_) {
        result.add(*guest);
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

}  // namespace replayout::match
