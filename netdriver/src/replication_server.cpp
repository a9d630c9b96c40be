// SPDX-License-Identifier: MIT
#include "replication_server.h"

#include <replayout/layout_description.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>

namespace replayout {

namespace {

[[nodiscard]] PacketSender::Settings packet_settings(const NetDriverSettings& settings, PeerId peer,
                                                     std::uint16_t session) noexcept {
    return {peer,
            session,
            settings.config.packet_bytes_max,
            reliable_window(settings.config),
            settings.config.bytes_per_second_max,
            settings.config.has_congestion_control};
}

// Refused peers are heard out until they know why, and so take places beyond those of players.
constexpr std::size_t refused_max = 64;

/// The hello that a first packet begins with, if it does; nothing of it is trusted or kept.
[[nodiscard]] bool find_hello(std::span<const std::byte> datagram, PacketHeader& header,
                              Hello& hello) noexcept {
    const std::size_t header_bytes = read_packet_header(datagram, header);
    if (header_bytes == 0 || !header.has_bunches) {
        return false;
    }
    BitReader reader(datagram.subspan(header_bytes));
    if (reader.read_packed_uint() == 0) {
        return false;
    }
    const BunchHeader bunch = read_bunch_header(reader);
    const bool is_first = bunch.channel.is_control() && bunch.sequence == 1 && !bunch.is_partial;
    return !reader.failed() && is_first &&
           read_hello(reader.take_bytes(bunch.payload_bytes), hello);
}

[[nodiscard]] bool is_of_other_session(std::span<const std::byte> datagram,
                                       std::uint16_t session) noexcept {
    // Of most packets it is the session that decides, so it alone is looked at first.
    if (datagram.size() >= 2 && std::to_integer<unsigned>(datagram[0]) == (session & 0xffu) &&
        std::to_integer<unsigned>(datagram[1]) == session >> 8) {
        return false;
    }
    PacketHeader header;
    return read_packet_header(datagram, header) != 0 && header.session != session;
}

/// The assertion that follows can name neither.
void log_unknown_property(const RepLayout& layout, std::string_view property) {
    log(LogLevel::Error, "\"" + std::string(layout.name()) + "\" has no property \"" +
                             std::string(property) + "\" that is replicated");
}

}  // namespace

ReplicationServer::Client::Client(ReplicationServer& server, const PacketSender::Settings& settings,
                                  ServerLane& client_lane, NetTime now, Transport* recording)
    : is_replay(recording != nullptr),
      lane(client_lane),
      connection(server.settings_.config, settings,
                 recording != nullptr ? *recording : lane.client_transport, lane.stats,
                 ConnectionState::Joined, now, server.memory_, server.close_log_),
      sender(server.objects_, connection.packets(), lane.context, lane.stats,
             {server.settings_.config,
              settings.peer,
              {server.type_counters_.data(), server.type_counters_.size()},
              lane.candidates,
              lane.bundle_bytes,
              lane.bundle_choice,
              server.changes_},
             server.memory_),
      interest(settings.peer, server.memory_),
      call_limiter(server.settings_.config, now, &server.memory_.connections),
      server_(server) {
    if (server.settings_.is_validating) {
        sender.start_validating(server.guids_);
    }
}

CloseReason ReplicationServer::Client::handle_control(std::span<const std::byte> message) {
    Hello hello;
    return read_hello(message, hello) ? CloseReason::None : CloseReason::NotAllowed;
}

ReplicationServer::ReplicationServer(const NetDriverSettings& settings, const LayoutTable& layouts,
                                     Transport& transport, NetWorld& world, NetGUIDCache& guids,
                                     NetStats& stats, MemoryMeters& memory, bool& is_calling_out)
    : settings_(settings),
      layouts_(layouts),
      transport_(transport),
      world_(world),
      guids_(guids),
      stats_(stats),
      memory_(memory),
      schema_(layouts.digest()),
      lanes_(settings, guids, stats, transport, memory),
      objects_(&memory.objects),
      shadow_ids_(guids),
      live_(&memory.objects),
      due_(&memory.objects),
      calendar_(&memory.objects),
      class_frequencies_(Allocator<NetUpdateFrequency>(&memory.layout_table)),
      class_bands_(Allocator<std::uint8_t>(&memory.layout_table)),
      compared_alone_(&memory.scratch),
      written_alone_(&memory.scratch),
      polled_(&memory.objects),
      changes_(&memory.objects),
      bundles_(objects_, changes_, settings.config.packet_bytes_max - PacketBuilder::reserved_bytes,
               memory),
      dormancy_(&memory.objects),
      torn_off_(&memory.objects),
      interest_(settings.interest, objects_, world, stats.interest, memory),
      bundle_order_(objects_, interest_, &memory.scratch),
      conditional_(&memory.objects),
      new_objects_(&memory.objects),
      torn_family_(Allocator<std::uint32_t>(&memory.scratch)),
      destroyed_names_(&memory.objects),
      mark_validator_(settings.mark_validation_ticks, &memory.objects),
      type_counters_(Allocator<TypeCounters>(&memory.layout_table)),
      clients_(Allocator<Client*>(&memory.connections)),
      clients_by_peer_(&memory.connections),
      ended_sessions_(settings.config.connections_max + refused_max, &memory.connections),
      descriptions_(Allocator<Vector<std::byte>>(&memory.layout_table)),
      call_ids_(objects_, guids, &memory.scratch),
      called_(Allocator<Client*>(&memory.scratch)),
      call_scratch_(&memory.scratch),
      call_context_{call_ids_,        stats.replication, call_scratch_,
                    settings.sharing, nullptr,           settings.is_validating},
      call_encoder_(settings.config, &memory.scratch),
      call_runner_(settings.config, guids, stats, memory, is_calling_out),
      is_calling_out_(is_calling_out),
      close_log_(layouts, now_) {
    if (settings.is_counting_types) {
        type_counters_.reserve(layouts.count());
        for (std::uint32_t number = 0; number < layouts.count(); ++number) {
            type_counters_.emplace_back(*layouts.find(number), &memory.layout_table);
        }
    }
    for (std::uint32_t number = 0; number < layouts.count(); ++number) {
        if (is_compared_alone(*layouts.find(number))) {
            compared_alone_.insert(number);
        }
    }
    if (settings.layout_policy == LayoutPolicy::SkipUnknown) {
        describe_layouts();
    }
}

ReplicationServer::~ReplicationServer() {
    for (Client* client : clients_) {
        destroy(client);
    }
}

void ReplicationServer::destroy(Client* client) noexcept {
    interest_.remove_client(client->interest);
    --client->lane.client_count;
    std::destroy_at(client);
    memory_.connections.deallocate(client, sizeof(Client), alignof(Client));
}

void ReplicationServer::receive(PeerId peer, std::span<const std::byte> datagram, NetTime now) {
    now_ = now;
    const auto found = clients_by_peer_.find(peer.value);
    if (found == clients_by_peer_.end()) {
        receive_hello(peer, datagram, now);
        return;
    }
    Client& client = *found->second;
    if (is_of_other_session(datagram, client.connection.session())) {
        receive_hello(peer, datagram, now);
        return;
    }
    client.connection.receive(datagram, now, client, client.sender);
}

void ReplicationServer::receive_held(NetTime now) {
    for (Client* client : clients_) {
        client->connection.receive_held(now, *client, client->sender);
    }
}

void ReplicationServer::receive_hello(PeerId peer, std::span<const std::byte> datagram,
                                      NetTime now) {
    PacketHeader header;
    Hello hello;
    if (!find_hello(datagram, header, hello) || ended_sessions_.contains(peer, header.session)) {
        ++stats_.packets_dropped;
        return;
    }
    // A peer that is replaced keeps its place until the flush, so that one that begins session
    // after session fills no more than the others.
    if (clients_.size() >= settings_.config.connections_max + refused_max) {
        ++stats_.packets_dropped;
        return;
    }
    if (host_.has_value() && peer == *host_) {
        ++stats_.packets_dropped;  // that id is taken, for as long as there is a server
        return;
    }
    const auto found = clients_by_peer_.find(peer.value);
    if (found != clients_by_peer_.end()) {
        NetConnection& replaced = found->second->connection;
        replaced.end(CloseReason::Replaced);
        ended_sessions_.add(peer, replaced.session(), now);
        clients_by_peer_.erase(found);
    }
    const CloseReason refusal = judge(hello);
    Client& client = accept(peer, header.session, now);
    client.connection.receive(datagram, now, client, client.sender);
    if (refusal != CloseReason::None) {
        std::uint32_t difference = 0;
        if (refusal == CloseReason::LayoutMismatch) {
            difference = layouts_.find_difference(hello.layout_ids, hello.layout_count);
            ClosePlace place;
            place.peer_layout_count = hello.layout_count;
            client.connection.blame(place);
        }
        client.connection.close(refusal, now, difference);
    }
    if (!is_joined(client)) {
        return;  // refused, or what came behind the hello was not a client's to send
    }
    if (hello.schema != schema_) {
        client.awaits_layouts = true;
        send_layouts(client.connection, hello);
    }
    client.connection.send_control(welcome_message());
    introduce_dormant(client);
    introduce_torn_off(client);
    interest_.add_client(client.interest);
    show_conditional(client);
    client.sender.mark_pending(live_);
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

void ReplicationServer::send_layouts(NetConnection& connection, const Hello& hello) {
    for (std::uint32_t number = 0; number < layouts_.count(); ++number) {
        const RepLayout& layout = *layouts_.find(number);
        if (LayoutTable::is_listed(layout, hello.layout_ids)) {
            const Vector<std::byte> message =
                known_layout_message({layout.fingerprint(), layout.name()}, settings_.resource);
            connection.send_control({message.data(), message.size()});
        } else {
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
    auto* client =
        ::new (memory) Client(*this, packet_settings(settings_, peer, session), lane, now);
    if (ended_sessions_.contains(peer)) {
        client->connection.packets().begin_in_debt();
    }
    (void)client->sender.begin_flush(now);
    clients_.push_back(client);
    clients_by_peer_.emplace(peer.value, client);
    return *client;
}

void ReplicationServer::flush(NetTime now) {
    if (replay_ != nullptr) {  // a server that stood still has its recording, as it has its clients
        replay_->connection.acknowledge_all(now, replay_->sender);
    }
    for (Client* client : clients_) {
        client->connection.begin_flush(now);
        if (client->sender.begin_flush(now) && is_joined(*client)) {
            client->connection.close(CloseReason::CallsStalled, now);
        }
    }
    update_relevancy();
    server_replicate_actors(now);
    for (Client* client : clients_) {
        client->connection.flush(now);
    }
    if (recorder_ != nullptr) {
        record_flush(now);
    }
    collect_stats();
    give_back_room();
}

// In each flush of one connection, so that no flush has all to do.
void ReplicationServer::give_back_room() {
    const std::uint64_t turn = changes_.flush % KeptRoom::period;
    for (std::uint64_t i = turn; i < clients_.size(); i += KeptRoom::period) {
        clients_[i]->connection.packets().trim();
        clients_[i]->sender.trim();
    }
    if (turn == 0) {
        bundles_.trim();
        bundle_order_.trim();
        lanes_.trim();
        for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
            lanes_[i].trim();
        }
        if (replay_tap_.has_value()) {
            replay_tap_->trim();
        }
    }
}

void ReplicationServer::tell_of_peers() {
    if (host_.has_value() && !is_host_told_of_) {
        is_host_told_of_ = true;
        world_.peer_joined(*host_);
    }
    for (Client* client : clients_) {
        const NetConnection& connection = client->connection;
        if (client->is_replay || is_joined(*client) == client->is_told_of) {
            continue;
        }
        client->is_told_of = is_joined(*client);
        if (client->is_told_of) {
            world_.peer_joined(connection.peer());
        } else {
            world_.peer_left(connection.peer(), connection.close_reason());
        }
    }
}

void ReplicationServer::server_replicate_actors(NetTime now) {
    take_due(now);
    mark_validator_.validate(objects_, live_, dormancy_.dormant, world_, stats_.replication);
    // Phase A: what changed, once for all connections.
    compare_due_objects();
    hand_back_torn_off_objects();
    changes_.finish();
    build_bundles();
    // Phase B: who is owed what, connection by connection.
    begin_initial_batches();
    replicate_to_all();
    changes_.clear();
    rest_dormant_objects();
    remove_torn_off_objects();
}

void ReplicationServer::build_bundles() {
    const auto is_taker = [](const Client* client) {
        return client->connection.state() == ConnectionState::Joined &&
               client->sender.takes_bundles();
    };
    const auto is_capped_taker = [&](const Client* client) {
        return client->sender.is_capped() && is_taker(client);
    };
    if (!changes_.has_any() || std::none_of(clients_.begin(), clients_.end(), is_taker)) {
        bundles_.clear();
        return;
    }
    using Contents = BundleBuilder::Contents;
    Contents contents = Contents::Bytes;
    if (settings_.sharing != SharingLevel::Bundles) {
        contents = std::any_of(clients_.begin(), clients_.end(), is_capped_taker)
                       ? Contents::Measured
                       : Contents::Objects;
    }
    bundle_order_.find(changes_);
    // What is counted by type all lanes have in common.
    const bool may_split = lanes_.count() > 1 && type_counters_.empty();
    if (is_worth_lanes(may_split ? changes_.objects.count() : 0)) {
        bundles_.build_in_lanes(lanes_, contents, bundle_order_.indices());
    } else {
        bundles_.build(lanes_[0].context, contents, bundle_order_.indices(),
                       {type_counters_.data(), type_counters_.size()});
    }
}

void ReplicationServer::replicate_to_all() {
    const std::uint32_t initial_opens = initial_opens_per_client();
    if (is_worth_lanes(lanes_.count() > 1 ? sending_work(initial_opens) : 0)) {
        replicate_in_lanes(initial_opens);
    } else {
        for_each_joined([&](Client& client) { replicate_to(client, initial_opens); });
    }
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].end_flush();
    }
}

void ReplicationServer::replicate_to(Client& client, std::uint32_t initial_opens) {
    client.sender.mark_changed();
    client.sender.hold_back_initial_batch();
    send_destruction_notices(client);
    finish_initial_batch(client);  // before anything new is under way
    client.sender.tell_wanted();
    const bool is_ready = client.sender.initial_batch().state() != InitialBatch::State::Before;
    if (!client.connection.packets().write_first_bunches()) {
        client.sender.skip_objects();
    } else if (is_ready) {
        client.sender.process_prioritized_actors(initial_opens, bundles_, priority_inputs(client));
    } else {
        client.sender.decline_bundles();
    }
    client.sender.validate_pairs();
}

void ReplicationServer::remove_closed(NetTime now) {
    ended_sessions_.forget_before(
        now.plus_milliseconds(-std::int64_t{settings_.config.timeout_ms}));
    const auto is_closed = [](const Client* client) {
        // That of a recording goes with it.
        return client->connection.state() == ConnectionState::Closed && !client->is_replay;
    };
    for (Client* client : clients_) {
        if (is_closed(client)) {
            ended_sessions_.add(client->connection.peer(), client->connection.session(), now);
            const auto found = clients_by_peer_.find(client->connection.peer().value);
            if (found != clients_by_peer_.end() && found->second == client) {
                clients_by_peer_.erase(found);
            }
        }
    }
    // In place: the algorithms of the standard library would ask the global heap for memory.
    const auto end = std::remove_if(clients_.begin(), clients_.end(), [&](Client* client) {
        const bool is_gone = is_closed(client);
        if (is_gone) {
            destroy(client);
        }
        return is_gone;
    });
    clients_.erase(end, clients_.end());
}

void ReplicationServer::set_facts(NetObjectId id, const ObjectFacts& facts) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    if (facts == objects_.at(id.index)->facts()) {
        return;
    }
    const ObjectFacts before = objects_.at(id.index)->facts();
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { set_facts_of(index, facts); });
    for (const ObjectFacts* owned : {&before, &facts}) {
        if (ClientInterest* client = owned->has_owner ? find_interest(owned->owner) : nullptr) {
            interest_.owner_changed(*client, id.index);
        }
    }
    std::uint32_t part = objects_.at(id.index)->family().first;
    for (; part != ObjectStore::no_index; part = objects_.at(part)->family().next) {
        show_part_to_all(part);
    }
}

