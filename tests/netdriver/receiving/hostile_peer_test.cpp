// SPDX-License-Identifier: MIT
//
// What no peer of ours sends: well-formed packets with contents that break the rules. Each breach
// ends the connection with its reason, and a block that is refused has changed nothing.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

constexpr std::uint64_t huge = 0xFFFF'FFFF'FFFF'FFFF;

using WriteValues = std::function<void(BitWriter&)>;

/// A client with one pawn on channel 1 that has a value in everything.
class Fixture {
  public:
    Fixture() {
        server.welcome_with_pawn();
        server.deliver_packet(
            {}, block_of(1, pawn_block({health_handle, name_handle}, [](BitWriter& writer) {
                             writer.write_bits(77, 32);
                             write_text(writer, "Ann");
                         })));
        REQUIRE(pawn().health == 77);
        server.world().on_despawn = [this](ObjectHandle) { last_text_ = text(); };
        text_before_ = text();
    }

    [[nodiscard]] Pawn& pawn() { return server.world().pawn(server.object_on(1)); }

    /// The packet ends the connection for this reason; until then the pawn was as before.
    void check_refused(const Bytes& packet, CloseReason reason) {
        server.deliver(packet);
        CHECK(!server.is_joined());
        CHECK(server.driver().close_reason() == reason);
        CHECK(server.driver().stats().closed[static_cast<std::size_t>(reason)] == 1);
        CHECK(server.world().object_count() == 0);
        CHECK(last_text_ == text_before_);
    }
    void check_block_refused(const Bytes& block) {
        check_refused(server.forge().make({}, block_of(1, block)), CloseReason::MalformedBlock);
    }

    ForgedServer server;

  private:
    [[nodiscard]] std::string text() {
        const auto reference = [](ObjectHandle target) { return std::to_string(target.value); };
        return server.world().object_count() == 0
                   ? std::string()
                   : TestWorld::text_of(*server.world().objects().begin()->second, reference);
    }

    std::string text_before_;
    std::string last_text_;
};

/// Property values that are wrong behind a health that is right.
struct BadValue {
    const char* name;
    std::uint32_t handle;
    WriteValues write;
};

