// SPDX-License-Identifier: MIT
#include "instructions/counted_run.h"

#include "instructions/answering_clients.h"
#include "instructions/counted_tick.h"

namespace replayout::bench {

namespace {

constexpr std::int64_t tick_ms = 33;
constexpr std::uint32_t still_ticks = 10;

// What looks for mistakes is not to be counted, whatever the build.
[[nodiscard]] NetDriverSettings driver_settings(const CountedRunSettings& settings) {
    NetDriverSettings driver;
    driver.config = settings.config;
    driver.interest = settings.interest;
    driver.is_validating = false;
    driver.mark_validation_ticks = 0;
    return driver;
}

class CountedRun {
  public:
    CountedRun(const CountedRunSettings& settings, CountedGame& game)
        : settings_(settings),
          game_(game),
          clients_(settings.clients, make_hello(game.layouts(), driver_settings(settings)),
                   settings.answer_delay_ticks),
          server_(driver_settings(settings), clients_, game) {}

    [[nodiscard]] CountedRunResult play();

  private:
    [[nodiscard]] bool start();
    [[nodiscard]] bool is_settled() const {
        return server_.connection_count() == settings_.clients && server_.is_settled();
    }
    void play_ticks(std::string_view phase, std::uint32_t count);
    void stand_still();
    void join();
    /// `is_playing`: the game plays in it. Clients hear and answer once they have begun to.
    void tick(bool is_playing);
    void end_phase(std::string_view name);

    const CountedRunSettings& settings_;
    CountedGame& game_;
    AnsweringClients clients_;
    NetDriver server_;
    NetTime now_;
    bool are_clients_there_ = false;
    NetStats phase_began_;
    std::uint32_t phase_ticks_ = 0;
    CountedRunResult result_;
};

bool CountedRun::start() {
    for (const RepLayout* layout : game_.layouts()) {
        if (const Status added = server_.add_layout(*layout); !added) {
            result_.error = added.error().message;
            return false;
        }
    }
    if (const Status listens = server_.listen(); !listens) {
        result_.error = listens.error().message;
        return false;
    }
    game_.begin(server_, clients_.peers());
    return true;
}

void CountedRun::tick(bool is_playing) {
    now_ = now_.plus_milliseconds(tick_ms);
    replayout_counted_dispatch(server_, now_);
    if (is_playing) {
        game_.play(server_);
    }
    replayout_counted_flush(server_, now_);
    if (are_clients_there_) {
        clients_.answer();
    }
    ++phase_ticks_;
}

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
    are_clients_there_ = true;
    while (!is_settled() && phase_ticks_ < settings_.join_ticks_max) {
        tick(false);
    }
    if (!is_settled()) {
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
    if (!start()) {
        return result_;
    }
    play_ticks("alone", settings_.alone_ticks);
    if (settings_.clients > 0) {
        join();
    } else {
        stand_still();
    }
    clients_.set_loss(settings_.loss);
    play_ticks("warm", settings_.warm_ticks);
    play_ticks("play", settings_.play_ticks);
    if (result_.error.empty() && server_.connection_count() != settings_.clients) {
        result_.error = "a client was closed";
    }
    if (result_.error.empty() && clients_.packets_refused() != 0) {
        result_.error = "a packet was sent that no client can read";
    }
    return result_;
}

}  // namespace

CountedRunResult play_counted_run(const CountedRunSettings& settings, CountedGame& game) {
    return CountedRun(settings, game).play();
}

}  // namespace replayout::bench
