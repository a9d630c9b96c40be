// SPDX-License-Identifier: MIT
#include "match/session/option_rules.h"

#include "match/guests/match_sockets.h"

#include <filesystem>
#include <span>
#include <system_error>

namespace replayout::match {

namespace {

/// Where a recording is played, only these options have an effect.
[[nodiscard]] std::string fault_with_play(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = option->get_name();
        const bool is_allowed = name == "TRACE" || name == "--play" || name == "--seek" ||
                                name == "--seeks" || name == "--seed" || name == "--quiet" ||
                                name == "--json" || name.find("--help") != std::string::npos;
        if (!is_allowed && option->count() > 0) {
            return "--" + option->get_lnames().front() +
                   " says nothing of a recording: --play has it as it is";
        }
    }
    return "";
}

/// Whether or not there is one yet. Of what cannot be looked at nobody knows that it is.
[[nodiscard]] bool is_same_file(const std::string& left, const std::string& right) {
    const auto canonical = [](const std::string& path) {
        std::error_code error;
        const std::filesystem::path absolute = std::filesystem::absolute(path, error);
        return error ? absolute : std::filesystem::weakly_canonical(absolute, error);
    };
    const std::filesystem::path first = canonical(left);
    return !first.empty() && first == canonical(right);
}

/// About --record and --play.
[[nodiscard]] std::string recording_fault(const CLI::App& app, const MatchOptions& options) {
    if (app.count("--play") > 0) {
        return fault_with_play(app);
    }
    if (app.count("--record") > 0 && app.count("--json") > 0 && options.json_path != "-" &&
        is_same_file(options.record_path, options.json_path)) {
        return "--record and --json are two files";
    }
    if (app.count("--record") > 0 && options.is_reporting) {
        return "--record is of a match that is played once, and --report plays it twice";
    }
    return "";
}

/// An option that was said and has no sense beside others.
struct Misplaced {
    const char* option;
    const char* why;
};

constexpr const char* network_is_real = "is of the simulated network, of --transport loopback";
constexpr Misplaced not_over_sockets[] = {
    {"--loss", network_is_real},       {"--burst", network_is_real},
    {"--duplicate", network_is_real},  {"--reorder", network_is_real},
    {"--latency-ms", network_is_real}, {"--jitter-ms", network_is_real},
};
constexpr const char* clients_are_elsewhere =
    "is not with --serve, whose clients come and go as they like";
constexpr Misplaced not_of_server[] = {
    {"--join-over", clients_are_elsewhere},
    {"--churn", clients_are_elsewhere},
    {"--report", "is not with --serve: it plays the match twice"},
};
constexpr const char* is_of_server = "is the server's to say, and not with --connect";
constexpr Misplaced not_of_clients[] = {
    {"--bandwidth", is_of_server}, {"--join-over", is_of_server},
    {"--churn", is_of_server},     {"--owners", is_of_server},
    {"--interest", is_of_server},  {"--radius", is_of_server},
    {"--sharing", is_of_server},   {"--twin", is_of_server},
    {"--workers", is_of_server},   {"--executor-work-min", is_of_server},
    {"--report", is_of_server},    {"--report-rows", is_of_server},
    {"--counters", is_of_server},  {"--speed", is_of_server},
};
constexpr Misplaced not_of_either[] = {
    {"--record", "is of a match in one process"},
    {"--play", "is of a recording, which nobody serves"},
};
constexpr Misplaced not_alone[] = {
    {"--speed", "needs --serve"},
    {"--timeout", "needs --serve or --connect"},
};

/// About the first of these that was said.
[[nodiscard]] std::string fault_among(const CLI::App& app, std::span<const Misplaced> options) {
    for (const Misplaced& option : options) {
        if (app.count(option.option) > 0) {
            return std::string(option.option) + " " + option.why;
        }
    }
    return "";
}

/// About what carries the packets.
[[nodiscard]] std::string wires_fault(const CLI::App& app, const MatchOptions& options) {
    const bool is_serving = app.count("--serve") > 0;
    const bool is_connecting = app.count("--connect") > 0;
    const bool is_loopback = options.transport == MatchTransport::Loopback;
    if ((is_serving && options.serve.empty()) || (is_connecting && options.connect.empty())) {
        return "--serve and --connect need an ADDRESS:PORT";
    }
    if (is_serving && is_connecting) {
        return "--serve and --connect are two processes";
    }
    if (!is_built(options.transport)) {
        return "this build has no --transport " + std::string(name_of(options.transport));
    }
    if (is_loopback && (is_serving || is_connecting)) {
        return "--serve and --connect need --transport udp, enet or websocket";
    }
    std::string fault = is_loopback ? "" : fault_among(app, not_over_sockets);
    if (fault.empty() && is_serving) {
        fault = fault_among(app, not_of_server);
    }
    if (fault.empty() && is_connecting) {
        fault = fault_among(app, not_of_clients);
    }
    if (fault.empty()) {
        fault = is_serving || is_connecting ? fault_among(app, not_of_either)
                                            : fault_among(app, not_alone);
    }
    return fault;
}

}  // namespace

std::string option_fault(const CLI::App& app, const MatchOptions& options) {
    if (std::string fault = wires_fault(app, options); !fault.empty()) {
        return fault;
    }
    if (app.count("--radius") > 0 && options.interest == MatchInterest::All) {
        return "--radius needs --interest grid or --interest distance";
    }
    if (options.workers > 1 && options.is_reporting) {
        return "--report needs --workers 1: who lays down what is told by time";
    }
    return recording_fault(app, options);
}

}  // namespace replayout::match
