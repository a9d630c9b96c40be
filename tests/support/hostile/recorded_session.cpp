// SPDX-License-Identifier: MIT
#include "support/hostile/recorded_session.h"

#include <string>
#include <utility>

#include "support/checks/catch.h"
#include "support/networks/peers.h"
#include "support/networks/scripted_transport.h"

namespace replayout::test {

namespace {

constexpr std::int64_t tick_ms = 40;
constexpr std::size_t tick_count = 36;
constexpr LoopbackSettings recorded_line_settings{2'048, 1u << 12};

/// Small packets: many kinds of them, and few bits in each.
[[nodiscard]] NetDriverSettings recorded_driver_settings(bool is_server, MemoryResource* memory) {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config.packet_bytes_max = 256;
    settings.config.channels_max = 64;
    settings.config.bunch_bytes_max = 4'000;
    settings.config.reliable_waiting_max = 256;
    settings.config.reliable_waiting_bytes_max = 16'000;
    settings.config.references_per_object_max = 32;
    settings.config.decode_allocation_bytes_max = 256 * 1'024;
    settings.config.linger_ms = 200;
    settings.seed = is_server ? 11 : 12;
    settings.resource = memory;
    return settings;
}

/// The game that is played, one step a tick. The same steps in the record and when a server is
/// played.
class RecordedGame {
  public:
    RecordedGame(TestWorld& world, NetDriver& driver, std::map<ObjectHandle, NetObjectId>& ids)
        : world_(world), driver_(driver), ids_(ids) {}

    void step(std::size_t tick) {
        // Handles are given in order, so they can be known.
        const ObjectHandle first{server_first_handle};
        const ObjectHandle second{server_first_handle + 1};
        const ObjectHandle archive{server_first_handle + 2};
        const ObjectHandle late{server_first_handle + 3};
        switch (tick) {
            case 0:
                add(TestSchema::get().pawn());
                add(TestSchema::get().pawn());
                world_.pawn(first).name = "Ann";
                world_.pawn(first).target = second;
                world_.pawn(second).hits = {{1.5f, 2, "arm"}, {2.5f, 3, "leg"}};
                world_.pawn(second).friends = {first, late, second};
                return;
            case 8:
                add(TestSchema::get().archive());
                world_.archive(archive).counter = 1;
                return;
            case 10:
                for (std::string& page : world_.archive(archive).pages) {
                    page.assign(70, 'p');
                }
                world_.archive(archive).cells.assign(90, 0x0102'0304);
                return;
            case 12:
                world_.archive(archive).pages[3].assign(500, 'q');
                world_.archive(archive).chapters = {{"one", "text"}, {"two", ""}};
                return;
            case 16:
                add(TestSchema::get().pawn());
                world_.pawn(late).health = 5;
                return;
            case 20:
                remove(second);
                return;
            case 32:
                driver_.disconnect(client_peer);
                return;
            default:
                world_.pawn(first).health -= tick % 2 == 0 ? 1 : 0;
                return;
        }
    }

  private:
    void add(const RepLayout& layout) {
        const ObjectHandle object = world_.add(layout);
        ids_[object] = driver_.add_object(layout, object);
    }
    void remove(ObjectHandle object) {
        driver_.remove_object(ids_.at(object));
        world_.remove(object);
    }

    TestWorld& world_;
    NetDriver& driver_;
    std::map<ObjectHandle, NetObjectId>& ids_;
};

[[nodiscard]] std::vector<Bytes> take_received(ScriptedTransport& transport) {
    std::vector<Bytes> datagrams;
    for (Datagram& datagram : transport.received) {
        datagrams.push_back(std::move(datagram.bytes));
    }
    transport.received.clear();
    return datagrams;
}

[[nodiscard]] RecordedSession record() {
    RecordedSession session;
    CountingResource memory;
    LoopbackNetwork network(recorded_line_settings, std::pmr::get_default_resource());
    ScriptedTransport server_line(network.endpoint(server_peer));
    ScriptedTransport client_line(network.endpoint(client_peer));
    server_line.is_recording = true;
    client_line.is_recording = true;
    TestWorld server_world(server_first_handle);
    TestWorld client_world(client_first_handle);
    NetDriver server(recorded_driver_settings(true, &memory), server_line, server_world);
    NetDriver client(recorded_driver_settings(false, &memory), client_line, client_world);
    TestSchema::get().add_to(server);
    TestSchema::get().add_to(client);
    std::map<ObjectHandle, NetObjectId> ids;
    RecordedGame game(server_world, server, ids);
    session.start = NetTime::from_milliseconds(1'000);
    REQUIRE(server.listen());
    REQUIRE(client.connect(server_peer, session.start));
    NetTime now = session.start;
    for (std::size_t tick = 0; tick < tick_count; ++tick) {
        now = now.plus_milliseconds(tick_ms);
        client.tick_dispatch(now);
        client.tick_flush(now);
        session.client.push_back({now, take_received(client_line)});
        server.tick_dispatch(now);
        game.step(tick);
        server.tick_flush(now);
        session.server.push_back({now, take_received(server_line)});
    }
    REQUIRE(client.close_reason() == CloseReason::Requested);
    REQUIRE(client.stats().blocks_received > 15);
    return session;
}

}  // namespace

const RecordedSession& RecordedSession::get() {
    static const RecordedSession session = record();
    return session;
}

std::vector<RecordedDatagram> datagrams_of(const RecordedEnd& end) {
    std::vector<RecordedDatagram> datagrams;
    for (std::size_t tick = 0; tick < end.size(); ++tick) {
        for (std::size_t datagram = 0; datagram < end[tick].received.size(); ++datagram) {
            datagrams.push_back({tick, datagram});
        }
    }
    return datagrams;
}

PlayedEnd::PlayedEnd(Side side)
    : end_(side == Side::Client ? RecordedSession::get().client : RecordedSession::get().server),
      side_(side),
      network_(recorded_line_settings, std::pmr::get_default_resource()),
      world_(side == Side::Client ? client_first_handle : server_first_handle) {
    const bool is_server = side == Side::Server;
    driver_ = std::make_unique<NetDriver>(recorded_driver_settings(is_server, &memory_),
                                          network_.endpoint(is_server ? server_peer : client_peer),
                                          world_);
    TestSchema::get().add_to(*driver_);
    REQUIRE((is_server ? driver_->listen()
                       : driver_->connect(server_peer, RecordedSession::get().start)));
    world_.on_despawn = [this](ObjectHandle first) {
        if (is_watching_) {
            is_watching_ = false;
            compare_at_despawn(first);
        }
    };
}

void PlayedEnd::begin_tick(std::size_t tick) {
    now_ = end_[tick].now;
}

void PlayedEnd::dispatch(std::span<const std::byte> datagram) {
    const bool is_server = side_ == Side::Server;
    network_.endpoint(is_server ? client_peer : server_peer)
        .send(is_server ? server_peer : client_peer, datagram);
    driver_->tick_dispatch(now_);
}

void PlayedEnd::take(std::span<const std::byte> datagram) {
    remember_world();
    dispatch(datagram);
    is_watching_ = false;
}

void PlayedEnd::end_tick() {
    if (side_ == Side::Server) {
        const auto tick = static_cast<std::size_t>(
            (now_.microseconds - end_.front().now.microseconds) / (tick_ms * 1'000));
        RecordedGame(world_, *driver_, ids_).step(tick);
    }
    driver_->tick_flush(now_);
}

void PlayedEnd::play_until(RecordedDatagram at) {
    for (std::size_t tick = 0; tick < at.tick; ++tick) {
        begin_tick(tick);
        for (const Bytes& datagram : end_[tick].received) {
            dispatch(datagram);
        }
        end_tick();
    }
    begin_tick(at.tick);
    for (std::size_t i = 0; i < at.datagram; ++i) {
        dispatch(end_[at.tick].received[i]);
    }
}

void PlayedEnd::play_rest(RecordedDatagram after) {
    for (std::size_t tick = after.tick; tick < end_.size(); ++tick) {
        begin_tick(tick);
        const std::size_t first = tick == after.tick ? after.datagram + 1 : 0;
        for (std::size_t i = first; i < end_[tick].received.size(); ++i) {
            dispatch(end_[tick].received[i]);
        }
        end_tick();
    }
}

bool PlayedEnd::is_open() const {
    const ConnectionState state =
        side_ == Side::Client ? driver_->state() : driver_->connection_state(client_peer);
    return state == ConnectionState::Connecting || state == ConnectionState::Joined;
}

std::string PlayedEnd::world_text() {
    std::string text;
    for (const auto& [handle, object] : world_.objects()) {
        text += std::to_string(handle.value) + ": " +
                TestWorld::text_of(
                    *object, [](ObjectHandle target) { return std::to_string(target.value); }) +
                "\n";
    }
    return text;
}

void PlayedEnd::remember_world() {
    before_.clear();
    for (const auto& [handle, object] : world_.objects()) {
        before_.emplace(handle, *object);
    }
    const NetStats& stats = driver_->stats();
    blocks_before_ = stats.blocks_received;
    channels_before_ = stats.channels_opened + stats.channels_closed;
    is_watching_ = side_ == Side::Client;
}

void PlayedEnd::compare_at_despawn(ObjectHandle first) {
    if (driver_->stats().blocks_received != blocks_before_) {
        return;  // a block was taken, and may have changed what it likes
    }
    // References to the first object are null by now, but for its own. Where bunches of the same
    // datagram opened or closed another object, references to that have changed too.
    const NetStats& stats = driver_->stats();
    const bool has_references = stats.channels_opened + stats.channels_closed == channels_before_;
    const auto text = [&](const TestObject& object, bool has_gone) {
        return TestWorld::text_of(object, [&](ObjectHandle target) {
            const bool is_shown = has_references && !(has_gone && target == first);
            return std::to_string(is_shown ? target.value : 0);
        });
    };
    for (const auto& [handle, object] : before_) {
        const TestObject* now = world_.find(handle);
        const bool is_same = now != nullptr && text(object, handle != first) == text(*now, false);
        has_changed_ = has_changed_ || !is_same;
    }
}

bool PlayedEnd::gives_back_memory() {
    driver_.reset();
    return memory_.blocks_in_use() == 0;
}

}  // namespace replayout::test
