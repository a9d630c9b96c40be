// SPDX-License-Identifier: MIT
#include "savings/warm_server.h"

namespace replayout::bench {

namespace {

constexpr std::uint32_t join_ticks_max = 20'000;
constexpr const char* not_settled = "not every client has joined and been sent every object";

}  // namespace

WarmServer::WarmServer(const SavingsRow& row, std::uint32_t connections, SharingLevel sharing)
    : game_(row.make_game()) {
    error_ = game_.game->error();
    if (!error_.empty()) {
        return;
    }
    RunningServerSettings settings = game_.settings;
    settings.clients = connections;
    settings.sharing = sharing;
    server_.emplace(settings, *game_.game);
    error_ = server_->start();
    for (std::uint32_t i = 0; error_.empty() && i < game_.alone_ticks; ++i) {
        (void)server_->tick(true);
    }
}

double WarmServer::join() {
    double seconds = 0;
    server_->let_clients_in();
    std::uint32_t ticks = 0;
    while (!server_->is_settled() && ticks < join_ticks_max) {
        seconds += server_->tick(false);
        ++ticks;
    }
    error_ = server_->is_settled() ? "" : not_settled;
    return seconds;
}

void WarmServer::warm_up() {
    server_->begin_to_lose();
    server_->set_digesting(true);
    for (std::uint32_t i = 0; i < game_.warm_ticks; ++i) {
        (void)server_->tick(true);
    }
    server_->set_digesting(false);
}

}  // namespace replayout::bench
