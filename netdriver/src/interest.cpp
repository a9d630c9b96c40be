// SPDX-License-Identifier: MIT
#include <replayout/netdriver/interest.h>

#include "replication_server.h"

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

/// An object that is no part.
[[nodiscard]] bool is_whole(const ReplicationServer& server, NetObjectId id) noexcept {
    return server.objects().contains(id) && !server.objects().at(id.index)->is_subobject();
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

void Interest::set_relevancy(NetObjectId id, NetRelevancy relevancy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_whole(server_, id));
    server_.interest().set_relevancy(id.index, relevancy);
}

void Interest::set_cull_distance(NetObjectId id, float distance) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_whole(server_, id));
    REPLAYOUT_ASSERT(is_length(distance));
    server_.interest().set_cull_distance(id.index, distance);
}

void Interest::set_owner_object(NetObjectId id, NetObjectId owner) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_whole(server_, id));
    REPLAYOUT_ASSERT(is_whole(server_, owner));
    server_.interest().set_owner_object(id.index, owner.index);
}

void Interest::set_class_relevancy(const RepLayout& layout, NetRelevancy relevancy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.interest().set_class_relevancy(server_.layouts().number_of(layout), relevancy);
}

void Interest::set_class_cull_distance(const RepLayout& layout, float distance) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_length(distance));
    server_.interest().set_class_cull_distance(server_.layouts().number_of(layout), distance);
}

void Interest::set_location(NetObjectId id, const Vector3& location) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_finite(location));
    server_.set_location(id, location);
}

void Interest::set_viewer(PeerId peer, const Vector3& location, std::uint32_t view) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_finite(location));
    REPLAYOUT_ASSERT(view < views_per_client_max);
    if (ClientInterest* client = server_.find_interest(peer)) {
        server_.interest().set_viewer(*client, location, view);
    }
}

void Interest::remove_viewer(PeerId peer, std::uint32_t view) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(view < views_per_client_max);
    if (ClientInterest* client = server_.find_interest(peer)) {
        server_.interest().remove_viewer(*client, view);
    }
}

void Interest::set_view_radius(PeerId peer, float radius, std::uint32_t view) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(radius >= 0.0f && radius <= length_max);
    REPLAYOUT_ASSERT(view < views_per_client_max);
    if (ClientInterest* client = server_.find_interest(peer)) {
        server_.interest().set_view_radius(*client, radius, view);
    }
}

void Interest::add_to_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.add_to_group(id, group);
}

void Interest::remove_from_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.remove_from_group(id, group);
}

void Interest::clear_groups(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.clear_groups(id);
}

void Interest::set_in_group(PeerId peer, NetGroup group, bool is_in_group) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.set_in_group(peer, group, is_in_group);
}

void Interest::set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.set_relevant_for(peer, id, is_relevant);
}

void Interest::clear_relevant_for(PeerId peer, NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    server_.clear_relevant_for(peer, id);
}

void Interest::reconsider(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_whole(server_, id));
    server_.interest().reconsider(id.index);
}

void Interest::reconsider(PeerId peer, NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(is_whole(server_, id));
    if (ClientInterest* client = server_.find_interest(peer)) {
        client->reconsidered.mark(id.index);
    }
}

}  // namespace replayout
