// SPDX-License-Identifier: MIT
//
// Who says hello: judged, and a client from then on, whether it is served or only told why not; and
// what it is told first.
#include "layout_messages.h"
#include "replication_server_client.h"

#include <replayout/layout_description.h>

#include <algorithm>
#include <array>
#include <new>
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

}  // namespace

void ReplicationServer::receive_hello(PeerId peer, std::span<const std::byte> datagram,
                                      NetTime now) {
    PacketHeader header;
    Hello hello;
    if (!find_hello(datagram, static_cast<std::uint16_t>(settings_.config.first_sequence), header,
                    hello)) {
        ++stats_.packets_dropped;
        return;
    }
    if (ended_sessions_.contains(peer, header.session)) {
        refuse_session(peer, header);
        return;
    }
    Client* const present = find_client(peer);
    // What is kept of a client grows with the objects, so a peer begins one session in a dispatch.
    // An honest one repeats its hello.
    if ((present != nullptr && present->begun_in == dispatch_) ||
        ended_sessions_.count(peer) >= EndedSessions::sessions_max) {
        ++stats_.packets_dropped;
        ++stats_.packets_over_rate;
        return;
    }
    if (present == nullptr && clients_.size() >= settings_.config.connections_max + refused_max) {
        ++stats_.packets_dropped;
        return;
    }
    if (host_.has_value() && peer == *host_) {
        ++stats_.packets_dropped;  // that id is taken, for as long as there is a server
        return;
    }
    std::uint32_t datagram_count = 0;
    if (present != nullptr) {
        datagram_count = present->connection.datagram_count();
        replace(*present, now);
    }
    const CloseReason refusal = judge(hello);
    Client& client = accept(peer, header.session, now);
    client.connection.set_datagram_count(datagram_count);
    client.connection.receive(datagram, now, client, client.sender);
    if (refusal == CloseReason::LayoutMismatch) {
        refuse_layout(client, hello, now);
    } else if (refusal != CloseReason::None) {
        client.connection.close(refusal, now);
    }
    if (!is_joined(client)) {
        return;  // refused, or what came behind the hello was not a client's to send
    }
    if (hello.schema != schema_) {
        client.awaits_layouts = true;
        client.may_tell_difference = true;
        send_layouts(client, hello);
    }
    client.connection.send_control(welcome_message());
    introduce_dormant(client);
    introduce_torn_off(client);
    introduce_departing(client);
    interest_.add_client(client.interest);
    show_conditional(client);
    client.sender.mark_pending(live_);
}

void ReplicationServer::refuse_layout(Client& client, const Hello& hello, NetTime now) {
    NetConnection& connection = client.connection;
    const std::uint32_t name_hash = layouts_.find_difference(hello.layout_ids, hello.layout_count);
    ClosePlace place;
    place.peer_layout_count = hello.layout_count;
    place.has_peer_layout = LayoutTable::is_named(name_hash, hello.layout_ids);
    place.layout_name_hash = name_hash;
    connection.blame(place);
    Vector<std::byte> explanation{Allocator<std::byte>(settings_.resource)};
    if (const RepLayout* const ours = layouts_.find_by_hash(name_hash)) {
        explanation = explain_layout(*ours, settings_.resource);
    }
    Vector<std::byte> message = refused_layout_message(
        {name_hash, {explanation.data(), explanation.size()}}, settings_.resource);
    const std::size_t bytes_max =
        std::min<std::size_t>(explanation_bytes_max, settings_.config.bunch_bytes_max);
    if (name_hash == 0 || message.size() > bytes_max) {
        connection.close(CloseReason::LayoutMismatch, now, name_hash);
        return;
    }
    client.may_tell_difference = true;
    connection.refuse_layout(std::move(message), now);
}

bool ReplicationServer::is_hello(std::span<const std::byte> datagram, PacketHeader& header) const {
    Hello hello;
    return find_hello(datagram, static_cast<std::uint16_t>(settings_.config.first_sequence), header,
                      hello);
}

