// SPDX-License-Identifier: MIT
//
// The judge must be able to say no: each kind of difference is planted and found.
#include "match/judge/client_judge.h"

#include "support/checks/catch.h"

#include <replayout/netdriver/loopback_transport.h>

#include <memory>
#include <vector>

using namespace replayout;
using namespace replayout::match;

namespace {

constexpr PeerId server_peer{1};
constexpr PeerId client_peer{2};

[[nodiscard]] std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) {
        result.push_back(static_cast<std::byte>(value));
    }
    return result;
}

/// Two objects; the first has a number, a text, and a reference to the second.
[[nodiscard]] std::vector<Recording> small_recording() {
    Recording recording;
    recording.tick_rate_hz = 30.0F;
    recording.classes = {{"Thing",
                          {{"number", FieldType::U16},
                           {"text", FieldType::String},
                           {"target", FieldType::ObjectRef}}}};
    recording.begin_tick(0);
    recording.append_spawn(1, 0);
    recording.append_spawn(2, 0);
    recording.append_set(1, 0, bytes({1, 2}));
    recording.append_set(1, 1, bytes({'h', 'i'}));
    recording.append_set(1, 2, bytes({2, 0, 0, 0}));
    return {recording};
}

/// A server and one client that has received everything.
class Stage {
  public:
    Stage()
        : recordings_(small_recording()),
          schema_(*MatchSchema::create(recordings_)),
          network_(LoopbackSettings(), std::pmr::get_default_resource()),
          server_world(*schema_),
          client_world(*schema_),
          server(NetDriverSettings(), network_.endpoint(server_peer), server_world),
          client(NetDriverSettings(), network_.endpoint(client_peer), client_world),
          end_state_(recordings_[0]) {
        const MatchClass& thing = schema_->find(0, 0);
        REQUIRE(server.add_layout(*thing.layout));
        REQUIRE(client.add_layout(*thing.layout));
        REQUIRE(server.listen());
        REQUIRE(client.connect(server_peer, now_));
        end_state_.apply_tick(0);
        for (const std::uint64_t handle : {1u, 2u}) {
            server_world.add({handle}, thing);
            (void)server.add_object(*thing.layout, {handle});
        }
        MatchObject& first = *server_world.find({1});
        first.set(thing.fields[0], bytes({1, 2}), {});
        first.set(thing.fields[1], bytes({'h', 'i'}), {});
        first.set(thing.fields[2], {}, {2});
        for (int tick = 0; tick < 10; ++tick) {
            now_ = now_.plus_milliseconds(33);
            client.tick_dispatch(now_);
            client.tick_flush(now_);
            server.tick_dispatch(now_);
            server.tick_flush(now_);
        }
        client.tick_dispatch(now_);
    }

    [[nodiscard]] ClientVerdict judge() const {
        return ClientJudge(*schema_, std::span(&end_state_, 1), server_world, server)
            .judge(client_world, client, true, client_peer);
    }
    [[nodiscard]] std::uint32_t server_crc() const {
        EndStateCrc crc;
        ClientJudge(*schema_, std::span(&end_state_, 1), server_world, server)
            .add_server_crc(0, crc);
        return crc.value();
    }
    [[nodiscard]] MatchObject& client_object() {
        const NetGUID guid = server.guids().find_guid({1});
        return *client_world.find(client.guids().find_object(guid));
    }

  private:
    std::vector<Recording> recordings_;
    std::unique_ptr<MatchSchema> schema_;
    LoopbackNetwork network_;
    NetTime now_;

  public:
    MatchWorld server_world;
    MatchWorld client_world;
    NetDriver server;
    NetDriver client;

  private:
    EndState end_state_;
};

}  // namespace

TEST_CASE("ClientJudge: a client that holds what the server has is equal",
          "[bench][client_judge]") {
    const Stage stage;
    const ClientVerdict verdict = stage.judge();
    CHECK(verdict.is_joined);
    CHECK(verdict.difference.empty());
    CHECK(verdict.crc32 == stage.server_crc());
    CHECK(verdict.crc32 == end_state_crc32(small_recording()[0]));
}

TEST_CASE("ClientJudge: another number, text or reference is found and named",
          "[bench][client_judge]") {
    Stage stage;
    MatchObject& object = stage.client_object();
    const auto& fields = object.match_class().fields;
    SECTION("number") {
        object.set(fields[0], bytes({1, 3}), {});
        CHECK(stage.judge().difference.find("number") != std::string::npos);
        CHECK(stage.judge().crc32 != stage.server_crc());
    }
    SECTION("text") {
        object.set(fields[1], bytes({'h', 'o'}), {});
        CHECK(stage.judge().difference.find("text") != std::string::npos);
        CHECK(stage.judge().crc32 != stage.server_crc());
    }
    SECTION("reference that should be bound is null") {
        object.set(fields[2], {}, {});
        CHECK(stage.judge().difference.find("target") != std::string::npos);
    }
}

TEST_CASE("ClientJudge: a client is judged for what it is to have", "[bench][client_judge]") {
    Stage stage;
    const NetObjectId second = stage.server.find_object({2});
    stage.server.interest().set_relevant_for(client_peer, second, false);
    // It has it still, and may not.
    CHECK(stage.judge().difference.find("is to have 1") != std::string::npos);
    CHECK(stage.judge().crc32 == stage.judge().server_crc32);
    CHECK(stage.judge().server_crc32 != stage.server_crc());
}

TEST_CASE("ClientJudge: an object too few or too many is found", "[bench][client_judge]") {
    Stage stage;
    SECTION("too few") {
        const NetGUID guid = stage.server.guids().find_guid({2});
        stage.client_world.remove(stage.client.guids().find_object(guid));
        CHECK(stage.judge().difference.find("missing") != std::string::npos);
    }
    SECTION("too many") {
        stage.client_world.add({99}, stage.client_object().match_class());
        CHECK_FALSE(stage.judge().difference.empty());
    }
}
