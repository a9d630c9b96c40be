// SPDX-License-Identifier: MIT
#include "match/guests/match_guest.h"

#include "match/battle/printable.h"
#include "match/session/match_drivers.h"

#include <array>
#include <string>
#include <utility>

namespace replayout::match {

namespace {

constexpr ObjectHandle referee_handle{MatchWorld::other_handles};
/// Of a difference that is told the server.
constexpr std::size_t difference_bytes_max = 200;

[[nodiscard]] NetDriverSettings driver_settings(const MatchOptions& options, std::uint64_t seed) {
    NetDriverSettings settings = match_driver_settings(seed);
    set_timeout(options, settings.config);
    return settings;
}

}  // namespace

MatchGuest::MatchGuest(const MatchOptions& options, const MatchSchema& schema,
                       const RefereeClass& referee_class,
                       std::unique_ptr<SocketTransport> transport, std::uint64_t seed)
    : schema_(schema),
      transport_(std::move(transport)),
      world_(schema),
      driver_(driver_settings(options, seed), *transport_, world_) {
    world_.set_other(this);
    require(add_match_layouts(schema_, driver_));
    require(driver_.add_layout(referee_class.layout()));
    driver_.set_spawn_handler(referee_class.layout(), this);
    referee_.on_names = [this](const RefereeNames& names) {
        for (const std::uint32_t handle : names.handles) {
            names_.push_back(handle);
            ids_[handle] = names_.size();
        }
    };
    referee_.on_end = [this](const RefereeEnd& end) { end_ = end; };
}

MatchGuest::~MatchGuest() = default;

ObjectHandle MatchGuest::spawn(const SpawnInfo&) {
    return referee_handle;
}

void MatchGuest::tick(NetTime now) {
    transport_->tick(now);
    if (!has_begun_) {
        // Nobody sends us anything yet, but this reads what the transports say to each other.
        PeerId from;
        std::array<std::byte, 1> nothing;
        (void)transport_->receive(from, nothing);
        if (transport_->is_connected()) {
            has_begun_ = true;
            require(driver_.connect(transport_->server(), now));
        }
    }
    if (has_begun_) {
        driver_.tick_dispatch(now);
        has_joined_ = has_joined_ || driver_.state() == ConnectionState::Joined;
        driver_.tick_flush(now);
    }
    transport_->flush();
}

bool MatchGuest::is_over() const noexcept {
    return has_begun_ && driver_.state() == ConnectionState::Closed;
}

std::string MatchGuest::complaint() const {
    if (!has_begun_) {
        return "the server does not answer";
    }
    if (!has_joined_) {
        return "it is not joined (" + std::string(to_string(driver_.close_reason())) + ")";
    }
    return is_over() ? "its connection ended before the match did (" +
                           std::string(to_string(driver_.close_reason())) + ")"
                     : "the match did not end";
}

ServerFacts MatchGuest::facts(bool has_all) const {
    const auto guid_of = [this](ObjectHandle object) {
        const auto found = ids_.find(object.value);
        return NetGUID{found == ids_.end() ? 0 : found->second};
    };
    return {guid_of,
            [this](NetGUID guid) {
                const bool is_told = !guid.is_null() && guid.value <= names_.size();
                return ObjectHandle{is_told ? names_[guid.value - 1] : 0};
            },
            [this, guid_of, has_all](PeerId, ObjectHandle object) {
                return has_all || !driver_.guids().find_object(guid_of(object)).is_null();
            }};
}

void MatchGuest::report(const RecordedWorld& truth, std::uint64_t ticks) {
    std::size_t live_count = 0;
    for (const EndState& state : truth.end_states()) {
        live_count += state.live_count();
    }
    // Who is to have some of them alone is told how many, and by their checksum which.
    const ClientJudge judge(schema_, truth.end_states(), truth.world(),
                            facts(end_->object_count == live_count));
    const ClientVerdict verdict = judge.judge(world_, driver_, true, transport_->server());
    report_.emplace();
    report_->crc32 = verdict.crc32;
    if (end_->ticks != ticks) {
        report_->difference = "the server played " + std::to_string(end_->ticks) +
                              " ticks, which here are " + std::to_string(ticks);
    } else if (!verdict.difference.empty()) {
        report_->difference = printable(verdict.difference, difference_bytes_max);
    } else if (world_.object_count() != end_->object_count) {
        report_->difference = "it has " + std::to_string(world_.object_count()) +
                              " objects, and is to have " + std::to_string(end_->object_count);
    } else if (verdict.crc32 != end_->crc32) {
        report_->difference = "its checksum differs from the server's";
    }
    report_->is_equal = report_->difference.empty();
    (void)driver_.call_function(referee_handle, "server_report", &*report_);
}

}  // namespace replayout::match