[[nodiscard]] std::vector<BadValue> bad_values() {
    return {
        {"text longer than the packet", name_handle,
         [](BitWriter& writer) {
             writer.write_packed_uint(1'000);
             writer.write_bits('x', 8);
         }},
        {"text of a length beyond any", name_handle,
         [](BitWriter& writer) { writer.write_packed_uint(huge); }},
        {"text longer than the layout allows", name_handle,
         [](BitWriter& writer) { write_text(writer, std::string(1'025, 'x')); }},
        {"text that is no UTF-8", name_handle,
         [](BitWriter& writer) { write_text(writer, "a\xC0\x80z"); }},
        {"text that ends within a character", name_handle,
         [](BitWriter& writer) { write_text(writer, "a\xE2\x82"); }},
        {"text with a surrogate", name_handle,
         [](BitWriter& writer) { write_text(writer, "\xED\xA0\x80"); }},
        {"array longer than the layout allows", hits_handle,
         [](BitWriter& writer) { writer.write_packed_uint(2'049); }},
        {"array of a length beyond any", hits_handle,
         [](BitWriter& writer) { writer.write_packed_uint(huge); }},
        {"array of 2^32 elements", friends_handle,
         [](BitWriter& writer) { writer.write_packed_uint(std::uint64_t{1} << 32); }},
        {"array whose runs go beyond its elements", friends_handle,
         [](BitWriter& writer) {
             writer.write_packed_uint(4);
             writer.write_bool(true);
             writer.write_exp_golomb(1, 0);  // one run
             writer.write_exp_golomb(2, 0);  // from the third element
             writer.write_exp_golomb(2, 0);  // three long
         }},
        {"array whose run is longer than any array", friends_handle,
         [](BitWriter& writer) {
             writer.write_packed_uint(4);
             writer.write_bool(true);
             writer.write_exp_golomb(1, 0);
             writer.write_exp_golomb(0, 0);
             writer.write_exp_golomb(0xFFFF'FFFE, 0);
         }},
        {"array with more runs than elements", friends_handle,
         [](BitWriter& writer) {
             writer.write_packed_uint(4);
             writer.write_bool(true);
             writer.write_exp_golomb(0xFFFF'FFFE, 0);
         }},
        {"array whose elements are missing", friends_handle,
         [](BitWriter& writer) {
             writer.write_packed_uint(2'048);
             writer.write_bool(true);
             writer.write_exp_golomb(1, 0);
             writer.write_exp_golomb(0, 6);
             writer.write_exp_golomb(2'047, 0);
         }},
        {"reference that is longer than 64 bits", target_handle,
         [](BitWriter& writer) {
             for (int i = 0; i < 10; ++i) {
                 writer.write_bits(0xFF, 8);
             }
         }},
        {"reference in a longer form than it needs", target_handle,
         [](BitWriter& writer) {
             writer.write_bits(0x03, 8);
             writer.write_bits(0x00, 8);
         }},
    };
}

}  // namespace

TEST_CASE("Hostile: a block with a wrong value is refused whole", "[netdriver][hostile]") {
    for (const BadValue& bad : bad_values()) {
        INFO(bad.name);
        Fixture fixture;
        fixture.check_block_refused(pawn_block({health_handle, bad.handle}, [&](BitWriter& writer) {
            writer.write_bits(1, 32);  // right, and not taken
            bad.write(writer);
        }));
    }
}

TEST_CASE("Hostile: a wrong value behind a length or in a bunch is refused just so",
          "[netdriver][hostile]") {
    for (const BadValue& bad : bad_values()) {
        INFO(bad.name);
        const Bytes block = pawn_block({health_handle, bad.handle}, [&](BitWriter& writer) {
            writer.write_bits(1, 32);
            bad.write(writer);
        });
        Fixture by_length;
        by_length.check_refused(by_length.server.forge().make({}, block_with_length_of(1, block)),
                                CloseReason::MalformedBlock);
        Fixture by_bunch;
        by_bunch.check_refused(by_bunch.server.forge().make({value_bunch(1, 2, block)}),
                               CloseReason::MalformedBlock);
    }
}

TEST_CASE("Hostile: a block that names nothing, or more than there is, is refused",
          "[netdriver][hostile]") {
    const auto raw = [](const WriteValues& write) {
        Bytes bytes(64);
        BitWriter writer(bytes);
        write(writer);
        writer.finish_byte();
        bytes.resize(writer.byte_count());
        return bytes;
    };
    Fixture no_handle;
    no_handle.check_block_refused(raw([](BitWriter& writer) { writer.write_bits(0, 7); }));
    Fixture run_beyond;
    run_beyond.check_block_refused(raw([](BitWriter& writer) {
        writer.write_bool(true);
        writer.write_exp_golomb(0, 0);
        writer.write_exp_golomb(5, 0);
        writer.write_exp_golomb(1, 0);
        writer.write_bits(0, 64);
    }));
    Fixture spare_bits;
    spare_bits.check_block_refused(raw([](BitWriter& writer) {
        writer.write_bool(false);
        writer.write_bits(1, 6);
        writer.write_bits(5, 32);
        writer.write_bits(1, 1);  // the last bit of the byte
    }));
}

TEST_CASE("Hostile: a length that is not that of the block is refused", "[netdriver][hostile]") {
    const Bytes block =
        pawn_block({health_handle}, [](BitWriter& writer) { writer.write_bits(1, 32); });
    for (const int difference : {-2, -1, 1, 2, 100}) {
        INFO("difference " << difference);
        Bytes packet(64);
        BitWriter writer(packet);
        writer.write_packed_uint(1);
        writer.write_packed_uint(1);
        writer.write_packed_uint(
            static_cast<std::uint64_t>(static_cast<int>(block.size()) + difference) << 1);
        writer.write_bytes(block);
        writer.write_bytes(Bytes(2));
        packet.resize(writer.byte_count());
        Fixture fixture;
        fixture.check_refused(fixture.server.forge().make({}, packet), CloseReason::MalformedBlock);
    }
    for (const int difference : {-1, 1}) {
        Bytes payload = block;
        payload.resize(static_cast<std::size_t>(static_cast<int>(block.size()) + difference));
        Fixture fixture;
        fixture.check_refused(fixture.server.forge().make({value_bunch(1, 2, payload)}),
                              CloseReason::MalformedBlock);
    }
}

TEST_CASE("Hostile: blocks before a refused one were taken, it and those behind it not",
          "[netdriver][hostile]") {
    const auto health = [](std::uint32_t value) {
        return pawn_block({health_handle},
                          [=](BitWriter& writer) { writer.write_bits(value, 32); });
    };
    ForgedServer server;
    server.welcome();
    for (const std::uint32_t channel : {1u, 2u, 3u}) {
        server.open(channel, TestSchema::pawn_number);
    }
    std::vector<std::int32_t> healths;
    server.world().on_despawn = [&](ObjectHandle handle) {
        healths.push_back(server.world().pawn(handle).health);
    };
    Bytes blocks = block_of(1, health(1));
    const Bytes bad = block_of(2, pawn_block({health_handle, name_handle}, [](BitWriter& writer) {
                                   writer.write_bits(2, 32);
                                   writer.write_packed_uint(huge);
                               }));
    const Bytes behind = block_of(3, health(3));
    blocks.insert(blocks.end(), bad.begin(), bad.end());
    blocks.insert(blocks.end(), behind.begin(), behind.end());
    server.deliver_packet({}, blocks);
    CHECK(healths == std::vector<std::int32_t>{1, 100, 100});
    CHECK(server.driver().close_reason() == CloseReason::MalformedBlock);
}

TEST_CASE("Hostile: a third block of one object in a packet is refused, a second is not",
          "[netdriver][hostile]") {
    const auto health = [](std::uint32_t channel, std::uint32_t value) {
        return block_of(channel, pawn_block({health_handle}, [=](BitWriter& writer) {
                            writer.write_bits(value, 32);
                        }));
    };
    const auto join = [](std::initializer_list<Bytes> blocks) {
        Bytes result;
        for (const Bytes& block : blocks) {
            result.insert(result.end(), block.begin(), block.end());
        }
        return result;
    };
    ForgedServer server;
    server.welcome();
    for (const std::uint32_t channel : {1u, 2u}) {
        server.open(channel, TestSchema::pawn_number);
    }
    const auto pawn = [&]() -> Pawn& { return server.world().pawn(server.object_on(1)); };
    for (int packet = 0; packet < 3; ++packet) {
        server.deliver_packet({}, join({health(1, 1), health(2, 2), health(1, 3), health(2, 4)}));
        REQUIRE(server.is_joined());
        CHECK(pawn().health == 3);
    }
    std::vector<std::int32_t> healths;
    server.world().on_despawn = [&](ObjectHandle handle) {
        healths.push_back(server.world().pawn(handle).health);
    };
    // Nor does it help to have others between them.
    server.deliver_packet({}, join({health(1, 5), health(1, 6), health(2, 7), health(1, 8)}));
    CHECK(server.driver().close_reason() == CloseReason::MalformedBlock);
    CHECK(healths == std::vector<std::int32_t>{6, 7});
}

TEST_CASE("Hostile: a block for a channel that was never opened", "[netdriver][hostile]") {
    const Bytes block =
        pawn_block({health_handle}, [](BitWriter& writer) { writer.write_bits(1, 32); });
    Fixture without_length;
    without_length.check_refused(without_length.server.forge().make({}, block_of(2, block)),
                                 CloseReason::UnknownChannel);
    // With a length it may be one whose open was lost.
    Fixture with_length;
    with_length.server.deliver_packet({}, block_with_length_of(2, block));
    CHECK(with_length.server.is_joined());
    CHECK(with_length.server.driver().stats().blocks_skipped == 1);
    Fixture control;
    control.check_refused(control.server.forge().make({}, block_of(0, block)),
                          CloseReason::MalformedBlock);
}

TEST_CASE("Hostile: opens that cannot be are refused", "[netdriver][hostile]") {
    const struct {
        const char* name;
        Bunch bunch;
    } opens[] = {
        {"a second open", open_bunch(1, NetGUID{5}, TestSchema::pawn_number)},
        {"an object without an id", open_bunch(2, NetGUID{}, TestSchema::pawn_number)},
        {"an id that is taken", open_bunch(2, NetGUID{1}, TestSchema::pawn_number)},
        {"a layout that is none", open_bunch(2, NetGUID{5}, 3)},
        {"a layout far beyond", open_bunch(2, NetGUID{5}, huge)},
        {"an empty open", make_bunch(open_bunch(2, NetGUID{5}, 0).header, {})},
        {"an open with something behind it",
         make_bunch(open_bunch(2, NetGUID{5}, 0).header, make_bytes(10, 0, 0, 0))},
        {"a close without a reason", make_bunch(close_bunch(1, 2).header, {})},
        {"a close with something behind it",
         make_bunch(close_bunch(1, 2).header, make_bytes(1, 0))},
        {"a close for a reason of later versions",
         make_bunch(close_bunch(1, 2).header, make_bytes(6))},
        {"a close for a reason that is none",
         make_bunch(close_bunch(1, 2).header, make_bytes(0xFF))},
        {"a close before the open", close_bunch(2, 1)},
        {"a value before the open", value_bunch(2, 1, make_bytes(1, 2, 3))},
    };
    for (const auto& open : opens) {
        INFO(open.name);
        Fixture fixture;
        Bunch bunch = open.bunch;
        if (bunch.header.is_open && bunch.header.channel.value == 1) {
            bunch.header.sequence = 2;
        }
        fixture.check_refused(fixture.server.forge().make({bunch}), CloseReason::MalformedBunch);
    }
}

TEST_CASE("Hostile: on the channel of a dormant object nothing comes but its own open",
          "[netdriver][hostile][dormancy]") {
    const Bytes block =
        pawn_block({health_handle}, [](BitWriter& writer) { writer.write_bits(1, 32); });
    const struct {
        const char* name;
        std::vector<Bunch> bunches;
        Bytes blocks;
        CloseReason reason;
    } cases[] = {
        {"its own open", {open_bunch(1, NetGUID{1}, TestSchema::pawn_number)}, {}, {}},
        {"a block that may be skipped", {}, block_with_length_of(1, block), {}},
        {"another object's open",
         {open_bunch(1, NetGUID{5}, TestSchema::pawn_number)},
         {},
         CloseReason::MalformedBunch},
        {"its open with another class",
         {open_bunch(1, NetGUID{1}, TestSchema::marker_number)},
         {},
         CloseReason::MalformedBunch},
        {"its open on another channel",
         {open_bunch(2, NetGUID{1}, TestSchema::pawn_number)},
         {},
         CloseReason::MalformedBunch},
        {"a value", {value_bunch(1, 1, block)}, {}, CloseReason::MalformedBunch},
        {"a close", {close_bunch(1, 1)}, {}, CloseReason::MalformedBunch},
        {"a block", {}, block_of(1, block), CloseReason::UnknownChannel},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ForgedServer server;
        server.welcome_with_pawn();
        server.deliver_packet({close_bunch(1, 2, ChannelCloseReason::Dormancy)});
        REQUIRE(server.is_joined());
        REQUIRE(server.world().object_count() == 1);
        server.deliver_packet(test.bunches, test.blocks);
        CHECK(server.driver().close_reason() == test.reason);
        CHECK(server.world().spawn_count == 1);
        CHECK(server.world().object_count() == (server.is_joined() ? 1 : 0));
    }
}

TEST_CASE("Hostile: objects that are put to sleep without end take no more than channels allow",
          "[netdriver][hostile][dormancy]") {
    NetConfig config;
    config.channels_max = 20;
    ForgedServer server(config);
    server.welcome();
    for (std::uint32_t round = 0; round < 50; ++round) {
        for (std::uint32_t channel = 1; channel <= config.channels_max; ++channel) {
            server.deliver_packet({open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number),
                                   close_bunch(channel, 2, ChannelCloseReason::Dormancy)});
        }
        REQUIRE(server.is_joined());
        REQUIRE(server.world().object_count() == config.channels_max);
    }
    server.deliver_packet(
        {open_bunch(config.channels_max + 1, NetGUID{77}, TestSchema::pawn_number)});
    CHECK(server.driver().close_reason() == CloseReason::TooManyChannels);
    CHECK(server.world().object_count() == 0);
}

namespace {

/// The last of these bunches closes the connection, and none before it does.
void check_last_refused(const std::vector<Bunch>& bunches) {
    Fixture fixture;
    for (std::size_t i = 0; i + 1 < bunches.size(); ++i) {
        fixture.server.deliver_packet({bunches[i]});
        REQUIRE(fixture.server.is_joined());
    }
    fixture.check_refused(fixture.server.forge().make({bunches.back()}),
                          CloseReason::MalformedBunch);
}

}  // namespace

TEST_CASE("Hostile: parts that make no whole are refused", "[netdriver][hostile]") {
    const std::size_t full = fragment_bytes(NetConfig().packet_bytes_max);
    const auto part = [](std::uint16_t sequence, bool is_first, bool is_last, std::size_t size) {
        Bunch bunch = value_bunch(1, sequence, Bytes(size));
        bunch.header.is_partial = true;
        bunch.header.is_partial_initial = is_first;
        bunch.header.is_partial_final = is_last;
        return bunch;
    };
    const struct {
        const char* name;
        std::vector<Bunch> bunches;
    } cases[] = {
        {"a part in the middle first", {part(2, false, false, full)}},
        {"a last part alone", {part(2, false, true, 10)}},
        {"a first part that is not full", {part(2, true, false, full - 1)}},
        {"a first part that is more than full", {part(2, true, false, full + 1)}},
        {"a last part that is more than full",
         {part(2, true, false, full), part(3, false, true, full + 1)}},
        {"a second beginning", {part(2, true, false, full), part(3, true, false, full)}},
        {"a whole one in between", {part(2, true, false, full), value_bunch(1, 3, Bytes(5))}},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        check_last_refused(test.bunches);
    }
}

TEST_CASE("Hostile: a value of which a part has no bytes changes nothing", "[netdriver][hostile]") {
    const std::size_t full = fragment_bytes(NetConfig().packet_bytes_max);
    const unsigned empty_ones = GENERATE(range(1u, 8u));
    CAPTURE(empty_ones);
    const auto part = [](std::uint16_t sequence, std::size_t size) {
        Bunch bunch = value_bunch(1, sequence, Bytes(size, std::byte{0xFF}));
        bunch.header.is_partial = true;
        bunch.header.is_partial_initial = sequence == 2;
        bunch.header.is_partial_final = sequence == 4;
        return bunch;
    };
    Fixture fixture;
    fixture.server.deliver_packet({part(2, (empty_ones & 1) != 0 ? 0 : full)});
    fixture.server.deliver_packet({part(3, (empty_ones & 2) != 0 ? 0 : full)});
    fixture.server.deliver_packet({part(4, (empty_ones & 4) != 0 ? 0 : 10)});
    fixture.server.deliver_packet({value_bunch(1, 5, Bytes())});
    REQUIRE(fixture.server.is_joined());
    CHECK(fixture.pawn().health == 77);
    // What comes behind it is taken.
    fixture.server.deliver_packet({value_bunch(
        1, 6, pawn_block({health_handle}, [](BitWriter& writer) { writer.write_bits(78, 32); }))});
    CHECK(fixture.pawn().health == 78);
}

TEST_CASE("Hostile: nothing but a value may lack its bytes", "[netdriver][hostile]") {
    const std::size_t full = fragment_bytes(NetConfig().packet_bytes_max);
    const auto part = [](const Bunch& of, std::uint16_t sequence, bool is_last, std::size_t size) {
        BunchHeader header = of.header;
        header.sequence = sequence;
        header.is_partial = true;
        header.is_partial_initial = !is_last;
        header.is_partial_final = is_last;
        return make_bunch(header, Bytes(size));
    };
    const Bunch open = open_bunch(2, NetGUID{9}, TestSchema::pawn_number);
    Bunch call = value_bunch(1, 1, Bytes());
    call.header.is_call = true;
    const struct {
        const char* name;
        std::vector<Bunch> bunches;
    } cases[] = {
        {"an open in parts, which is none", {part(open, 1, false, full)}},
        {"a control message", {part(control_bunch(2, Bytes()), 2, false, 0)}},
        {"a call", {part(call, 1, false, 0)}},
        {"a call that ends so", {part(call, 1, false, full), part(call, 2, true, 0)}},
        {"a value before the open", {value_bunch(2, 1, Bytes())}},
        {"a message", {message_bunch(1, 2, Bytes())}},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        check_last_refused(test.bunches);
    }
}

TEST_CASE("Hostile: a close may come amid parts, and nothing of them may follow",
          "[netdriver][hostile]") {
    const std::size_t full = fragment_bytes(NetConfig().packet_bytes_max);
    Bunch first = value_bunch(1, 2, Bytes(full));
    first.header.is_partial = true;
    first.header.is_partial_initial = true;
    Bunch next = value_bunch(1, 4, Bytes(full));
    next.header.is_partial = true;
    Fixture fixture;
    fixture.server.deliver_packet({first});
    fixture.server.deliver_packet({close_bunch(1, 3)});
    REQUIRE(fixture.server.is_joined());
    CHECK(fixture.server.world().object_count() == 0);
    fixture.server.deliver_packet({next});
    CHECK(fixture.server.world().object_count() == 0);
    // The channel begins anew, and nothing of what was begun is left in it.
    if (fixture.server.is_joined()) {
        fixture.server.open(1, TestSchema::pawn_number);
        CHECK(fixture.server.world().object_count() == 1);
    }
}

TEST_CASE("Hostile: a packet whose bunches do not add up is refused", "[netdriver][hostile]") {
    const struct {
        const char* name;
        Bytes payload;
    } payloads[] = {
        {"none at all", {}},
        {"no bunches", make_bytes(0)},
        {"more than there are", make_bytes(4, 2, 0, 1, 0, 0)},
        {"a number beyond any", Bytes(10, std::byte{0xFF})},
        {"a payload beyond the packet", make_bytes(2, 2, 0, 2, 0, 200)},
    };
    for (const auto& test : payloads) {
        INFO(test.name);
        Fixture fixture;
        fixture.check_refused(fixture.server.forge().make_raw(true, test.payload),
                              CloseReason::MalformedBunch);
    }
}

TEST_CASE("Hostile: a server may welcome once and say goodbye, and nothing else",
          "[netdriver][hostile]") {
    const struct {
        const char* name;
        Bytes message;
        CloseReason reason;
    } messages[] = {
        {"a second welcome", welcome_bytes(), CloseReason::NotAllowed},
        {"a hello", ForgedClient().hello(), CloseReason::NotAllowed},
        {"nothing", {}, CloseReason::NotAllowed},
        {"a kind that is none", make_bytes(9), CloseReason::NotAllowed},
        {"a goodbye for no reason", goodbye_bytes(0), CloseReason::NotAllowed},
        {"a goodbye for a reason that is none", goodbye_bytes(close_reason_count),
         CloseReason::NotAllowed},
        {"a goodbye cut short", make_bytes(3, 1), CloseReason::NotAllowed},
    };
    for (const auto& test : messages) {
        INFO(test.name);
        Fixture fixture;
        fixture.check_refused(fixture.server.forge().make({control_bunch(2, test.message)}),
                              test.reason);
    }
    // Nothing is opened or closed there, whatever the message.
    for (const Bytes& message : {welcome_bytes(), goodbye_bytes(1)}) {
        Bunch open = control_bunch(2, message);
        open.header.is_open = true;
        Fixture as_open;
        as_open.check_refused(as_open.server.forge().make({open}), CloseReason::MalformedBunch);
        Bunch close = control_bunch(2, message);
        close.header.is_close = true;
        Fixture as_close;
        as_close.check_refused(as_close.server.forge().make({close}), CloseReason::MalformedBunch);
    }
}

TEST_CASE("Hostile: a client may not send objects, values or anything else",
          "[netdriver][hostile]") {
    const Bytes block =
        pawn_block({health_handle}, [](BitWriter& writer) { writer.write_bits(1, 32); });
    const struct {
        const char* name;
        std::vector<Bunch> bunches;
        Bytes blocks;
    } cases[] = {
        {"an open", {open_bunch(1, NetGUID{1}, TestSchema::pawn_number)}, {}},
        {"a close", {close_bunch(1, 2)}, {}},
        {"a value", {value_bunch(1, 2, block)}, {}},
        {"a block", {}, block_of(1, block)},
        {"a block with a length", {}, block_with_length_of(1, block)},
        {"a byte that is nothing", {}, make_bytes(0)},
        {"a welcome", {control_bunch(2, welcome_bytes())}, {}},
        {"an unknown message", {control_bunch(2, make_bytes(77, 1, 2))}, {}},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ForgedClient client;
        const ObjectHandle pawn = client.world().add(TestSchema::get().pawn());
        (void)client.driver().add_object(TestSchema::get().pawn(), pawn);
        client.join(9);
        client.deliver(client.forge().make(test.bunches, test.blocks));
        CHECK(!client.is_joined());
        CHECK(client.closed_count(CloseReason::NotAllowed) == 1);
        CHECK(client.world().pawn(pawn).health == 100);
        CHECK(client.world().object_count() == 1);
    }
}

TEST_CASE("Hostile: what is no hello makes no connection and gets no answer",
          "[netdriver][hostile]") {
    ForgedClient client;
    const Bytes hello = client.hello_packet(5);
    for (std::size_t size = 0; size < hello.size(); ++size) {
        client.send(std::span<const std::byte>(hello).first(size));
    }
    PacketForge forge(5);
    client.send(forge.make({}));
    client.send(forge.make({control_bunch(1, {})}));
    client.send(forge.make({control_bunch(1, goodbye_bytes(1))}));
    client.send(forge.make({control_bunch(2, client.hello())}));  // not the first of its channel
    client.send(forge.make({value_bunch(1, 1, client.hello())}));
    for (std::size_t offset = 0; offset < 5; ++offset) {  // kind and magic
        Bytes message = client.hello();
        message[offset] ^= std::byte{1};
        client.send(forge.make({control_bunch(1, message)}));
    }
    client.tick();
    CHECK(client.driver().connection_count() == 0);
    CHECK(client.driver().stats().packets_received == 0);
    CHECK(client.driver().stats().packets_dropped == hello.size() + 10);
    CHECK(client.take_sent().empty());
}

TEST_CASE("Hostile: a hello that begins a packet with more in it is judged as a whole",
          "[netdriver][hostile]") {
    ForgedClient client;
    PacketForge forge(5);
    client.deliver(forge.make(
        {control_bunch(1, client.hello()), open_bunch(1, NetGUID{1}, TestSchema::pawn_number)}));
    CHECK(client.driver().connection_count() == 0);
    CHECK(client.closed_count(CloseReason::NotAllowed) == 1);
    // A goodbye and no welcome.
    const std::vector<Bytes> sent = client.take_sent();
    REQUIRE(sent.size() == 1);
    const auto packet = parse_packet(sent[0]);
    REQUIRE((packet && packet->bunches.size() == 1));
    CHECK(packet->bunches[0].payload ==
          goodbye_bytes(static_cast<std::uint8_t>(CloseReason::NotAllowed)));
}

TEST_CASE("Hostile: channels that are opened by the thousand cost bounded memory",
          "[netdriver][hostile]") {
    NetConfig config;
    config.channels_max = 5'000;
    config.reliable_waiting_max = 1'000;
    ForgedServer server(config);
    server.welcome();
    std::uint32_t channel = 1;
    while (server.is_joined() && channel < 100'000) {
        std::vector<Bunch> bunches;
        for (int i = 0; i < 100; ++i) {
            bunches.push_back(open_bunch(channel, NetGUID{channel}, TestSchema::marker_number));
            ++channel;
        }
        server.deliver_packet(bunches);
    }
    CHECK(server.driver().close_reason() == CloseReason::TooManyChannels);
    CHECK(server.world().spawn_count == 5'000);
    CHECK(server.world().object_count() == 0);
    constexpr std::int64_t bytes_per_channel_max = 600;
    CHECK(server.memory().bytes_in_use_max() < 5'000 * bytes_per_channel_max);
}

TEST_CASE("Hostile: an ack of what was never sent closes as invalid ack, at both ends",
          "[netdriver][hostile]") {
    ForgedServer server;
    server.welcome();
    server.forge().header().ack = static_cast<std::uint16_t>(server.forge().header().ack + 500);
    server.deliver_packet({});
    CHECK(server.driver().close_reason() == CloseReason::InvalidAck);

    ForgedClient client;
    client.join(7);
    client.forge().header().ack = static_cast<std::uint16_t>(client.forge().header().ack + 500);
    client.deliver(client.forge().make({}));
    CHECK(client.closed_count(CloseReason::InvalidAck) == 1);
    CHECK_FALSE(client.is_joined());
}

}  // namespace replayout::test
