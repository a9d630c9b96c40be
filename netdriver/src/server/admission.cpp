// SPDX-License-Identifier: MIT
#include "admission.h"

#include "client_payloads.h"
#include "layout_messages.h"

#include <replayout/layout_description.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace replayout {

namespace {

/// The hello that a first packet begins with, if it does; nothing of it is trusted or kept.
[[nodiscard]] bool find_hello(std::span<const std::byte> datagram, std::uint16_t first_sequence,
                              PacketHeader& header, Hello& hello) noexcept {
    const std::size_t header_bytes = read_packet_header(datagram, header);
    if (header_bytes == 0 || !header.has_bunches) {
        return false;
    }
    BitReader reader(datagram.subspan(header_bytes));
    if (reader.read_packed_uint() == 0) {
        return false;
    }
    const BunchHeader bunch = read_bunch_header(reader);
    const bool is_first =
        bunch.channel.is_control() && bunch.sequence == first_sequence && !bunch.is_partial;
    return !reader.failed() && is_first &&
           read_hello(reader.take_bytes(bunch.payload_bytes), hello);
}

/// Most packets do, so it is looked at before anything else of a hello.
[[nodiscard]] bool acknowledges_nothing(std::span<const std::byte> datagram,
                                        const NetConfig& config) noexcept {
    const std::uint32_t none = config.first_sequence - 1;
    return datagram.size() >= packet_header_bytes_min &&
           std::to_integer<unsigned>(datagram[4]) == (none & 0xffu) &&
           std::to_integer<unsigned>(datagram[5]) == (none >> 8 & 0xffu);
}

}  // namespace

Admission::Admission(const ServerEnvironment& environment, ServerClients& clients,
                     ClientCalls& calls, ObjectLives& lives, ServerLog& log)
    : environment_(environment),
      clients_(clients),
      calls_(calls),
      lives_(lives),
      log_(log),
      schema_(environment.layouts.digest()),
      ended_sessions_(environment.settings.config.connections_max + refused_max,
                      &environment.memory.connections),
      descriptions_(Allocator<Vector<std::byte>>(&environment.memory.layout_table)) {
    if (environment.settings.layout_policy == LayoutPolicy::SkipUnknown) {
        describe_layouts();
    }
}

bool Admission::refuse_late_hello(const ServerClient& client, std::span<const std::byte> datagram) {
    if (!acknowledges_nothing(datagram, environment_.settings.config) ||
        !client.connection.is_acknowledged()) {
        return false;
    }
    PacketHeader header;
    if (!is_hello(datagram, header)) {
        return false;
    }
    refuse_session(client.connection.peer(), header);
    return true;
}

void Admission::note_ended(ServerClient& client, NetTime now) {
    NetConnection& connection = client.connection;
    ended_sessions_.add(connection.peer(), connection.session(), now,
                        connection.packets().sent().window().credit());
}

void Admission::forget_old_sessions(NetTime now) {
    const std::int64_t timeout_ms{environment_.settings.config.timeout_ms};
    ended_sessions_.forget_before(now.plus_milliseconds(-timeout_ms));
}

void Admission::receive(PeerId peer, std::span<const std::byte> datagram, NetTime now) {
    PacketHeader header;
    Hello hello;
    if (!find_hello(datagram,
                    static_cast<std::uint16_t>(environment_.settings.config.first_sequence), header,
                    hello)) {
        ++environment_.stats.packets_dropped;
        return;
    }
    if (ended_sessions_.contains(peer, header.session)) {
        refuse_session(peer, header);
        return;
    }
    ServerClient* const present = clients_.find(peer);
    // What is kept of a client grows with the objects, so a peer begins one session in a dispatch.
    // An honest one repeats its hello.
    if ((present != nullptr && present->begun_in == dispatch_) ||
        ended_sessions_.count(peer) >= EndedSessions::sessions_max) {
        ++environment_.stats.packets_dropped;
        ++environment_.stats.packets_over_rate;
        return;
    }
    if (present == nullptr &&
        clients_.size() >= environment_.settings.config.connections_max + refused_max) {
        ++environment_.stats.packets_dropped;
        return;
    }
    if (clients_.host().is(peer)) {
        ++environment_.stats.packets_dropped;  // that id is taken, for as long as there is a server
        return;
    }
    std::uint32_t datagram_count = 0;
    if (present != nullptr) {
        datagram_count = present->connection.datagram_count();
        replace(*present, now);
    }
    const CloseReason refusal = judge(hello);
    ServerClient& client = accept(peer, header.session, now);
    client.connection.set_datagram_count(datagram_count);
    ClientPayloads payloads(client, calls_, log_);
    client.connection.receive(datagram, now, payloads, client.sender);
    if (refusal == CloseReason::LayoutMismatch) {
        refuse_layout(client, hello, now);
    } else if (refusal != CloseReason::None) {
        client.connection.close(refusal, now);
    }
    if (!client.is_joined()) {
        return;  // refused, or what came behind the hello was not a client's to send
    }
    if (hello.schema != schema_) {
        client.awaits_layouts = true;
        client.may_tell_difference = true;
        send_layouts(client, hello);
    }
    client.connection.send_control(welcome_message());
    lives_.introduce(client);
}