// The sequence is far beyond what can be under way, so a peer that has heard anything in the
// session drops the packet. The packet is smaller than the hello, so a forged hello sends its
// victim no more than it cost the forger.
void ReplicationServer::refuse_session(PeerId peer, const PacketHeader& hello) {
    constexpr std::uint32_t far = 16'384;
    ++stats_.packets_dropped;
    PacketHeader answer;
    answer.session = hello.session;
    answer.sequence = static_cast<std::uint16_t>(hello.sequence + far);
    answer.ack = answer.sequence;
    answer.ack_word_count = 1;
    std::array<std::byte, packet_header_bytes_max> bytes{};
    const std::size_t size = write_packet_header(bytes, answer);
    ++stats_.packets_sent;
    stats_.bytes_sent += size;
    transport_.send(peer, std::span<const std::byte>(bytes).first(size));
}

void ReplicationServer::replace(Client& client, NetTime now) {
    NetConnection& connection = client.connection;
    connection.end(CloseReason::Replaced);
    ended_sessions_.add(connection.peer(), connection.session(), now,
                        connection.packets().credit());
    if (client.is_told_of) {
        replaced_.push_back({connection.peer(), connection.close_reason()});
    }
    clients_by_peer_.erase(connection.peer().value);
    const std::uint32_t place = client.place;
    clients_.erase(clients_.begin() + place);
    number_clients(place);
    destroy(&client);
}

void ReplicationServer::describe_layouts() {
    descriptions_.reserve(layouts_.count());
    for (std::uint32_t number = 0; number < layouts_.count(); ++number) {
        const RepLayout& layout = *layouts_.find(number);
        const Vector<std::byte> description = describe_layout(layout, settings_.resource);
        descriptions_.push_back(
            described_layout_message({description.data(), description.size()}, settings_.resource));
        if (descriptions_.back().size() > settings_.config.bunch_bytes_max) {
            log(LogLevel::Error, "the layout of \"" + std::string(layout.name()) +
                                     "\" has a description larger than bunch_bytes_max: clients "
                                     "of other layouts are refused");
            descriptions_.clear();
            return;
        }
    }
}

bool ReplicationServer::may_describe(const Hello& hello) const noexcept {
    return hello.takes_layouts && layouts_.count() > 0 && descriptions_.size() == layouts_.count();
}

void ReplicationServer::send_layouts(Client& client, const Hello& hello) {
    NetConnection& connection = client.connection;
    // Where the list did not fit, what it leaves out may be the same.
    const bool is_list_whole =
        hello.layout_ids.size() / LayoutId::encoded_bytes >= hello.layout_count;
    for (std::uint32_t number = 0; number < layouts_.count(); ++number) {
        const RepLayout& layout = *layouts_.find(number);
        if (LayoutTable::is_listed(layout, hello.layout_ids)) {
            const Vector<std::byte> message =
                known_layout_message({layout.fingerprint(), layout.name()}, settings_.resource);
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

CloseReason ReplicationServer::judge(const Hello& hello) const noexcept {
    if (hello.version != wire_version) {
        return CloseReason::WireVersion;
    }
    if (hello.schema != schema_ && !may_describe(hello)) {
        return CloseReason::LayoutMismatch;
    }
    return connection_count() >= settings_.config.connections_max ? CloseReason::ServerFull
                                                                  : CloseReason::None;
}

ReplicationServer::Client& ReplicationServer::accept(PeerId peer, std::uint16_t session,
                                                     NetTime now) {
    void* memory = memory_.connections.allocate(sizeof(Client), alignof(Client));
    ServerLane& lane = lanes_.emptiest();
    ++lane.client_count;
    auto* client = ::new (memory)
        Client(*this, PacketSender::Settings::of(settings_.config, peer, session), lane, now);
    if (const ArrivalCredit* const credit = ended_sessions_.credit(peer)) {
        client->connection.packets().begin_in_debt();
        client->connection.packets().credit().continue_from(*credit, now);
    }
    (void)client->sender.begin_flush(now);
    client->begun_in = dispatch_;
    add_client(*client);
    client->is_addressed = clients_by_peer_.emplace(peer.value, client).second;
    REPLAYOUT_ASSERT(client->is_addressed);
    return *client;
}

}  // namespace replayout
