// SPDX-License-Identifier: MIT
//
// Writes the packets of docs/wire_format.md: what our two ends send each other in short sessions.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "docs/written_examples.h"
#include "support/checks/catch.h"
#include "support/networks/scripted_transport.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::written {
namespace {

class PawnWorld final : public test::TypedWorld<Pawn> {
  public:
    void destroy_part(ObjectHandle, std::string_view name) override { destroyed_part = name; }

    std::string destroyed_part;
};

/// A server and one client over a network that loses nothing.
class Session {
  public:
    explicit Session(std::uint32_t packet_bytes_max)
        : network_({}, std::pmr::get_default_resource()),
          server_transport(network_.endpoint(PeerId{1}), true),
          client_transport(network_.endpoint(PeerId{2}), true),
          server(settings(packet_bytes_max), server_transport, server_world),
          client(settings(packet_bytes_max), client_transport, client_world) {
        for (NetDriver* driver : {&server, &client}) {
            REQUIRE(driver->add_layout(*layout));
            REQUIRE(driver->add_archetype(ArchetypeId{7}, *captain));
        }
        REQUIRE(server.listen());
        REQUIRE(client.connect(PeerId{1}, now_));
    }

    /// One turn of one side; what it sent is added as `name`, or as `name` 1, 2 ... if it is more.
    void turn(NetDriver& driver, WrittenExamples& examples, const std::string& name,
              std::int64_t milliseconds = 10) {
        now_ = now_.plus_milliseconds(milliseconds);
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
        const std::vector<Bytes> sent =
            (&driver == &server ? server_transport : client_transport).take_sent();
        INFO("packets of " << name);
        REQUIRE(!sent.empty());
        for (std::size_t index = 0; index < sent.size(); ++index) {
            add(examples, sent.size() == 1 ? name : name + " " + std::to_string(index + 1),
                sent[index]);
        }
    }

  private:
    [[nodiscard]] static NetDriverSettings settings(std::uint32_t packet_bytes_max) {
        NetDriverSettings settings;
        settings.config.packet_bytes_max = packet_bytes_max;
        return settings;
    }

    LoopbackNetwork network_;
    NetTime now_;

