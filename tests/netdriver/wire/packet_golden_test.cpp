// SPDX-License-Identifier: MIT
//
// The packets of one short session, pinned byte for byte: tests/golden/packet_*.hex. What our ends
// write is what stands there, and an end that is played what stands there does what it means.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/golden.h"
#include "support/hostile/packet_forge.h"
#include "support/networks/peers.h"
#include "support/networks/scripted_transport.h"
#include "support/worlds/test_world.h"

namespace replayout::test {
namespace {

[[nodiscard]] NetDriverSettings golden_driver_settings() {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config.packet_bytes_max = 256;
    settings.seed = 7;
    return settings;
}

/// A server and a client, one step of the session at a time.
class GoldenSession {
  public:
    GoldenSession()
        : network_(LoopbackSettings(), std::pmr::get_default_resource()),
          server_line_(network_.endpoint(server_peer)),
          client_line_(network_.endpoint(client_peer)),
          server_world_(1),
          client_world_(100),
          server_(golden_driver_settings(), server_line_, server_world_),
          client_(golden_driver_settings(), client_line_, client_world_) {
        server_line_.is_recording = true;
        client_line_.is_recording = true;
        TestSchema::get().add_to(server_);
        TestSchema::get().add_to(client_);
        REQUIRE(server_.listen());
        REQUIRE(client_.connect(server_peer, now_));
        pawn_ = add(TestSchema::get().pawn());
        server_world_.pawn(pawn_).health = 75;
        server_world_.pawn(pawn_).name = "Ann";
    }

    /// What the client sends, and then what the server does.
    [[nodiscard]] std::vector<Datagram> client_step() { return step(client_, client_line_); }
    [[nodiscard]] std::vector<Datagram> server_step() { return step(server_, server_line_); }

    [[nodiscard]] Pawn& pawn() { return server_world_.pawn(pawn_); }
    [[nodiscard]] NetDriver& server() noexcept { return server_; }
    void remove_pawn() { server_.remove_object(pawn_id_); }
    void lose_what_the_server_sends(bool is_losing) {
        server_line_.set_script([is_losing](Bytes&) { return !is_losing; });
    }
    void put_pawn_to_sleep() { server_.set_dormancy(pawn_id_, NetDormancy::DormantAll); }
    void wake_pawn() { server_.flush_dormancy(pawn_id_); }

  private:
    [[nodiscard]] ObjectHandle add(const RepLayout& layout) {
        const ObjectHandle object = server_world_.add(layout);
        pawn_id_ = server_.add_object(layout, object);
        return object;
    }

    [[nodiscard]] std::vector<Datagram> step(NetDriver& driver, ScriptedTransport& line) {
        now_ = now_.plus_milliseconds(1);
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
        return std::exchange(line.sent, {});
    }

    LoopbackNetwork network_;
    ScriptedTransport server_line_;
    ScriptedTransport client_line_;
    TestWorld server_world_;
    TestWorld client_world_;
    NetDriver server_;
    NetDriver client_;
    NetTime now_;
    ObjectHandle pawn_;
    NetObjectId pawn_id_;
};

void check_packets(const std::vector<Datagram>& sent, const std::vector<std::string>& names) {
    REQUIRE(sent.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        check_golden(names[i], sent[i].bytes);
    }
}

/// A client alone, to be played the golden packets.
class GoldenClient {
  public:
    GoldenClient()
        : network_(LoopbackSettings(), std::pmr::get_default_resource()),
          world_(100),
          driver_(golden_driver_settings(), network_.endpoint(client_peer), world_) {
        TestSchema::get().add_to(driver_);
        REQUIRE(driver_.connect(server_peer, now_));
        tick();
    }

    void take(const std::string& name) {
        network_.endpoint(server_peer).send(client_peer, read_golden(name));
        tick();
    }

    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] TestWorld& world() noexcept { return world_; }
    [[nodiscard]] Pawn& pawn() { return world_.pawn(ObjectHandle{100}); }

  private:
    void tick() {
        now_ = now_.plus_milliseconds(1);
        driver_.tick_dispatch(now_);
        driver_.tick_flush(now_);
    }

    LoopbackNetwork network_;
    TestWorld world_;
    NetDriver driver_;
    NetTime now_;
};

}  // namespace

TEST_CASE("Packet: every kind is written as it is pinned", "[netdriver][packet]") {
    GoldenSession session;
    check_packets(session.client_step(), {"packet_hello"});
    check_packets(session.server_step(), {"packet_welcome_open_block"});
    check_packets(session.client_step(), {"packet_ack"});
    session.pawn().health = 70;
    session.pawn().target = ObjectHandle{1};
    check_packets(session.server_step(), {"packet_block"});
    (void)session.client_step();
    session.pawn().name.assign(300, 'x');
    check_packets(session.server_step(), {"packet_value_first_part", "packet_value_last_part"});
    (void)session.client_step();
    session.remove_pawn();
    check_packets(session.server_step(), {"packet_close"});
    (void)session.client_step();
    session.server().disconnect(client_peer);
    check_packets(session.server_step(), {"packet_goodbye"});
}

