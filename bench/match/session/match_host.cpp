// SPDX-License-Identifier: MIT
#include "match/session/match_host.h"

#include "match/judge/client_judge.h"
#include "match/session/progress.h"
#include "support/report/report_text.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

namespace replayout::match {

namespace {

/// Between two looks at the socket where nothing has come.
constexpr auto pause_between_looks = std::chrono::microseconds(200);
/// While nothing comes a driver still is to ask who is there.
constexpr auto flush_interval = std::chrono::milliseconds(20);
/// For who does not answer, in each tick; he is given up behind NetConfig::timeout_ms.
constexpr auto grace = std::chrono::milliseconds(100);
constexpr double quiescent_s = 0.5;
/// A goodbye is repeated this long, for who did not hear the first.
constexpr double goodbye_s = 0.5;

[[nodiscard]] double seconds_between(std::chrono::steady_clock::time_point begin,
                                     std::chrono::steady_clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

[[nodiscard]] std::uint64_t ticks_of(double seconds) {
    return static_cast<std::uint64_t>(seconds * 1e6 / match_tick_us);
}

}  // namespace

MatchHost::MatchHost(const MatchOptions& options, std::span<const Recording> recordings,
                     const MatchSchema& schema, SocketTransport& transport)
    : options_(options),
      schema_(schema),
      transport_(transport),
      server_(options, recordings, schema, result_),
      next_owners_s_(options.owners_s) {
    server_.recorded().world().set_other(this);
    server_.for_each_driver(
        [&](NetDriver& driver) { require(driver.add_layout(referee_class_.layout())); });
    server_.listen();
}

MatchHost::~MatchHost() = default;

void* MatchHost::object_memory(ObjectHandle object) {
    return &seats_.at(object.value).referee;
}

// The twin tells of the same peers, in the same order or later: each counts once.
void MatchHost::peer_joined(PeerId peer) {
    if (std::find(peers_.begin(), peers_.end(), peer) == peers_.end()) {
        peers_.push_back(peer);
    }
}

void MatchHost::peer_left(PeerId peer, CloseReason) {
    std::erase(peers_, peer);
    transport_.close(peer);
}

bool MatchHost::receive() {
    now_.microseconds =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_).count();
    transport_.tick(now_);
    inbox_.clear();
    inbox_.add_all(transport_);
    server_.dispatch(inbox_, now_);
    return !inbox_.entries().empty();
}

void MatchHost::send() {
    server_.flush(now_);
    for (const DatagramList::Entry& entry : server_.outbox().entries()) {
        transport_.send(entry.peer, server_.outbox().bytes(entry));
    }
    transport_.flush();
    last_sent_ = Clock::now();
}

void MatchHost::turn() {
    if (receive()) {
        send();
        return;
    }
    if (Clock::now() - last_sent_ >= flush_interval) {
        send();
    }
    std::this_thread::sleep_for(pause_between_looks);
}

template <typename IsDone>
bool MatchHost::turn_until(double seconds, IsDone&& is_done) {
    const auto begin = Clock::now();
    server_.begin_tick();
    while (!is_done()) {
        if (seconds_between(begin, Clock::now()) >= seconds) {
            return false;
        }
        turn();
    }
    return true;
}

bool MatchHost::are_all_there() const noexcept {
    return server_.driver().connection_count() >= options_.clients;
}

MatchResult MatchHost::run(Progress& progress) {
    if (!turn_until(options_.timeout_s, [&] { return are_all_there(); })) {
        give_up();
        return result_;
    }
    next_tick_ = Clock::now();
    for (std::uint64_t tick = 0; tick < server_.tick_count(); ++tick) {
        play_tick(tick);
        progress.advance(tick + 1);
    }
    result_.play_seconds = static_cast<double>(server_.tick_count()) * match_tick_us / 1e6;
    server_.finish_play();
    settle();
    judge();
    say_goodbye();
    return result_;
}

void MatchHost::give_up() {
    const std::uint32_t came = server_.driver().connection_count();
    result_.is_played = false;
    result_.clients_joined = came;
    result_.first_difference = (came == 0 ? std::string("nobody")
                                          : "only " + std::to_string(came) + " of " +
                                                std::to_string(options_.clients) + " clients") +
                               " came within " + bench::grouped_short(options_.timeout_s) + " s";
    say_goodbye();
}

void MatchHost::play_tick(std::uint64_t tick) {
    server_.begin_tick();
    receive();
    server_.apply_ops(tick);
    const double match_s = static_cast<double>(tick) * match_tick_us / 1e6;
    if (options_.owners_s > 0 && match_s >= next_owners_s_) {
        next_owners_s_ += options_.owners_s;
        server_.change_owners(peers_);
    }
    server_.set_viewers(peers_);
    send();
    keep_pace();
    server_.end_tick(tick);
}

void MatchHost::keep_pace() {
    if (options_.speed > 0) {
        next_tick_ += std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(match_tick_us / 1e6 / options_.speed));
        while (Clock::now() < next_tick_) {
            turn();
        }
        return;
    }
    const auto begin = Clock::now();
    while (!server_.driver().is_settled() && Clock::now() - begin < grace) {
        turn();
    }
}