void ReplicationServer::set_facts_of(std::uint32_t index, const ObjectFacts& facts) {
    NetworkObjectInfo& info = *objects_.at(index);
    // Of who is closing, slots may have other objects by now.
    for_each_joined(
        [&](Client& client) { client.sender.facts_changed(index, info.facts(), facts); });
    info.set_facts(facts);
    take_back_hidden_values(index);
}

void ReplicationServer::take_back_hidden_values(std::uint32_t index) {
    for_each_joined([&](Client& client) { client.sender.take_back_hidden_values(index); });
}

void ReplicationServer::mark_property_dirty(NetObjectId id, std::string_view property) {
    for_each_parent(id, property,
                    [](ChangelistState& state, ParentIndex parent) { state.mark_dirty(parent); });
    set_due(id.index);
}

void ReplicationServer::mark_property_dirty(NetObjectId id, ParentIndex property) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    objects_.at(id.index)->changelist_state().mark_dirty(property);
    set_due(id.index);
}

void ReplicationServer::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    objects_.at(id.index)->changelist_state().mark_all_dirty();
    set_due(id.index);
}

void ReplicationServer::set_property_active(NetObjectId id, std::string_view property,
                                            bool is_active) {
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        state.set_active(parent, is_active);
    });
    update_polled(id.index);
    force_due(id.index);  // the switch takes effect with a compare
}