void Admission::refuse_layout(ServerClient& client, const Hello& hello, NetTime now) {
    NetConnection& connection = client.connection;
    const std::uint32_t name_hash =
        environment_.layouts.find_difference(hello.layout_ids, hello.layout_count);
    CloseDetails details;
    details.peer_layout_count = hello.layout_count;
    details.has_peer_layout = LayoutTable::is_named(name_hash, hello.layout_ids);
    details.layout_name_hash = name_hash;
    connection.blame(details);
    Vector<std::byte> explanation{Allocator<std::byte>(environment_.settings.resource)};
    if (const RepLayout* const ours = environment_.layouts.find_by_hash(name_hash)) {
        explanation = explain_layout(*ours, environment_.settings.resource);
    }
    Vector<std::byte> message = refused_layout_message(
        {name_hash, {explanation.data(), explanation.size()}}, environment_.settings.resource);
    const std::size_t bytes_max =
        std::min<std::size_t>(explanation_bytes_max, environment_.settings.config.bunch_bytes_max);
    if (name_hash == 0 || message.size() > bytes_max) {
        connection.close(CloseReason::LayoutMismatch, now, name_hash);
        return;
    }
    client.may_tell_difference = true;
    connection.refuse_layout(std::move(message), now);
}

bool Admission::is_hello(std::span<const std::byte> datagram, PacketHeader& header) const {
    Hello hello;
    return find_hello(datagram,
                      static_cast<std::uint16_t>(environment_.settings.config.first_sequence),
                      header, hello);
}

// The sequence is far beyond what can be under way, so a peer that has heard anything in the
// session drops the packet. The packet is smaller than the hello, so a forged hello sends its
// victim no more than it cost the forger.
void Admission::refuse_session(PeerId peer, const PacketHeader& hello) {
    constexpr std::uint32_t far = 16'384;
    ++environment_.stats.packets_dropped;
    PacketHeader answer;
    answer.session = hello.session;
    answer.sequence = static_cast<std::uint16_t>(hello.sequence + far);
    answer.ack = answer.sequence;
    answer.ack_word_count = 1;
    std::array<std::byte, packet_header_bytes_max> bytes{};
    const std::size_t size = write_packet_header(bytes, answer);
    ++environment_.stats.packets_sent;
    environment_.stats.bytes_sent += size;
    environment_.transport.send(peer, std::span<const std::byte>(bytes).first(size));
}

void Admission::replace(ServerClient& client, NetTime now) {
    client.connection.end(CloseReason::Replaced);
    note_ended(client, now);
    clients_.end_replaced(client);
}

void Admission::describe_layouts() {
    descriptions_.reserve(environment_.layouts.count());
    for (std::uint32_t number = 0; number < environment_.layouts.count(); ++number) {
        const RepLayout& layout = *environment_.layouts.find(number);
        const Vector<std::byte> description =
            describe_layout(layout, environment_.settings.resource);
        descriptions_.push_back(described_layout_message({description.data(), description.size()},
                                                         environment_.settings.resource));
        if (descriptions_.back().size() > environment_.settings.config.bunch_bytes_max) {
            log(LogLevel::Error, "the layout of \"" + std::string(layout.name()) +
                                     "\" has a description larger than bunch_bytes_max: clients "
                                     "of other layouts are refused");
            descriptions_.clear();
            return;
        }
    }
}

bool Admission::may_describe(const Hello& hello) const noexcept {
    const std::size_t count = environment_.layouts.count();
    return hello.takes_layouts && count > 0 && descriptions_.size() == count;
}

void Admission::send_layouts(ServerClient& client, const Hello& hello) {
    NetConnection& connection = client.connection;
    // Where the list did not fit, what it leaves out may be the same.
    const bool is_list_whole =
        hello.layout_ids.size() / LayoutId::encoded_bytes >= hello.layout_count;
    for (std::uint32_t number = 0; number < environment_.layouts.count(); ++number) {
        const RepLayout& layout = *environment_.layouts.find(number);
        if (LayoutTable::is_listed(layout, hello.layout_ids)) {
            const Vector<std::byte> message = known_layout_message(
                {layout.fingerprint(), layout.name()}, environment_.settings.resource);
            connection.send_control({message.data(), message.size()});
        } else {
            if (is_list_whole) {
                client.other_versions.insert(number);
            }
            const Vector<std::byte>& message = descriptions_[number];
            connection.send_control({message.data(), message.size()});
        }
    }
}

CloseReason Admission::judge(const Hello& hello) const noexcept {
    if (hello.version != wire_version) {
        return CloseReason::WireVersion;
    }
    if (hello.schema != schema_ && !may_describe(hello)) {
        return CloseReason::LayoutMismatch;
    }
    return clients_.joined_count() >= environment_.settings.config.connections_max
               ? CloseReason::ServerFull
               : CloseReason::None;
}

ServerClient& Admission::accept(PeerId peer, std::uint16_t session, NetTime now) {
    ServerClient& client =
        clients_.add(PacketStream::Settings::of(environment_.settings.config, peer, session), now);
    if (const ArrivalCredit* const credit = ended_sessions_.credit(peer)) {
        client.connection.packets().bandwidth().begin_in_debt();
        client.connection.packets().sent().window().credit().continue_from(*credit, now);
    }
    (void)client.sender.begin_flush(now);
    client.begun_in = dispatch_;
    return client;
}

}  // namespace replayout
