// SPDX-License-Identifier: MIT
#include "instructions/counted_run.h"

#include "instructions/counted_tick.h"

namespace replayout::bench {

namespace {

constexpr std::uint32_t still_ticks = 10;

class CountedRun {
  public:
    CountedRun(const CountedRunSettings& settings, CountedGame& game)
        : settings_(settings), server_(settings, game) {}

    [[nodiscard]] CountedRunResult play();

  private:
    void play_ticks(std::string_view phase, std::uint32_t count);
    void stand_still();
    void join();
    void tick(bool is_playing) {
        (void)server_.tick(is_playing);
        ++phase_ticks_;
    }
    void end_phase(std::string_view name);

    const CountedRunSettings& settings_;
    RunningServer server_;
    NetStats phase_began_;
    std::uint32_t phase_ticks_ = 0;
    CountedRunResult result_;
};

void CountedRun::play_ticks(std::string_view phase, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        tick(true);
    }
    end_phase(phase);
}

void CountedRun::stand_still() {
    for (std::uint32_t i = 0; i < still_ticks; ++i) {
        tick(false);
    }
    end_phase("still");
}

void CountedRun::join() {
    server_.let_clients_in();
    while (!server_.is_settled() && phase_ticks_ < settings_.join_ticks_max) {
        tick(false);
    }
    if (!server_.is_settled()) {
        result_.error = "not every client has joined and been sent every object";
    }
    end_phase("join");
}

void CountedRun::end_phase(std::string_view name) {
    const NetStats& now = server_.stats();
    CountedPhase& phase = result_.phases.emplace_back();
    phase.name = name;
    phase.ticks = phase_ticks_;
    phase.objects_compared =
        now.replication.objects_compared - phase_began_.replication.objects_compared;
    phase.channels_opened = now.channels_opened - phase_began_.channels_opened;
    phase.records_sent = now.records_sent - phase_began_.records_sent;
    phase.records_lost = now.records_lost - phase_began_.records_lost;
    phase.bytes_sent = now.bytes_sent - phase_began_.bytes_sent;
    phase_began_ = now;
    phase_ticks_ = 0;
    replayout_phase_ends();
}

CountedRunResult CountedRun::play() {
    result_.error = server_.start();
    if (!result_.error.empty()) {
        return result_;
    }
    play_ticks("alone", settings_.alone_ticks);
    if (settings_.clients > 0) {
        join();
    } else {
        stand_still();
    }
    server_.begin_to_lose();
    play_ticks("warm", settings_.warm_ticks);
    play_ticks("play", settings_.play_ticks);
    if (result_.error.empty()) {
        result_.error = server_.fault();
    }
    return result_;
}

}  // namespace

CountedRunResult play_counted_run(const CountedRunSettings& settings, CountedGame& game) {
    return CountedRun(settings, game).play();
}

}  // namespace replayout::bench
