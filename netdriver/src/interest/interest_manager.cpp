// SPDX-License-Identifier: MIT
#include "interest_manager.h"

#include "table_growth.h"

#include <algorithm>

namespace replayout {

InterestManager::InterestManager(const InterestSettings& settings, const ObjectStore& objects,
                                 NetWorld& world, InterestCounters& counters, MemoryMeters& memory)
    : objects_(objects),
      world_(world),
      class_rules_(Allocator<Rule>(&memory.objects)),
      rules_(Allocator<Rule>(&memory.objects)),
      ruled_(&memory.objects),
      groups_(&memory.objects),
      grid_(settings, counters, &memory.objects, &memory.pairs),
      clients_(Allocator<ClientInterest*>(&memory.connections)) {
    no_rule_.cull_distance = settings.cull_distance;
}

void InterestManager::add_client(ClientInterest& client) {
    clients_.push_back(&client);
    client.reconsidered.mark_all(ruled_);
}

void InterestManager::remove_client(ClientInterest& client) {
    for (std::uint32_t view = 0; view < views_per_client_max; ++view) {
        remove_viewer(client, view);
    }
    const auto found = std::find(clients_.begin(), clients_.end(), &client);
    if (found != clients_.end()) {
        clients_.erase(found);
    }
}

InterestManager::Rule& InterestManager::make_rule(ObjectIndex index) {
    rules_.grow_to(index, no_rule_);
    return rules_[index];
}

InterestManager::Rule& InterestManager::class_rule(std::uint32_t layout_number) {
    grow_table(class_rules_, std::size_t{layout_number} + 1, no_rule_);
    return class_rules_[layout_number];
}

void InterestManager::object_added(ObjectIndex index, std::uint32_t layout_number) {
    if (layout_number >= class_rules_.size()) {
        return;
    }
    const Rule& rule = class_rules_[layout_number];
    make_rule(index).cull_distance = rule.cull_distance;
    set_relevancy(index, rule.relevancy);
}

void InterestManager::forget(ObjectIndex index) {
    groups_.remove_all(index);
    grid_.remove_object(index);
    for (ClientInterest* client : clients_) {
        client->reconsidered.forget(index);
        client->shown.erase(index);
        client->hidden.erase(index);
    }
    ruled_.erase(index);
    if (!rules_.contains(index)) {
        return;
    }
    leave_owner(index);
    while (rules_[index].first_owned != no_object) {
        const ObjectIndex owned = rules_[index].first_owned;
        leave_owner(owned);
        reconsider(owned);
    }
    rules_[index] = no_rule_;
}

void InterestManager::set_relevancy(ObjectIndex index, NetRelevancy relevancy) {
    if (rule_of(index).relevancy != relevancy) {
        make_rule(index).relevancy = relevancy;
        rule_changed(index);
    }
}

void InterestManager::set_cull_distance(ObjectIndex index, float distance) {
    if (rule_of(index).cull_distance == distance) {
        return;
    }
    make_rule(index).cull_distance = distance;
    if (rules_[index].relevancy == NetRelevancy::Distance && grid_.has_object(index)) {
        grid_.add_object(index, static_cast<double>(distance), *objects_.at(index)->location());
    }
}

bool InterestManager::set_owner_object(ObjectIndex index, ObjectIndex owner) {
    if (rule_of(index).owner == owner) {
        return true;
    }
    (void)make_rule(std::max(index, owner));
    for (ObjectIndex at = owner; at != no_object; at = rules_[at].owner) {
        if (at == index) {
            return false;
        }
    }
    leave_owner(index);
    rules_[index].owner = owner;
    const ObjectIndex next = rules_[owner].first_owned;
    rules_[index].next_owned = next;
    if (next != no_object) {
        rules_[next].previous_owned = index;
    }
    rules_[owner].first_owned = index;
    reconsider(index);
    return true;
}

void InterestManager::leave_owner(ObjectIndex index) {
    Rule& rule = rules_[index];
    if (rule.owner == no_object) {
        return;
    }
    if (rule.next_owned != no_object) {
        rules_[rule.next_owned].previous_owned = rule.previous_owned;
    }
    if (rule.previous_owned != no_object) {
        rules_[rule.previous_owned].next_owned = rule.next_owned;
    } else {
        rules_[rule.owner].first_owned = rule.next_owned;
    }
    rule.owner = no_object;
    rule.next_owned = no_object;
    rule.previous_owned = no_object;
}

void InterestManager::set_class_relevancy(std::uint32_t layout_number, NetRelevancy relevancy) {
    class_rule(layout_number).relevancy = relevancy;
}

void InterestManager::set_class_cull_distance(std::uint32_t layout_number, float distance) {
    class_rule(layout_number).cull_distance = distance;
}

void InterestManager::rule_changed(ObjectIndex index) {
    const Rule& rule = rule_of(index);
    if (rule.relevancy != NetRelevancy::Always || rule.is_grouped) {
        ruled_.insert(index);
    } else {
        ruled_.erase(index);
    }
    const std::optional<Vector3>& location = objects_.at(index)->location();
    if (location.has_value() && rule.relevancy == NetRelevancy::Distance) {
        grid_.add_object(index, static_cast<double>(rule.cull_distance), *location);
    } else if (location.has_value() && rule.relevancy == NetRelevancy::Grid) {
        grid_.add_object(index, *location);
    } else {
        grid_.remove_object(index);
    }
    reconsider(index);
}

void InterestManager::set_location(ObjectIndex index, const Vector3& location) {
    if (grid_.has_object(index)) {
        grid_.set_location(index, location);
        return;
    }
    const NetRelevancy relevancy = rule_of(index).relevancy;
    if (relevancy == NetRelevancy::Distance || relevancy == NetRelevancy::Grid) {
        rule_changed(index);  // it was nowhere
    }
}

std::uint32_t InterestManager::viewer_of(ClientInterest& client, std::uint32_t view) {
    std::uint32_t& viewer = client.viewers[view];
    if (viewer == InterestGrid::no_viewer) {
        viewer = grid_.add_viewer(client.reconsidered);
    }
    return viewer;
}

void InterestManager::set_viewer(ClientInterest& client, const Vector3& location,
                                 std::uint32_t view) {
    grid_.set_viewer(viewer_of(client, view), location);
}

void InterestManager::set_view_radius(ClientInterest& client, float radius, std::uint32_t view) {
    grid_.set_view_radius(viewer_of(client, view), static_cast<double>(radius));
}

void InterestManager::remove_viewer(ClientInterest& client, std::uint32_t view) {
    std::uint32_t& viewer = client.viewers[view];
    if (viewer != InterestGrid::no_viewer) {
        grid_.remove_viewer(viewer);
        viewer = InterestGrid::no_viewer;
    }
}

void InterestManager::add_to_group(ObjectIndex index, NetGroup group) {
    const bool is_new = groups_.add(index, group);
    if (is_new || !rule_of(index).is_grouped) {
        make_rule(index).is_grouped = true;
        ruled_.insert(index);
        reconsider(index);
    }
}

void InterestManager::remove_from_group(ObjectIndex index, NetGroup group) {
    if (groups_.remove(index, group)) {
        reconsider(index);
    }
}

void InterestManager::clear_groups(ObjectIndex index) {
    groups_.remove_all(index);
    if (rule_of(index).is_grouped) {
        make_rule(index).is_grouped = false;
        rule_changed(index);
    }
}

bool InterestManager::set_in_group(ClientInterest& client, NetGroup group, bool is_in_group) {
    if (is_in_group == client.groups.contains(group)) {
        return false;
    }
    if (is_in_group) {
        client.groups.insert(group);
    } else {
        client.groups.erase(group);
    }
    groups_.for_each_member(group, [&](ObjectIndex index) {
        if (!objects_.at(index)->is_subobject()) {
            client.reconsidered.mark(index);
        }
    });
    return true;
}

void InterestManager::reconsider(ObjectIndex index) {
    for (ClientInterest* client : clients_) {
        client->reconsidered.mark(index);
    }
}

void InterestManager::owner_changed(ClientInterest& client, ObjectIndex index) {
    if (ruled_.test(index)) {
        client.reconsidered.mark(index);
    }
}

void InterestManager::relevancy_changed(ClientInterest& client, ObjectIndex index) {
    for (ObjectIndex owned = rule_of(index).first_owned; owned != no_object;
         owned = rules_[owned].next_owned) {
        client.reconsidered.mark(owned);
    }
}

bool InterestManager::is_seen(const ClientInterest& client, ObjectIndex index) const noexcept {
    return std::any_of(client.viewers.begin(), client.viewers.end(), [&](std::uint32_t viewer) {
        return viewer != InterestGrid::no_viewer && grid_.sees(viewer, index);
    });
}

bool InterestManager::is_relevant(const ClientInterest& client, const BitRow& irrelevant,
                                  ObjectIndex index) const {
    if (client.hidden.test(index)) {
        return false;
    }
    if (client.shown.test(index) ||
        (objects_.has_owner(index) &&
         objects_.at(index)->ownership().role_of(client.peer).is_owned)) {
        return true;
    }
    const Rule& rule = rule_of(index);
    if (rule.is_grouped && !groups_.is_in_any(index, client.groups)) {
        return false;
    }
    switch (rule.relevancy) {
        case NetRelevancy::Always:
            return true;
        case NetRelevancy::OnlyToOwner:
            return false;
        case NetRelevancy::UseOwner:
            return rule.owner != no_object && !irrelevant.test(rule.owner);
        case NetRelevancy::Distance:
        case NetRelevancy::Grid:
            return is_seen(client, index);
        case NetRelevancy::Custom:
            return world_.is_net_relevant_for(objects_.at(index)->object(), client.peer);
    }
    return true;
}

std::optional<float> InterestManager::distance_squared_to(const ClientInterest& client,
                                                          const Vector3& location) const noexcept {
    std::optional<float> nearest;
    for (const std::uint32_t viewer : client.viewers) {
        const std::optional<float> squared = viewer == InterestGrid::no_viewer
                                                 ? std::nullopt
                                                 : grid_.distance_squared_to(viewer, location);
        if (squared.has_value()) {
            nearest = std::min(nearest.value_or(*squared), *squared);
        }
    }
    return nearest;
}

}  // namespace replayout