TEST_CASE("Packet: an object in parts is written as it is pinned", "[netdriver][packet]") {
    GoldenSession session;
    (void)session.client_step();
    (void)session.server_step();
    (void)session.client_step();
    check_packets(session.server_step(), {"packet_initial_batch"});
    (void)session.client_step();
    session.pawn().health = 60;
    session.pawn().name.assign(120, 'x');
    session.pawn().friends.assign(120, ObjectHandle{1});
    check_packets(session.server_step(), {"packet_part_first", "packet_part_last"});
}

TEST_CASE("Packet: a value that is taken back is written as it is pinned", "[netdriver][packet]") {
    GoldenSession session;
    (void)session.client_step();
    (void)session.server_step();
    (void)session.client_step();
    (void)session.server_step();
    (void)session.client_step();
    session.pawn().name.assign(300, 'x');
    session.lose_what_the_server_sends(true);
    CHECK(session.server_step().size() == 2);
    session.lose_what_the_server_sends(false);
    session.remove_pawn();
    check_packets(session.server_step(), {"packet_close_behind_value"});
    (void)session.client_step();
    check_packets(session.server_step(), {"packet_value_taken_back"});
}

TEST_CASE("Packet: a value that is taken back is read as it is meant", "[netdriver][packet]") {
    GoldenClient client;
    client.take("packet_welcome_open_block");
    client.take("packet_initial_batch");
    client.take("packet_close_behind_value");
    CHECK(client.world().object_count() == 1);
    client.take("packet_value_taken_back");
    CHECK(client.world().object_count() == 0);
    CHECK(client.driver().state() == ConnectionState::Joined);
    CHECK(client.driver().stats().packets_dropped == 0);
}

TEST_CASE("Packet: an object that sleeps and wakes is written as it is pinned",
          "[netdriver][packet][dormancy]") {
    GoldenSession session;
    (void)session.client_step();
    (void)session.server_step();
    (void)session.client_step();
    session.put_pawn_to_sleep();
    check_packets(session.server_step(), {"packet_dormancy"});
    (void)session.client_step();
    session.pawn().health = 70;
    session.wake_pawn();
    check_packets(session.server_step(), {"packet_reopen"});
}

TEST_CASE("Packet: sleep and waking that are pinned are read as they are meant",
          "[netdriver][packet][dormancy]") {
    GoldenClient client;
    client.take("packet_welcome_open_block");
    client.take("packet_dormancy");
    REQUIRE(client.world().object_count() == 1);
    CHECK(client.driver().stats().channels_dormant == 1);
    CHECK(client.pawn().health == 75);
    client.take("packet_reopen");
    REQUIRE(client.world().object_count() == 1);
    CHECK(client.pawn().health == 70);
    CHECK(client.pawn().name == "Ann");
    CHECK(client.driver().stats().packets_dropped == 0);
}

TEST_CASE("Packet: parts that are pinned are read as they are meant", "[netdriver][packet]") {
    GoldenClient client;
    client.take("packet_welcome_open_block");
    client.pawn().heard.clear();
    client.take("packet_initial_batch");
    CHECK(client.driver().initial_batch().is_finished);
    client.take("packet_part_first");
    CHECK(client.pawn().name == std::string(120, 'x'));
    CHECK(client.pawn().friends.empty());
    CHECK(client.pawn().heard.empty());
    client.take("packet_part_last");
    CHECK(client.pawn().friends.size() == 120);
    CHECK(client.pawn().heard.size() == 1);
    CHECK(client.driver().stats().packets_dropped == 0);
}

TEST_CASE("Packet: every kind that is pinned is read as it is meant", "[netdriver][packet]") {
    GoldenClient client;
    client.take("packet_welcome_open_block");
    CHECK(client.driver().state() == ConnectionState::Joined);
    REQUIRE(client.world().object_count() == 1);
    CHECK(client.pawn().health == 75);
    CHECK(client.pawn().name == "Ann");
    client.take("packet_block");
    CHECK(client.pawn().health == 70);
    CHECK(client.pawn().target == ObjectHandle{100});
    client.take("packet_value_first_part");
    CHECK(client.pawn().name == "Ann");
    client.take("packet_value_last_part");
    CHECK(client.pawn().name == std::string(300, 'x'));
    client.take("packet_close");
    CHECK(client.world().object_count() == 0);
    client.take("packet_goodbye");
    CHECK(client.driver().state() == ConnectionState::Closed);
    CHECK(client.driver().close_reason() == CloseReason::Requested);
    CHECK(client.driver().stats().packets_dropped == 0);
}

}  // namespace replayout::test