void MatchHost::settle() {
    const auto begin = Clock::now();
    // Who is missing may come back; who does not answer is given up by the driver itself.
    (void)turn_until(2 * options_.timeout_s + match_timeout_s_max, [&] {
        const bool is_waiting = seconds_between(begin, Clock::now()) < options_.timeout_s;
        result_.is_settled = are_all_there() && server_.driver().is_settled();
        return result_.is_settled || (!is_waiting && server_.driver().is_settled());
    });
    result_.settle_ticks = ticks_of(seconds_between(begin, Clock::now()));
    const std::uint64_t before = server_.content_sent();
    (void)turn_until(quiescent_s, [] { return false; });
    result_.quiescent_ticks = ticks_of(quiescent_s);
    result_.quiescent_bytes = server_.content_sent() - before;
    server_.finish(peers_);
}

std::vector<RefereeNames> MatchHost::names() const {
    std::vector<RefereeNames> names;
    const NetGUIDCache& guids = server_.driver().guids();
    for (std::uint32_t guid = 1;; ++guid) {
        const ObjectHandle named = guids.find_named({guid});
        if (named.is_null()) {
            return names;
        }
        if (names.empty() || names.back().handles.size() == referee_names_max) {
            names.push_back({guid, {}});
        }
        names.back().handles.push_back(static_cast<std::uint32_t>(named.value));
    }
}

void MatchHost::judge() {
    const ClientJudge judge(schema_, server_.recorded().end_states(), server_.world(),
                            server_.driver());
    add_server_crcs(judge, server_.recorded().recordings(), result_);
    // Before the referees have names.
    const std::vector<RefereeNames> told = names();
    seat(judge);
    (void)turn_until(options_.timeout_s, [&] { return server_.driver().is_settled(); });
    tell_clients(told);
    (void)turn_until(options_.timeout_s, [&] {
        return std::all_of(peers_.begin(), peers_.end(), [&](PeerId peer) {
            const auto found = seat_of_.find(peer);
            return found == seat_of_.end() || seats_.at(found->second).has_reported;
        });
    });
    take_reports();
}

void MatchHost::seat(const ClientJudge& judge) {
    for (const PeerId peer : peers_) {
        const std::uint64_t handle = MatchWorld::other_handles + seats_.size();
        Seat& seat = seats_[handle];
        seat_of_[peer] = handle;
        const ExpectedState expected = judge.expected_of(peer);
        seat.expected = {static_cast<std::uint32_t>(result_.ticks), expected.crc32,
                         expected.object_count};
        seat.referee.number = static_cast<std::uint32_t>(seats_.size());
        seat.referee.on_report = [&seat](const RefereeReport& report) {
            seat.report = report;
            seat.has_reported = true;
        };
        server_.for_each_driver([&](NetDriver& driver) {
            const NetObjectId id = driver.add_object(referee_class_.layout(), {handle});
            driver.interest().set_relevancy(id, NetRelevancy::OnlyToOwner);
            driver.set_owner(id, peer);
        });
    }
}

void MatchHost::tell_clients(const std::vector<RefereeNames>& names) {
    for (const PeerId peer : peers_) {
        const auto found = seat_of_.find(peer);
        if (found == seat_of_.end()) {
            continue;
        }
        // Who has left meanwhile is told nothing, and is missed in the result.
        server_.for_each_driver([&](NetDriver& driver) {
            const NetObjectId id = driver.find_object({found->second});
            for (const RefereeNames& some : names) {
                (void)driver.call_function(id, "client_names", &some);
            }
            (void)driver.call_function(id, "client_end", &seats_.at(found->second).expected);
        });
    }
}

void MatchHost::take_reports() {
    for (const PeerId peer : peers_) {
        const auto found = seat_of_.find(peer);
        const Seat* seat = found == seat_of_.end() ? nullptr : &seats_.at(found->second);
        if (seat == nullptr || !seat->has_reported) {
            result_.add_client(true, false, 0, "it did not report");
            continue;
        }
        const RefereeReport& report = seat->report;
        const bool is_equal = report.is_equal && report.crc32 == seat->expected.crc32;
        result_.add_client(true, is_equal, report.crc32, report.difference);
    }
    if (result_.clients_joined < options_.clients && result_.first_difference.empty()) {
        result_.first_difference = std::to_string(options_.clients - result_.clients_joined) +
                                   " clients were not there at the end";
    }
}

void MatchHost::say_goodbye() {
    const std::vector<PeerId> peers = peers_;
    for (const PeerId peer : peers) {
        server_.for_each_driver([&](NetDriver& driver) { driver.disconnect(peer); });
    }
    (void)turn_until(peers.empty() ? 0 : goodbye_s, [] { return false; });
}

}  // namespace replayout::match
