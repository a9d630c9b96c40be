// SPDX-License-Identifier: MIT
#include "instructions/running_server.h"

#include "instructions/counted_tick.h"
#include "support/measured_driver.h"
#include "support/stop_watch.h"

namespace replayout::bench {

namespace {

constexpr std::int64_t tick_ms = 33;

[[nodiscard]] NetDriverSettings driver_settings(const RunningServerSettings& settings) {
    return measured_driver(settings.config, settings.interest, settings.sharing);
}

}  // namespace

RunningServer::RunningServer(const RunningServerSettings& settings, CountedGame& game)
    : settings_(settings),
      game_(game),
      clients_(settings.clients, make_hello(game.layouts(), driver_settings(settings)),
               settings.answer_delay_ticks),
      server_(driver_settings(settings), clients_, game) {}

std::string RunningServer::start() {
    for (const RepLayout* layout : game_.layouts()) {
        if (const Status added = server_.add_layout(*layout); !added) {
            return added.error().message;
        }
    }
    if (const Status listens = server_.listen(); !listens) {
        return listens.error().message;
    }
    game_.begin(server_, clients_.peers());
    return {};
}

double RunningServer::tick(bool is_playing) {
    now_ = now_.plus_milliseconds(tick_ms);
    const StopWatch dispatch;
    replayout_counted_dispatch(server_, now_);
    double seconds = dispatch.seconds();
    if (is_playing) {
        game_.play(server_);
    }
    const StopWatch flush;
    replayout_counted_flush(server_, now_);
    seconds += flush.seconds();
    if (are_clients_in_) {
        clients_.answer();
    }
    return seconds;
}

bool RunningServer::is_settled() const {
    return server_.connection_count() == settings_.clients && server_.is_settled();
}

std::string RunningServer::fault() const {
    if (server_.connection_count() != settings_.clients) {
        return "a client was closed";
    }
    if (clients_.packets_refused() != 0) {
        return "a packet was sent that no client can read";
    }
    return {};
}

}  // namespace replayout::bench
