// SPDX-License-Identifier: MIT
//
// Names that a hostile server makes up, in the log of its client: a line is one line, whatever is
// in them, of bounded length, and there are few.
#include <replayout/layout_description.h>
#include <replayout/netdriver/peer_log.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

[[nodiscard]] std::vector<std::string> hostile_names() {
    return {
        "two\nlines",
        "\x1b]0;title\x07\x1b[2J\x1b[31m",
        std::string("a\0b", 3),
        "\x7f\x08\x08\r",
        "\xe2\x80\xae"
        "eman\xe2\x80\xac",  // from right to left
        "\xc2\x9b"
        "31m",                                   // a control character of two bytes
        "\xe2\x80\xa8\xe2\x80\xa9",              // separators of lines
        "\"back\\slash %s %n ${jndi:ldap://x}",  // means nothing to anybody
        std::string(200, 'x'),
    };
}

[[nodiscard]] bool prints(const std::string& line) {
    return std::all_of(line.begin(), line.end(),
                       [](char character) { return character >= 0x20 && character < 0x7F; });
}

/// Every line prints, and none is much longer than what a name is cut to, escaped.
void check_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        CAPTURE(line.substr(0, 200));
        CHECK(prints(line));
        CHECK(line.size() <= 4 * PeerLog::text_bytes_max + 200);
    }
}

/// A described layout with one number in it.
[[nodiscard]] Bytes described(const std::string& class_name, const std::string& member_name,
                              std::uint8_t form = 1) {
    Bytes bytes(class_name.size() + member_name.size() + 64);
    BitWriter writer(bytes);
    writer.write_bits(6, 8);  // which message it is
    writer.write_bits(layout_description_version, 8);
    write_text(writer, class_name);
    writer.write_packed_uint(1'024);
    writer.write_packed_uint(2'048);
    writer.write_bits(form, 8);
    writer.write_bits(0x1234, 32);
    write_text(writer, member_name);
    writer.write_bits(0, 8);
    REQUIRE(!writer.overflowed());
    bytes.resize(writer.byte_count());
    return bytes;
}

/// A layout that the client is to have under that name, and has not.
[[nodiscard]] Bytes known(const std::string& class_name) {
    Bytes bytes(1 + 16);
    bytes[0] = std::byte{5};
    const auto name = std::as_bytes(std::span(class_name));
    bytes.insert(bytes.end(), name.begin(), name.end());
    return bytes;
}

[[nodiscard]] std::string own_class() {
    return std::string(TestSchema::get().pawn().name());
}

/// A client of a server that tells it its layouts.
struct ToldClient {
    explicit ToldClient(const NetConfig& config = {}) : server(config, LayoutPolicy::SkipUnknown) {
        server.forge().header().ack = 1;
    }

    /// In parts, if it is large.
    void tell(const Bytes& message) {
        const std::size_t part_bytes = fragment_bytes(NetConfig().packet_bytes_max);
        for (std::size_t offset = 0; offset < message.size(); offset += part_bytes) {
            const std::size_t end = std::min(offset + part_bytes, message.size());
            Bunch bunch = control_bunch(sequence++,
                                        Bytes(message.begin() + static_cast<std::ptrdiff_t>(offset),
                                              message.begin() + static_cast<std::ptrdiff_t>(end)));
            if (message.size() > part_bytes) {
                bunch.header.is_partial = true;
                bunch.header.is_partial_initial = offset == 0;
                bunch.header.is_partial_final = end == message.size();
            }
            server.deliver_packet({bunch});
        }
    }

    ForgedServer server;
    std::uint16_t sequence = 1;
};

}  // namespace

TEST_CASE("Text of peers: names of a server's classes and properties print in the log, cut short",
          "[netdriver][peer_log][hostile]") {
    for (const std::string& name : hostile_names()) {
        const auto lines_of = [](const Bytes& message) {
            const LogSpy spy(LogLevel::Warning);
            ToldClient client;
            client.tell(message);
            check_lines(LogSpy::messages());
            return LogSpy::messages().size();
        };
        CHECK(lines_of(known(name)) == 2);  // and that the connection was closed
        CHECK(lines_of(described(own_class(), name)) == 1);
        CHECK(lines_of(described(name, name, 99)) == 2);  // of a form that there is not
    }
}

TEST_CASE("Text of peers: what a layout says of differences prints, for whoever prints it",
          "[netdriver][peer_log][hostile]") {
    for (const std::string& name : hostile_names()) {
        const LogSpy spy(LogLevel::Warning);
        ToldClient client;
        client.tell(described(own_class(), name));
        client.tell({std::byte{2}});  // welcome
        const RepLayout* layout = client.server.driver().server_layout(own_class());
        REQUIRE(layout != nullptr);
        const auto diagnostics = layout->diagnostics();
        CHECK(diagnostics.size() > 1);
        check_lines({diagnostics.begin(), diagnostics.end()});
    }
}

TEST_CASE("Text of peers: a name of a million bytes is a line of some thousand",
          "[netdriver][peer_log][hostile]") {
    NetConfig config;
    config.bunch_bytes_max = 1'048'576;
    config.reliable_waiting_bytes_max = 4 * 1'048'576;
    config.described_bytes_max = 4 * 1'048'576;
    const std::string name(1'000'000, '\x01');
    for (const Bytes& message :
         {known(name), described(own_class(), name), described(name, "number", 99)}) {
        const LogSpy spy(LogLevel::Warning);
        ToldClient client(config);
        client.tell(message);
        const std::vector<std::string>& lines = LogSpy::messages();
        CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
            return line.find("\\x01...\"") != std::string::npos;
        }));
        check_lines(lines);
    }
}

TEST_CASE("Text of peers: names of objects that are not found print in the log",
          "[netdriver][peer_log][hostile]") {
    constexpr std::uint64_t name_fact = 1u << 4;
    ForgedServer server;
    server.world().refused_layout = &TestSchema::get().pawn();
    server.welcome();
    std::uint32_t channel = 1;
    for (const std::string& name : hostile_names()) {
        const LogSpy spy(LogLevel::Warning);
        server.tick(1'000);
        server.deliver_packet(
            {open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number, name_fact,
                        [&](BitWriter& writer) { write_text(writer, name.substr(0, 96)); })});
        REQUIRE(server.is_joined());
        CHECK(LogSpy::messages().size() == 1);
        check_lines(LogSpy::messages());
        ++channel;
    }
}

TEST_CASE("Text of peers: a flood of what cannot be spawned is ten lines a second, and counted",
          "[netdriver][peer_log][hostile]") {
    ForgedServer server;
    server.world().refused_layout = &TestSchema::get().pawn();
    server.welcome();
    const LogSpy spy(LogLevel::Warning);
    for (std::uint32_t channel = 1; channel <= 300; ++channel) {
        server.deliver_packet({open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number)});
    }
    REQUIRE(server.is_joined());
    CHECK(LogSpy::messages().size() == 10);
    server.tick(1'000);
    server.deliver_packet({open_bunch(301, NetGUID{301}, TestSchema::pawn_number)});
    REQUIRE(LogSpy::messages().size() == 11);
    CHECK(LogSpy::messages().back().find("(290 lines like this were left out before)") !=
          std::string::npos);
}

}  // namespace replayout::test