  public:
    const PawnLayout layout;
    const PawnLayout captain{200};
    PawnWorld server_world;
    PawnWorld client_world;
    test::ScriptedTransport server_transport;
    test::ScriptedTransport client_transport;
    NetDriver server;
    NetDriver client;
};

void add_session(WrittenExamples& examples) {
    Session session(1'200);
    const ObjectHandle first = session.server_world.add();
    const NetObjectId first_id = session.server.add_object(*session.layout, first);
    const ObjectHandle second = session.server_world.add();
    (void)session.server.add_object(*session.layout, second);
    session.server_world.at(first).health = 75;

    session.turn(session.client, examples, "packet: hello");
    session.turn(session.server, examples, "packet: welcome, two opens, a block");
    session.turn(session.client, examples, "packet: acknowledgement");

    session.server_world.at(first).health = 70;
    session.server_world.at(second).health = 60;
    session.turn(session.server, examples, "packet: two blocks");
    session.turn(session.client, examples, "packet: acknowledgement of two blocks");

    session.server.remove_object(first_id);
    session.turn(session.server, examples, "packet: close");
    session.turn(session.server, examples, "packet: probe", 100);
    session.turn(session.client, examples, "packet: acknowledgement of a probe");

    session.client.disconnect(PeerId{1});
    session.turn(session.client, examples, "packet: goodbye");
}

/// An object that sleeps, wakes, sleeps again and goes.
void add_dormancy(WrittenExamples& examples) {
    Session session(1'200);
    WrittenExamples ignored;
    const ObjectHandle pawn = session.server_world.add();
    const NetObjectId id = session.server.add_object(*session.layout, pawn);
    session.server_world.at(pawn).health = 75;
    session.turn(session.client, ignored, "hello");
    session.turn(session.server, ignored, "welcome");
    session.turn(session.client, ignored, "acknowledgement");
    session.server.set_dormancy(id, NetDormancy::DormantAll);
    session.turn(session.server, examples, "packet: close for dormancy");
    session.turn(session.client, ignored, "acknowledgement 2");
    session.server_world.at(pawn).health = 70;
    session.server.flush_dormancy(id);
    session.turn(session.server, examples, "packet: open of a dormant object, a block");
    session.turn(session.client, ignored, "acknowledgement 3");
    session.turn(session.server, ignored, "close");
    session.turn(session.client, ignored, "acknowledgement 4");
    session.server.remove_object(id);
    session.turn(session.server, examples, "packet: end of a dormant object");
}

/// What an object is spawned with, a part of it, and another role.
void add_spawn(WrittenExamples& examples) {
    Session session(1'200);
    WrittenExamples ignored;
    session.turn(session.client, ignored, "hello");
    session.turn(session.server, ignored, "welcome");
    session.turn(session.client, ignored, "acknowledgement");
    const ObjectHandle pawn = session.server_world.add();
    session.server_world.at(pawn).health = 200;
    SpawnParameters parameters;
    parameters.location = Vector3{1.0f, -2.0f, 0.5f};
    const NetObjectId id = session.server.add_object(*session.captain, pawn, parameters);
    session.server.set_owner(id, PeerId{2});
    session.server.set_autonomous(id, true);
    const ObjectHandle part = session.server_world.add();
    SubobjectParameters part_parameters;
    part_parameters.stable_name = "hand";
    (void)session.server.add_subobject(id, *session.layout, part, part_parameters);
    session.turn(session.server, examples, "packet: open with parameters, open of a part");
    session.turn(session.client, ignored, "acknowledgement 2");
    session.server.set_autonomous(id, false);
    session.turn(session.server, examples, "packet: another role");
}

/// An object that was destroyed a part of, before anybody saw it.
void add_destroyed_part(WrittenExamples& examples) {
    Session session(1'200);
    WrittenExamples ignored;
    session.turn(session.client, ignored, "hello");
    session.turn(session.server, ignored, "welcome");
    session.turn(session.client, ignored, "acknowledgement");
    const ObjectHandle pawn = session.server_world.add();
    const NetObjectId id = session.server.add_object(*session.layout, pawn);
    SubobjectParameters parameters;
    parameters.stable_name = "hand";
    session.server.remove_object(
        session.server.add_subobject(id, *session.layout, session.server_world.add(), parameters));
    session.turn(session.server, examples, "packet: open of an object that lost a part");
    session.turn(session.client, ignored, "acknowledgement 2");
    CHECK(session.client_world.destroyed_part == "hand");
}

void add_large_value(WrittenExamples& examples) {
    Session session(256);
    WrittenExamples ignored;
    const ObjectHandle pawn = session.server_world.add();
    const NetObjectId id = session.server.add_object(*session.layout, pawn);
    session.turn(session.client, ignored, "hello");
    session.turn(session.server, ignored, "welcome");
    session.turn(session.client, ignored, "acknowledgement");
    session.turn(session.server, ignored, "initial batch finished");
    session.turn(session.client, ignored, "acknowledgement 2");
    session.server_world.at(pawn).name = std::string(300, 'x');
    // The value is found too large in one flush, and its bunches go out in the same.
    session.server_transport.set_script([](Bytes&) { return false; });
    session.turn(session.server, examples, "packet: large value");
    session.server_transport.set_script({});
    session.server.remove_object(id);
    session.turn(session.server, ignored, "close");
    session.turn(session.client, ignored, "acknowledgement 3");
    session.turn(session.server, examples, "packet: large value taken back");
}

struct Signal {
    std::uint8_t colour = 0;
};

/// A server that has one class more than its client.
void add_told_layouts(WrittenExamples& examples) {
    const PawnLayout pawn;
    const TestLayout signal([](TypeRegistry& registry) {
        return class_builder<Signal>(registry, "Signal").property<&Signal::colour>().build();
    });
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    test::ScriptedTransport server_transport(network.endpoint(PeerId{1}), true);
    test::ScriptedTransport client_transport(network.endpoint(PeerId{2}), true);
    PawnWorld world;
    NetDriverSettings settings;
    settings.layout_policy = LayoutPolicy::SkipUnknown;
    NetDriver server(settings, server_transport, world);
    NetDriver client(settings, client_transport, world);
    REQUIRE(server.add_layout(*pawn));
    REQUIRE(server.add_layout(*signal));
    REQUIRE(client.add_layout(*pawn));
    REQUIRE(server.listen());
    const NetTime now = NetTime::from_milliseconds(10);
    REQUIRE(client.connect(PeerId{1}, NetTime()));
    client.tick_flush(now);
    const std::vector<Bytes> hello = client_transport.take_sent();
    REQUIRE(hello.size() == 1);
    add(examples, "packet: hello that takes layouts", hello.front());
    server.tick_dispatch(now);
    server.tick_flush(now);
    const std::vector<Bytes> told = server_transport.take_sent();
    REQUIRE(told.size() == 1);
    add(examples, "packet: two layouts and a welcome", told.front());
}

struct WideSignal {
    std::uint16_t colour = 0;
};

/// A client that has another layout of a class, and is refused.
void add_refused_layout(WrittenExamples& examples) {
    const TestLayout server_layout([](TypeRegistry& registry) {
        return class_builder<Signal>(registry, "Signal").property<&Signal::colour>().build();
    });
    const TestLayout client_layout([](TypeRegistry& registry) {
        return class_builder<WideSignal>(registry, "Signal")
            .property<&WideSignal::colour>()
            .build();
    });
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    test::ScriptedTransport server_transport(network.endpoint(PeerId{1}), true);
    test::ScriptedTransport client_transport(network.endpoint(PeerId{2}), true);
    PawnWorld world;
    NetDriver server(NetDriverSettings(), server_transport, world);
    NetDriver client(NetDriverSettings(), client_transport, world);
    REQUIRE(server.add_layout(*server_layout));
    REQUIRE(client.add_layout(*client_layout));
    REQUIRE(server.listen());
    NetTime now = NetTime::from_milliseconds(10);
    REQUIRE(client.connect(PeerId{1}, NetTime()));
    client.tick_flush(now);
    (void)client_transport.take_sent();
    // The server asks before it explains.
    const struct {
        NetDriver& driver;
        test::ScriptedTransport& transport;
        const char* name;
    } steps[] = {{server, server_transport, "packet: a question before a refusal"},
                 {client, client_transport, "packet: the answer to that"},
                 {server, server_transport, "packet: a refused layout"},
                 {client, client_transport, "packet: a difference and a goodbye"}};
    for (const auto& step : steps) {
        step.driver.tick_dispatch(now);
        step.driver.tick_flush(now);
        const std::vector<Bytes> sent = step.transport.take_sent();
        REQUIRE(sent.size() == 1);
        add(examples, step.name, sent.front());
        now = now.plus_milliseconds(10);
    }
}

/// A server and a client that has joined, and is the owner of the T that both have.
template <typename T>
class OwnersSession {
  public:
    using World = test::SoleWorld<T>;

    OwnersSession(const RepLayout& layout, const NetDriverSettings& settings, int turns_to_join)
        : network_({}, std::pmr::get_default_resource()),
          server_transport_(network_.endpoint(PeerId{1}), true),
          client_transport_(network_.endpoint(PeerId{2}), true),
          server(settings, server_transport_, server_world),
          client(settings, client_transport_, client_world_) {
        REQUIRE(server.add_layout(layout));
        REQUIRE(client.add_layout(layout));
        REQUIRE(server.listen());
        REQUIRE(client.connect(PeerId{1}, NetTime()));
        id = server.add_object(layout, World::handle);
        server.set_owner(id, PeerId{2});
        for (int i = 0; i < turns_to_join; ++i) {
            (void)turn_of_client();
            (void)turn_of_server();
        }
        (void)turn_of_client();
    }

    /// What it sends.
    std::vector<Bytes> turn_of_server() { return turn(server, server_transport_); }
    std::vector<Bytes> turn_of_client() { return turn(client, client_transport_); }

  private:
    [[nodiscard]] std::vector<Bytes> turn(NetDriver& driver, test::ScriptedTransport& transport) {
        now_ = now_.plus_milliseconds(10);
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
        return transport.take_sent();
    }

    LoopbackNetwork network_;
    test::ScriptedTransport server_transport_;
    test::ScriptedTransport client_transport_;
    World client_world_;
    NetTime now_;

  public:
    World server_world;
    NetDriver server;
    NetDriver client;
    NetObjectId id;
};

struct Knock {
    std::uint8_t loudness = 1;
    ObjectHandle by;
};

struct Door {
    std::uint8_t angle = 0;

    void client_knock(const Knock&) {}
    void server_open() {}
};

void add_calls(WrittenExamples& examples) {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Knock>(registry, "Knock")
                    .property<&Knock::loudness>()
                    .property<&Knock::by>()
                    .build());
        return class_builder<Door>(registry, "Door")
            .property<&Door::angle>()
            .function<&Door::client_knock>(FunctionFlags::Client | FunctionFlags::Reliable)
            .function<&Door::server_open>(FunctionFlags::Server)
            .build();
    });
    add(examples, "fingerprint of Door", [&](BitWriter& writer) {
        writer.write_bits(layout->fingerprint().low, 64);
        writer.write_bits(layout->fingerprint().high, 64);
    });
    OwnersSession<Door> session(*layout, {}, 1);
    session.server_world.object.angle = 9;
    const ObjectHandle door = OwnersSession<Door>::World::handle;
    const Knock knock{3, door};
    CHECK(session.server.call_function(session.id, "client_knock", &knock) == CallResult::Sent);
    const std::vector<Bytes> called = session.turn_of_server();
    REQUIRE(called.size() == 1);
    add(examples, "packet: a call and a block", called.front());
    CHECK(session.client.call_function(door, "server_open") == CallResult::Sent);
    const std::vector<Bytes> answered = session.turn_of_client();
    REQUIRE(answered.size() == 1);
    add(examples, "packet: a call of a client", answered.front());
    (void)session.turn_of_server();
    CHECK(session.server.stats().calls_run == 1);
    CHECK(session.client.stats().calls_run == 1);
}

struct Speech {
    std::string text;
};

struct Radio {
    std::uint8_t channel = 0;

    void client_say(const Speech&) {}
};

/// A call that is larger than a packet.
void add_large_call(WrittenExamples& examples) {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Speech>(registry, "Speech").property<&Speech::text>().build());
        return class_builder<Radio>(registry, "Radio")
            .property<&Radio::channel>()
            .function<&Radio::client_say>(FunctionFlags::Client | FunctionFlags::Reliable)
            .build();
    });
    NetDriverSettings settings;
    settings.config.packet_bytes_max = 256;
    OwnersSession<Radio> session(*layout, settings, 2);
    session.server_world.object.channel = 9;
    const Speech speech{std::string(300, 'x')};
    CHECK(session.server.call_function(session.id, "client_say", &speech) == CallResult::Sent);
    const std::vector<Bytes> sent = session.turn_of_server();
    REQUIRE(sent.size() == 2);
    add(examples, "packet: a large call 1", sent[0]);
    add(examples, "packet: a large call 2", sent[1]);
    (void)session.turn_of_client();
    CHECK(session.client.stats().calls_run == 1);
}

}  // namespace

void add_packets(WrittenExamples& examples) {
    add_session(examples);
    add_dormancy(examples);
    add_spawn(examples);
    add_destroyed_part(examples);
    add_large_value(examples);
    add_told_layouts(examples);
    add_refused_layout(examples);
    add_calls(examples);
    add_large_call(examples);
}

}  // namespace replayout::written