void ReplicationServer::set_dynamic_condition(NetObjectId id, std::string_view property,
                                              LifetimeCondition condition) {
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        const LifetimeCondition before = state.conditions().condition_of(parent);
        if (condition == before) {
            return;
        }
        for_each_joined([&](Client& client) {
            client.sender.dynamic_condition_changed(id.index, parent, condition);
        });
        state.set_dynamic_condition(parent, condition);
        take_back_hidden_values(id.index);
    });
}

LifetimeCondition ReplicationServer::dynamic_condition_of(NetObjectId id,
                                                          std::string_view property) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const ChangelistState& state = objects_.at(id.index)->changelist_state();
    const std::optional<ParentIndex> parent = state.layout().find_parent(property);
    if (!parent.has_value()) {
        log_unknown_property(state.layout(), property);
    }
    REPLAYOUT_ASSERT(parent.has_value());
    REPLAYOUT_ASSERT(state.layout().parents()[parent->value].condition ==
                     LifetimeCondition::Dynamic);
    return state.conditions().condition_of(*parent);
}

template <typename Visitor>
void ReplicationServer::for_each_parent(NetObjectId id, std::string_view property, Visitor visit) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    ChangelistState& state = objects_.at(id.index)->changelist_state();
    const std::span<const RepParentCmd> parents = state.layout().parents();
    bool is_found = false;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i].property->name == property) {
            visit(state, ParentIndex{static_cast<std::uint16_t>(i)});
            is_found = true;
        }
    }
    if (!is_found) {
        log_unknown_property(state.layout(), property);
    }
    REPLAYOUT_ASSERT(is_found);
}

