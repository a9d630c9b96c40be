// SPDX-License-Identifier: MIT
#include "match/guests/guests_result.h"

#include "match/battle/printable.h"
#include "match/guests/match_guest.h"
#include "support/report/command_line.h"
#include "support/report/report_text.h"

#include <nlohmann/json.hpp>

namespace replayout::match {

using bench::add_row;
using bench::hex;

void GuestsResult::add(const MatchGuest& guest) {
    const std::size_t index = client_crc32.size();
    const auto& made = guest.report_made();
    clients_joined += guest.has_joined() ? 1u : 0u;
    clients_equal += made && made->is_equal ? 1u : 0u;
    client_crc32.push_back(made ? made->crc32 : 0);
    server_crc32.push_back(guest.end() ? guest.end()->crc32 : 0);
    if (guest.end()) {
        ticks = guest.end()->ticks;
    }
    if (!(made && made->is_equal) && first_difference.empty()) {
        first_difference = "client " + std::to_string(index) + ": " +
                           (made ? made->difference : guest.complaint());
    }
    packets_received += guest.stats().packets_received;
    bytes_received += guest.stats().bytes_received;
    packets_sent += guest.stats().packets_sent;
    bytes_sent += guest.stats().bytes_sent;
}

std::string report(const MatchOptions& options, const GuestsResult& result) {
    std::string text = "\nreplayout match, clients of " + printable(options.connect, 60) +
                       " over " + name_of(options.transport) + "\n\n";
    if (result.clients_joined == 0) {
        return text + "  NOT PLAYED: " + printable(result.first_difference) + "\n";
    }
    add_row(text, "clients", options.clients, ", of which ", result.clients_joined, " joined and ",
            result.clients_equal, " equal");
    if (!result.client_crc32.empty()) {
        add_row(text, "the first one's state", hex(result.client_crc32.front(), 8),
                "; it is to be ", hex(result.server_crc32.front(), 8));
    }
    add_row(text, "ticks", result.ticks, " of the match, in ", bench::grouped(result.seconds, 1),
            " s");
    add_row(text, "packets", result.packets_received, " received (", result.bytes_received,
            " bytes), ", result.packets_sent, " sent (", result.bytes_sent, " bytes)");
    text += result.is_good(options)
                ? "\n  All clients of this process equal the server.\n"
                : "\n  NOT EQUAL. First difference: " + printable(result.first_difference) + "\n";
    return text;
}

std::string to_json(const MatchOptions& options, const GuestsResult& result) {
    const auto crcs = [](const std::vector<std::uint32_t>& numbers) {
        nlohmann::json list = nlohmann::json::array();
        for (const std::uint32_t number : numbers) {
            list.push_back(hex(number, 8));
        }
        return list;
    };
    nlohmann::ordered_json json;
    json["role"] = "clients";
    json["transport"] = name_of(options.transport);
    json["connect"] = options.connect;
    json["traces"] = options.traces;
    json["clients"] = options.clients;
    json["ticks"] = result.ticks;
    json["seed"] = options.seed;
    json["push"] = bench::on_or_off(options.is_push_based);
    json["quantise"] = bench::on_or_off(options.is_quantised);
    json["converged"] = result.is_good(options);
    json["clients_joined"] = result.clients_joined;
    json["clients_equal"] = result.clients_equal;
    json["first_difference"] = result.first_difference;
    json["client_crc32"] = crcs(result.client_crc32);
    json["client_server_crc32"] = crcs(result.server_crc32);
    json["packets_received"] = result.packets_received;
    json["bytes_received"] = result.bytes_received;
    json["packets_sent"] = result.packets_sent;
    json["bytes_sent"] = result.bytes_sent;
    json["seconds"] = result.seconds;
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace replayout::match
