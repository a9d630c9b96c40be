// SPDX-License-Identifier: MIT
#include "support/hostile/forged_caller.h"

#include <array>
#include <utility>

#include "support/checks/catch.h"

namespace replayout::test {

CallForge::CallForge(PeerId self, PeerId other, const NetConfig& config, bool is_validating)
    : network_({2'048, 1u << 16}, std::pmr::get_default_resource()),
      world(500),
      driver(settings(config, is_validating, &memory), network_.endpoint(self), world),
      line_(network_.endpoint(other)),
      self_(self),
      other_(other) {
    REQUIRE(driver.add_layout(turret_layout()));
}

NetDriverSettings CallForge::settings(const NetConfig& config, bool is_validating,
                                      MemoryResource* resource) {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config = config;
    settings.is_validating = is_validating;
    settings.resource = resource;
    return settings;
}

void CallForge::tick(std::int64_t milliseconds) {
    now_ = now_.plus_milliseconds(milliseconds);
    driver.tick_dispatch(now_);
    driver.tick_flush(now_);
}

void CallForge::deliver(const std::vector<Bunch>& bunches, const Bytes& blocks) {
    send(forge.make(bunches, blocks));
    tick();
}

void CallForge::deliver_raw(bool has_bunches, std::span<const std::byte> payload) {
    send(forge.make_raw(has_bunches, payload));
    tick();
}

CallForge::GivenBack::~GivenBack() {
    CHECK(resource.blocks_in_use() == 0);
}

std::vector<Bytes> CallForge::take_sent_to(PeerId to) {
    Transport& line = network_.endpoint(to);
    std::vector<Bytes> datagrams;
    std::array<std::byte, 2'048> buffer;
    PeerId peer;
    for (std::size_t size = line.receive(peer, buffer); size != Transport::nothing_received;
         size = line.receive(peer, buffer)) {
        datagrams.push_back(to_bytes(std::span(buffer).first(size)));
    }
    return datagrams;
}

void CallForge::acknowledge() {
    for (const Bytes& datagram : take_sent()) {
        const auto packet = parse_packet(datagram);
        REQUIRE(packet);
        std::uint32_t& word = forge.header().ack_words[0];
        if (forge.header().ack != 0) {  // bit 0 is of the packet before
            REQUIRE(packet->header.sequence == forge.header().ack + 1);
            word = word << 1 | 1;
        }
        forge.header().ack = packet->header.sequence;
    }
}

ForgedCaller::ForgedCaller(const NetConfig& config, bool is_validating)
    : CallForge(forged_server_peer, forged_client_peer, config, is_validating) {
    REQUIRE(driver.listen());
    turret = world.add();
    id = driver.add_object(turret_layout(), turret);
    driver.set_owner(id, forged_client_peer);
    forge = PacketForge(9);
    deliver({control_bunch(1, hello())});
    acknowledge();
    deliver({});
    REQUIRE(driver.connection_count() == 1);
}

void ForgedCaller::add_turrets(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        (void)driver.add_object(turret_layout(), world.add());
    }
    do {
        tick();
        acknowledge();
        deliver({});
    } while (!driver.is_settled());
}

Bytes ForgedCaller::hello() {
    CallForge model(forged_client_peer, forged_server_peer, {});
    REQUIRE(model.driver.connect(forged_server_peer, NetTime()));
    model.tick();
    const auto packet = parse_packet(model.take_sent().at(0));
    REQUIRE((packet && packet->bunches.size() == 1));
    return packet->bunches[0].payload;
}

ForgedCalled::ForgedCalled() : CallForge(forged_client_peer, forged_server_peer, {}) {
    REQUIRE(driver.connect(forged_server_peer, NetTime()));
    tick();
    const auto packet = parse_packet(take_sent().at(0));
    REQUIRE(packet);
    forge = PacketForge(packet->header.session);
    forge.header().ack = 1;
    deliver({control_bunch(1, welcome_bytes()), open_bunch(1, NetGUID{1}, 0)});
    REQUIRE(world.object_count() == 1);
}

Bytes call_bytes(std::uint64_t function, const std::function<void(BitWriter&)>& write) {
    std::array<std::byte, 256> bytes{};
    BitWriter writer(bytes);
    writer.write_packed_uint(function);
    if (write) {
        write(writer);
    }
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

Bytes order_bytes(std::uint64_t function, std::uint32_t number) {
    return call_bytes(function, [&](BitWriter& writer) {
        writer.write_bool(true);
        ChangeMask mask;
        mask.reset(3);
        mask.set(0);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bits(number, 32);
    });
}

Bunch call_bunch(std::uint32_t channel, std::optional<std::uint16_t> sequence, Bytes payload) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.is_call = true;
    header.is_unreliable = !sequence.has_value();
    header.sequence = sequence.value_or(0);
    return make_bunch(header, std::move(payload));
}

Bunch part_bunch(std::uint32_t channel, std::uint16_t sequence, bool is_first, bool is_last,
                 std::size_t bytes) {
    Bytes payload(bytes, std::byte{0});
    if (is_first) {
        payload.front() = std::byte{fire_index << 1};
    }
    Bunch bunch = call_bunch(channel, sequence, std::move(payload));
    bunch.header.is_partial = true;
    bunch.header.is_partial_initial = is_first;
    bunch.header.is_partial_final = is_last;
    return bunch;
}

}  // namespace replayout::test
