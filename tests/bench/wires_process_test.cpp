// SPDX-License-Identifier: MIT
//
// replayout_match as several processes: what becomes of the others where one is killed, comes back,
// or says what it likes.
#include "match/guests/match_sockets.h"
#include "support/checks/catch.h"
#include "support/checks/child_process.h"
#include "support/checks/seeded_random.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace replayout::test {
namespace {

using match::MatchTransport;
using namespace std::chrono_literals;

// None of these is waited for where all is well.
constexpr auto begin_max = 60s;
constexpr auto end_max = 120s;

[[nodiscard]] bool is_usable(MatchTransport transport) {
    const auto server = match::listen_at(transport, "127.0.0.1:0");
    if (!server) {
        WARN("left out: " << server.error().message);
    }
    return server.has_value();
}

/// A server, and two clients in each of three processes.
class Processes {
  public:
    explicit Processes(MatchTransport transport) : transport_(transport) {
        // So fast that it takes some seconds, and there is a middle of it.
        server_ = std::make_unique<ChildProcess>(
            arguments({"--serve", "127.0.0.1:0", "--clients", "6", "--speed", "3"}));
        const std::string line = server_->wait_for_line("serving at ", begin_max);
        REQUIRE_FALSE(line.empty());
        address_ = line.substr(std::string("serving at ").size());
    }

    void begin_all_clients() {
        for (int i = 0; i < 3; ++i) {
            clients_.push_back(begin_clients());
        }
    }

    [[nodiscard]] std::unique_ptr<ChildProcess> begin_clients() const {
        return std::make_unique<ChildProcess>(
            arguments({"--connect", address_, "--clients", "2", "--quiet"}));
    }
    void wait_for_middle() {
        REQUIRE_FALSE(server_->wait_for_line("serving 30 %", begin_max).empty());
    }
    [[nodiscard]] MatchTransport transport() const noexcept { return transport_; }
    [[nodiscard]] ChildProcess& server() { return *server_; }
    [[nodiscard]] std::unique_ptr<ChildProcess>& clients(std::size_t index) {
        return clients_[index];
    }
    [[nodiscard]] std::uint16_t port() const {
        return static_cast<std::uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
    }

  private:
    [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
        std::vector<std::string> all{REPLAYOUT_MATCH_PROGRAM,
                                     "--transport",
                                     match::name_of(transport_),
                                     "--ticks",
                                     "300",
                                     "--timeout",
                                     "4"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    MatchTransport transport_;
    std::string address_;
    std::unique_ptr<ChildProcess> server_;
    std::vector<std::unique_ptr<ChildProcess>> clients_;
};

/// What a stranger says at the port: datagrams, or what he says before his connection is shut.
void say_garbage(MatchTransport transport, std::uint16_t port) {
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int type = transport == MatchTransport::WebSocket ? SOCK_STREAM : SOCK_DGRAM;
    SeededRandom random(9);
    for (int i = 0; i < 200; ++i) {
        const int socket = ::socket(AF_INET, type, 0);
        REQUIRE(socket >= 0);
        (void)::connect(socket, reinterpret_cast<const sockaddr*>(&server), sizeof(server));
        std::vector<unsigned char> bytes(random.below(1'300));
        for (unsigned char& byte : bytes) {
            byte = static_cast<unsigned char>(random.below(256));
        }
        (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        ::close(socket);
    }
}

/// A match over each transport that there is. `in_middle(processes)` runs in the middle of each. A
/// match begins when the one before it has had its middle: matches do not wait for the test, and
/// one that began with the others could be over before its turn came.
template <typename InMiddle>
[[nodiscard]] std::vector<std::unique_ptr<Processes>> play_all(InMiddle in_middle) {
    std::vector<std::unique_ptr<Processes>> matches;
    for (const MatchTransport transport :
         {MatchTransport::Udp, MatchTransport::Enet, MatchTransport::WebSocket}) {
        if (is_usable(transport)) {
            Processes& processes = *matches.emplace_back(std::make_unique<Processes>(transport));
            processes.begin_all_clients();
            processes.wait_for_middle();
            in_middle(processes);
        }
    }
    return matches;
}

TEST_CASE("Wires: a client process is killed and comes back amid garbage, and all end equal",
          "[bench][wires]") {
    const auto matches = play_all([](Processes& processes) {
        processes.clients(1)->kill();
        say_garbage(processes.transport(), processes.port());
        processes.clients(1) = processes.begin_clients();
    });
    for (const auto& processes : matches) {
        CAPTURE(match::name_of(processes->transport()));
        const int status = processes->server().wait(end_max);
        INFO(processes->server().said());
        CHECK(status == 0);
        for (std::size_t i = 0; i < 3; ++i) {
            const int client_status = processes->clients(i)->wait(end_max);
            INFO(processes->clients(i)->said());
            CHECK(client_status == 0);
        }
    }
}

TEST_CASE("Wires: a client process is killed and stays away, and the others end equal",
          "[bench][wires]") {
    const auto matches = play_all([](Processes& processes) { processes.clients(1)->kill(); });
    for (const auto& processes : matches) {
        CAPTURE(match::name_of(processes->transport()));
        CHECK(processes->server().wait(end_max) == 1);  // which misses two
        CHECK(processes->clients(0)->wait(end_max) == 0);
        CHECK(processes->clients(2)->wait(end_max) == 0);
    }
}

TEST_CASE("Wires: the server process is killed, and its clients say so", "[bench][wires]") {
    const auto matches = play_all([](Processes& processes) { processes.server().kill(); });
    for (const auto& processes : matches) {
        CAPTURE(match::name_of(processes->transport()));
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(processes->clients(i)->wait(end_max) == 1);
        }
    }
}

}  // namespace
}  // namespace replayout::test
