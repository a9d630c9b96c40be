// SPDX-License-Identifier: MIT
#include "support/hostile/forged_peer.h"

#include <array>

#include "support/checks/catch.h"

namespace replayout::test {

namespace {

constexpr LoopbackSettings forged_line_settings{2'048, 1u << 17};
constexpr std::uint64_t first_handle = 500;

[[nodiscard]] NetDriverSettings forged_driver_settings(const NetConfig& config,
                                                       MemoryResource* memory,
                                                       LayoutPolicy policy) {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config = config;
    settings.resource = memory;
    settings.layout_policy = policy;
    return settings;
}

}  // namespace

ForgedPeer::ForgedPeer(const NetConfig& config, PeerId self, PeerId other, LayoutPolicy policy)
    : network_(forged_line_settings, std::pmr::get_default_resource()),
      world_(first_handle),
      driver_(forged_driver_settings(config, &memory_, policy), network_.endpoint(self), world_),
      line_(network_.endpoint(other)),
      self_(self),
      now_(NetTime::from_milliseconds(1'000)) {
    TestSchema::get().add_to(driver_);
}

void ForgedPeer::tick(std::int64_t milliseconds) {
    now_ = now_.plus_milliseconds(milliseconds);
    driver_.tick_dispatch(now_);
    driver_.tick_flush(now_);
}

std::vector<Bytes> ForgedPeer::take_sent() {
    std::vector<Bytes> datagrams;
    std::array<std::byte, 2'048> buffer;
    PeerId peer;
    for (std::size_t size = line_.receive(peer, buffer); size != Transport::nothing_received;
         size = line_.receive(peer, buffer)) {
        datagrams.push_back(to_bytes(std::span(buffer).first(size)));
    }
    return datagrams;
}

ForgedServer::ForgedServer(const NetConfig& config, LayoutPolicy policy)
    : ForgedPeer(config, client_peer, server_peer, policy) {
    REQUIRE(driver_.connect(server_peer, now_));
    tick();
    const std::vector<Bytes> sent = take_sent();
    REQUIRE(sent.size() == 1);
    const auto packet = parse_packet(sent.front());
    REQUIRE(packet);
    forge_ = PacketForge(packet->header.session);
}

void ForgedServer::welcome() {
    forge_.header().ack = 1;  // the hello arrived; what comes later carries nothing
    deliver_packet({control_bunch(1, welcome_bytes())});
    REQUIRE(is_joined());
}

void ForgedServer::open(std::uint32_t channel, std::uint32_t layout_number) {
    deliver_packet({open_bunch(channel, NetGUID{channel}, layout_number)});
    REQUIRE(!object_on(channel).is_null());
}

ForgedClient::ForgedClient(const NetConfig& config) : ForgedPeer(config, server_peer, client_peer) {
    ForgedServer model;
    model.tick(1'000);  // it asks again
    const auto packet = parse_packet(model.take_sent().at(0));
    REQUIRE((packet && packet->bunches.size() == 1));
    hello_ = packet->bunches.front().payload;
    REQUIRE(driver_.listen());
}

Bytes ForgedClient::hello_packet(std::uint16_t session) const {
    return PacketForge(session).make({control_bunch(1, hello_)});
}

void ForgedClient::join(std::uint16_t session) {
    forge_ = PacketForge(session);
    deliver(forge_.make({control_bunch(1, hello_)}));
    REQUIRE(is_joined());
}

}  // namespace replayout::test
