// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_rates.h>

#include "driver_end.h"

#include <string>

namespace replayout {

namespace {

constexpr std::uint32_t bytes_per_second_least = 1'800;
constexpr std::uint32_t bytes_per_second_most = 1'000'000'000;

[[nodiscard]] bool is_cap(std::uint32_t bytes) noexcept {
    return bytes == 0 || (bytes >= bytes_per_second_least && bytes <= bytes_per_second_most);
}

}  // namespace

DriverEnd NetRates::end() const noexcept {
    return {server_, nullptr, is_calling_out_};
}

void NetRates::set_class_net_update_frequency(const RepLayout& layout,
                                              const NetUpdateFrequency& frequency) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(server_->layouts().number_of_added(layout) != LayoutTable::no_number, void(),
                     "%s", unknown_layout(__func__, layout).c_str());
    REPLAYOUT_EXPECT(
        frequency.is_valid(), void(),
        "set_class_net_update_frequency: a rate is 0, or 0.001 to 1,000,000 a second, and there is "
        "no least without a most");
    server_->compare().set_class_frequency(layout, frequency);
}

void NetRates::set_net_update_frequency(NetObjectId id, const NetUpdateFrequency& frequency) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(
        frequency.is_valid(), void(),
        "set_net_update_frequency: a rate is 0, or 0.001 to 1,000,000 a second, and there is "
        "no least without a most");
    server_->compare().set_frequency(slot_of(id), frequency);
}

NetUpdateFrequency NetRates::net_update_frequency_of(NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(NetUpdateFrequency(), may_read, id);
    return server_->compare().calendar().frequency_of(slot_of(id));
}

void NetRates::force_net_update(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->dormancy().force_net_update(id);
}

void NetRates::set_bytes_per_second_max(PeerId peer, std::uint32_t bytes) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(is_cap(bytes), void(),
                     "set_bytes_per_second_max: %u is neither 0 nor between %u and %u", bytes,
                     bytes_per_second_least, bytes_per_second_most);
    server_->clients().set_bytes_per_second_max(peer, bytes);
}

void NetRates::set_class_net_priority(const RepLayout& layout, float priority) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(server_->layouts().number_of_added(layout) != LayoutTable::no_number, void(),
                     "%s", unknown_layout(__func__, layout).c_str());
    REPLAYOUT_EXPECT(priority > 0, void(),
                     "set_class_net_priority: class \"%s\": %g is not above 0",
                     std::string(layout.name()).c_str(), static_cast<double>(priority));
    server_->priorities().set_class(layout, priority);
}

void NetRates::set_net_priority(NetObjectId id, float priority) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(priority > 0, void(), "%s: %g is not above 0",
                     end().named(__func__, id).c_str(), static_cast<double>(priority));
    server_->priorities().set(id, priority);
}

void NetRates::set_priority_distance(float distance) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(distance >= 0, void(), "set_priority_distance: %g is below 0",
                     static_cast<double>(distance));
    server_->priorities().set_distance(distance);
}

OwedUpdate NetRates::owed_to(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(OwedUpdate(), may_read, id);
    return server_->priorities().owed_to(peer, id);
}

NetBandwidth NetRates::bandwidth_of(PeerId peer) const {
    REPLAYOUT_EXPECT_MAY(NetBandwidth(), may_read);
    const NetConnection* connection = server_->clients().find_connection(peer);
    if (connection == nullptr) {
        return {};
    }
    const BandwidthShares& bandwidth = connection->packets().bandwidth();
    return {bandwidth.bytes_per_second_max(), bandwidth.effective_cap(), bandwidth.round_trip_us()};
}

}  // namespace replayout