std::optional<ConnectionShadow> ReplicationServer::connection_shadow(PeerId peer,
                                                                     NetObjectId id) const {
    const Client* client = find_joined(peer);
    return client == nullptr ? std::nullopt : client->sender.connection_shadow(id.index);
}

void ReplicationServer::set_is_replay(PeerId peer, bool is_replay) {
    if (Client* client = find_joined(peer)) {
        client->sender.set_is_replay(is_replay);
        show_conditional(*client);
    }
}

std::uint32_t ReplicationServer::connection_count() const noexcept {
    return static_cast<std::uint32_t>(std::count_if(
        clients_.begin(), clients_.end(),
        [](const Client* client) { return is_joined(*client) && !client->is_replay; }));
}

const TypeCounters* ReplicationServer::type_counters(const RepLayout& layout) const noexcept {
    return type_counters_.empty() ? nullptr : &type_counters_[layouts_.number_of(layout)];
}

void ReplicationServer::count_memory(MemoryReport& report) const noexcept {
    report.object_count = objects_.object_count();
    report.connection_count = clients_.size();
    report.pair_count = report.object_count * report.connection_count;
}

const NetConnection* ReplicationServer::find(PeerId peer) const noexcept {
    const auto found = clients_by_peer_.find(peer.value);
    return found == clients_by_peer_.end() ? nullptr : &found->second->connection;
}

void ReplicationServer::disconnect(PeerId peer, NetTime now) {
    const auto found = clients_by_peer_.find(peer.value);
    if (found != clients_by_peer_.end()) {
        found->second->connection.close(CloseReason::Requested, now);
    }
}

bool ReplicationServer::is_settled() const noexcept {
    return torn_off_.is_empty() &&
           std::all_of(clients_.begin(), clients_.end(), [&](const Client* client) {
               return is_joined(*client) && client->sender.is_settled() &&
                      client->next_notice == destroyed_names_.count() &&
                      !client->connection.packets().awaits_ack();
           });
}

}  // namespace replayout
