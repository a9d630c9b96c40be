// SPDX-License-Identifier: MIT
#include <replayout/netdriver/interest.h>

#include "driver_end.h"

#include <cmath>
#include <string>

namespace replayout {

namespace {

constexpr float length_min = 0.001f;
constexpr float length_max = 1e30f;

[[nodiscard]] bool is_length(float length) noexcept {
    return length >= length_min && length <= length_max;
}

[[nodiscard]] bool is_finite(const Vector3& location) noexcept {
    return std::isfinite(location.x) && std::isfinite(location.y) && std::isfinite(location.z);
}

[[nodiscard]] Status refuse(const char* setting, const char* range) {
    return Error{ErrorCode::InvalidArgument,
                 std::string("interest settings: ") + setting + " is not between " + range};
}

[[nodiscard]] bool is_view(std::uint32_t view) noexcept {
    return view < views_per_client_max;
}

}  // namespace

Status InterestSettings::validate() const {
    if (!is_length(cull_distance)) {
        return refuse("cull_distance", "0.001 and 1e30");
    }
    if (!(view_radius >= 0.0f && view_radius <= length_max)) {
        return refuse("view_radius", "0 and 1e30");
    }
    if (!is_length(cell_size)) {
        return refuse("cell_size", "0.001 and 1e30");
    }
    // Two cells at least of the 32 that a cull distance has: a step over a corner is shorter.
    if (!(hysteresis >= 0.0625f && hysteresis <= 1.0f)) {
        return refuse("hysteresis", "0.0625 and 1");
    }
    return {};
}

DriverEnd Interest::end() const noexcept {
    return {server_, nullptr, is_calling_out_};
}

void Interest::set_relevancy(NetObjectId id, NetRelevancy relevancy) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(relevancy <= NetRelevancy::Custom, void(), "%s: %u is no NetRelevancy",
                     end().named(__func__, id).c_str(), static_cast<unsigned>(relevancy));
    server_->relevancy().interest().set_relevancy(slot_of(id), relevancy);
}

void Interest::set_cull_distance(NetObjectId id, float distance) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(is_length(distance), void(), "%s: %g is not between 0.001 and 1e30",
                     end().named(__func__, id).c_str(), static_cast<double>(distance));
    server_->relevancy().interest().set_cull_distance(slot_of(id), distance);
}

void Interest::set_owner_object(NetObjectId id, NetObjectId owner) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(end().may_change_whole(owner), void(), "%s",
                     end().refusal("set_owner_object, the owner", owner).c_str());
    REPLAYOUT_EXPECT(id != owner, void(),
                     "set_owner_object: object %u.%u cannot carry itself: name the object that "
                     "carries it",
                     id.index, id.generation);
    REPLAYOUT_EXPECT(
        server_->relevancy().interest().set_owner_object(slot_of(id), slot_of(owner)), void(),
        "set_owner_object: object %u.%u is carried by object %u.%u already, by whatever "
        "others: let go of one before",
        owner.index, owner.generation, id.index, id.generation);
}

void Interest::set_class_relevancy(const RepLayout& layout, NetRelevancy relevancy) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    const std::uint32_t number = server_->layouts().number_of_added(layout);
    REPLAYOUT_EXPECT(number != LayoutTable::no_number, void(), "%s",
                     unknown_layout(__func__, layout).c_str());
    server_->relevancy().interest().set_class_relevancy(number, relevancy);
}

void Interest::set_class_cull_distance(const RepLayout& layout, float distance) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    const std::uint32_t number = server_->layouts().number_of_added(layout);
    REPLAYOUT_EXPECT(number != LayoutTable::no_number, void(), "%s",
                     unknown_layout(__func__, layout).c_str());
    REPLAYOUT_EXPECT(is_length(distance), void(),
                     "set_class_cull_distance: class \"%s\": %g is not between 0.001 and 1e30",
                     std::string(layout.name()).c_str(), static_cast<double>(distance));
    server_->relevancy().interest().set_class_cull_distance(number, distance);
}

void Interest::set_location(NetObjectId id, const Vector3& location) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(is_finite(location), void(),
                     "%s: (%g, %g, %g) is no place: give finite numbers",
                     end().named(__func__, id).c_str(), static_cast<double>(location.x),
                     static_cast<double>(location.y), static_cast<double>(location.z));
    server_->relevancy().set_location(id, location);
}

void Interest::set_viewer(PeerId peer, const Vector3& location, std::uint32_t view) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(is_finite(location), void(),
                     "set_viewer: (%g, %g, %g) is no place: give finite numbers",
                     static_cast<double>(location.x), static_cast<double>(location.y),
                     static_cast<double>(location.z));
    REPLAYOUT_EXPECT(is_view(view), void(), "set_viewer: view %u: a client has views 0 to %u", view,
                     views_per_client_max - 1);
    if (ClientInterest* client = server_->clients().find_interest(peer)) {
        server_->relevancy().interest().set_viewer(*client, location, view);
    }
}

void Interest::remove_viewer(PeerId peer, std::uint32_t view) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(is_view(view), void(), "remove_viewer: view %u: a client has views 0 to %u",
                     view, views_per_client_max - 1);
    if (ClientInterest* client = server_->clients().find_interest(peer)) {
        server_->relevancy().interest().remove_viewer(*client, view);
    }
}

void Interest::set_view_radius(PeerId peer, float radius, std::uint32_t view) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(radius >= 0.0f && radius <= length_max, void(),
                     "set_view_radius: %g is not between 0 and 1e30", static_cast<double>(radius));
    REPLAYOUT_EXPECT(is_view(view), void(), "set_view_radius: view %u: a client has views 0 to %u",
                     view, views_per_client_max - 1);
    if (ClientInterest* client = server_->clients().find_interest(peer)) {
        server_->relevancy().interest().set_view_radius(*client, radius, view);
    }
}

void Interest::look_around() {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->relevancy().interest().update();
}

bool Interest::is_in_sight(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(false, may_read, id);
    const ClientInterest* client = server_->clients().find_interest(peer);
    return client != nullptr && server_->relevancy().interest().is_seen(*client, slot_of(id));
}

void Interest::add_to_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->relevancy().add_to_group(id, group);
}

void Interest::remove_from_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->relevancy().remove_from_group(id, group);
}

void Interest::clear_groups(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->relevancy().clear_groups(id);
}

void Interest::set_in_group(PeerId peer, NetGroup group, bool is_in_group) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->relevancy().set_in_group(peer, group, is_in_group);
}

void Interest::set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->relevancy().set_relevant_for(peer, id, is_relevant);
}

void Interest::clear_relevant_for(PeerId peer, NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->relevancy().clear_relevant_for(peer, id);
}

void Interest::reconsider(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->relevancy().interest().reconsider(slot_of(id));
}

void Interest::reconsider(PeerId peer, NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    if (ClientInterest* client = server_->clients().find_interest(peer)) {
        client->reconsidered.mark(slot_of(id));
    }
}

}  // namespace replayout
