// SPDX-License-Identifier: MIT
#include "support/replication/reference_replicator.h"

#include <algorithm>
#include <utility>

namespace replayout::test {

namespace {

[[nodiscard]] std::string name_of(ObjectId id, const std::string& type_name) {
    return "object " + std::to_string(id.value) + " of " + type_name;
}

[[nodiscard]] std::uint64_t new_element_value(const Property& property) {
    // The value of a leaf that is an array is its count.
    return is_array(property.kind) ? 0 : hash_of(default_state(property));
}

/// Where two states of a type differ first.
[[nodiscard]] std::string first_difference(const Type& type, const Value& owed,
                                           const Value& shown) {
    std::unordered_map<std::uint64_t, std::uint64_t> owed_leaves;
    for_each_leaf(type, owed,
                  [&](const Leaf& leaf) { owed_leaves.emplace(leaf.path, leaf.value); });
    std::string difference;
    for_each_leaf(type, shown, [&](const Leaf& leaf) {
        const auto found = owed_leaves.find(leaf.path);
        if (difference.empty() && (found == owed_leaves.end() || found->second != leaf.value)) {
            difference = to_string(*leaf.trail);
        }
    });
    return difference + ": ought to be " + to_string(owed) + ", is " + to_string(shown);
}

/// What `shown` leaves open becomes what is owed, where it names nothing that is in `objects`.
void fill_unknown(Value& shown, const Value& owed, const std::set<std::uint64_t>& objects) {
    if (shown.content.index() != owed.content.index()) {
        return;
    }
    if (auto* reference = std::get_if<Reference>(&shown.content)) {
        const std::uint64_t id = std::get<Reference>(owed.content).id;
        const bool may_be_null = !objects.contains(id);
        if (reference->id == Reference::unknown_id) {
            reference->id = may_be_null ? id : 0;
        }
        return;
    }
    const auto fill_parts = [&]<typename Parts>(Parts& parts) {
        const auto& owed_parts = std::get<Parts>(owed.content).parts;
        for (std::size_t i = 0; i < std::min(parts.parts.size(), owed_parts.size()); ++i) {
            fill_unknown(parts.parts[i], owed_parts[i], objects);
        }
    };
    if (auto* record = std::get_if<Record>(&shown.content)) {
        fill_parts(*record);
    } else if (auto* list = std::get_if<List>(&shown.content)) {
        fill_parts(*list);
    }
}

}  // namespace

void ReferenceReplicator::add_object(ObjectId id, const Type& type, const Value& archetype) {
    ObjectRecord& record = objects_[id];
    record.type = &type;
    note_values(record, archetype);
    set_state(id, archetype);
}

void ReferenceReplicator::remove_object(ObjectId id) {
    objects_.at(id).is_alive = false;
    for (auto& [client_id, client] : clients_) {
        client.owed.erase(id);
    }
}

void ReferenceReplicator::set_state(ObjectId id, const Value& state) {
    ObjectRecord& record = objects_.at(id);
    record.state = state;
    note_values(record, state);
    for (auto& [client_id, client] : clients_) {
        if (record.type->name() != client.refused_type) {
            client.owed[id] = state;
        }
    }
}

void ReferenceReplicator::note_values(ObjectRecord& record, const Value& state) {
    Paths gone = std::exchange(record.present, {});
    ++record.round;
    for_each_leaf(*record.type, state, [&](const Leaf& leaf) {
        LeafHistory& history = record.leaves[leaf.path];
        if (leaf.is_presence) {
            gone.erase(leaf.path);
            record.present.insert(leaf.path);
            record.elements.insert(leaf.path);
        }
        if (leaf.is_presence && history.values.empty() && !record.is_new) {
            history.values.push_back(0);
        }
        const bool is_first = history.last_round == 0;
        if (is_first) {
            history.first_round = record.round;
        }
        const bool was_there = !is_first && history.last_round + 1 == record.round;
        if (!was_there && may_be_unsent(record, leaf)) {
            history.may_be_unsent = true;
            history.new_element_value = new_element_value(*leaf.property);
        }
        history.last_round = record.round;
        if (history.values.empty() || history.values.back() != leaf.value) {
            history.values.push_back(leaf.value);
        }
    });
    for (const std::uint64_t path : gone) {
        record.leaves[path].values.push_back(0);
    }
    record.is_new = false;
}

bool ReferenceReplicator::may_be_unsent(const ObjectRecord& record, const Leaf& leaf) {
    return leaf.is_in_array && (leaf.keyed_element == 0 ||
                                record.leaves.at(leaf.keyed_element).first_round != record.round);
}

void ReferenceReplicator::add_client(ClientId client_id, const std::string& refused_type) {
    Client& client = clients_[client_id];
    client.refused_type = refused_type;
    for (const auto& [id, record] : objects_) {
        if (record.is_alive && record.type->name() != refused_type) {
            client.owed.emplace(id, record.state);
        }
    }
}

void ReferenceReplicator::remove_client(ClientId client) {
    clients_.erase(client);
}

std::string ReferenceReplicator::observe(ClientId client_id, const ClientView& view) {
    Client& client = clients_.at(client_id);
    ++client.round;
    std::vector<std::string> problems;
    for (const ClientView::Object& object : view.objects(problems)) {
        if (problems.empty()) {
            if (std::string problem = observe_object(client, object); !problem.empty()) {
                problems.push_back(std::move(problem));
            }
        }
    }
    for (auto& [id, shown] : client.shown) {
        shown.is_gone = shown.round != client.round;
        if (shown.is_gone && client.owed.contains(id) && problems.empty()) {
            problems.push_back("object " + std::to_string(id.value) + " is gone, and lives");
        }
    }
    return problems.empty() ? std::string() : problems.front();
}

std::string ReferenceReplicator::observe_object(Client& client, const ClientView::Object& object) {
    const std::string name = name_of(object.id, object.type_name);
    const auto found = objects_.find(object.id);
    if (found == objects_.end() || found->second.type->name() != object.type_name) {
        return name + " is none of the server's";
    }
    ShownObject& shown = client.shown[object.id];
    if (shown.is_gone) {
        return name + " was gone and is back";
    }
    shown.round = client.round;
    ObjectRecord& record = found->second;
    std::string problem;
    std::vector<std::uint64_t> present;
    for_each_leaf(*record.type, object.state, [&](const Leaf& leaf) {
        if (has_unknown(*leaf.state) && !leaf.is_presence) {
            return;
        }
        if (leaf.is_presence) {
            present.push_back(leaf.path);
        }
        const auto history = record.leaves.find(leaf.path);
        const bool is_known = history != record.leaves.end();
        if (is_known && advance(history->second, leaf.value, shown.positions[leaf.path])) {
            return;
        }
        if (problem.empty()) {
            const auto& values = is_known ? history->second.values : std::vector<std::uint64_t>();
            const bool was_shown =
                std::find(values.begin(), values.end(), leaf.value) != values.end();
            problem = name + ", " + to_string(*leaf.trail) +
                      (was_shown ? ": went back to an earlier value"
                                 : ": shows what was never the server's") +
                      ": " + to_string(object.state);
        }
    });
    if (problem.empty()) {
        problem = observe_elements(record, present, shown);
        problem = problem.empty() ? problem : name + problem + ": " + to_string(object.state);
    }
    return problem;
}

std::string ReferenceReplicator::observe_elements(const ObjectRecord& record,
                                                  const std::vector<std::uint64_t>& present,
                                                  ShownObject& shown) {
    const Paths paths(present.begin(), present.end());
    if (paths.size() != present.size()) {
        return " has two elements of one key";
    }
    for (const std::uint64_t path : record.elements) {
        const std::uint64_t value = paths.contains(path) ? 1 : 0;
        if (!advance(record.leaves.at(path), value, shown.positions[path])) {
            return value == 1 ? " has an element that was removed before"
                              : " lacks an element that was there before";
        }
    }
    return {};
}

bool ReferenceReplicator::advance(const LeafHistory& history, std::uint64_t value,
                                  std::uint32_t& position) {
    if (history.values[position] == value ||
        (history.may_be_unsent && value == history.new_element_value)) {
        return true;
    }
    // The earliest that fits leaves the most room for what comes.
    const auto found = std::find(history.values.begin() + position, history.values.end(), value);
    if (found == history.values.end()) {
        return false;
    }
    position = static_cast<std::uint32_t>(found - history.values.begin());
    return true;
}

std::string ReferenceReplicator::compare(ClientId client_id, const ClientView& view) const {
    const Client& client = clients_.at(client_id);
    std::vector<std::string> problems;
    const std::vector<ClientView::Object> objects = view.objects(problems);
    if (!problems.empty()) {
        return problems.front();
    }
    std::set<std::uint64_t> ids;
    for (const ClientView::Object& object : objects) {
        ids.insert(object.id.value);
    }
    for (const ClientView::Object& object : objects) {
        const auto owed = client.owed.find(object.id);
        if (owed == client.owed.end()) {
            return name_of(object.id, object.type_name) + " is one too many";
        }
        Value state = object.state;
        fill_unknown(state, owed->second, ids);
        if (!(owed->second == state)) {
            return name_of(object.id, object.type_name) + ", " +
                   first_difference(*objects_.at(object.id).type, owed->second, state);
        }
    }
    for (const auto& entry : client.owed) {
        const auto id = entry.first;
        if (std::none_of(objects.begin(), objects.end(),
                         [&](const auto& object) { return object.id == id; })) {
            return name_of(id, std::string(objects_.at(id).type->name())) + " is missing";
        }
    }
    return {};
}

}  // namespace replayout::test
