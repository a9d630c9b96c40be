// SPDX-License-Identifier: MIT
#include "object_lives.h"

#include "refusal_text.h"

#include <replayout/utf8.h>

#include <algorithm>
#include <string>

namespace replayout {

namespace {

/// It looks at nothing but what a connection is to the object.
[[nodiscard]] constexpr bool may_be_of_subobject(LifetimeCondition condition) noexcept {
    return !is_initial_condition(condition) && condition != LifetimeCondition::Custom &&
           condition != LifetimeCondition::Dynamic && condition <= LifetimeCondition::NetGroup;
}

[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText why_invalid(
    const SpawnParameters& parameters) noexcept {
    RefusalText text;
    if (parameters.stable_name.size() > stable_name_bytes_max) {
        text.append("whose stable name has %zu bytes: it may have %zu",
                    parameters.stable_name.size(), stable_name_bytes_max);
    } else if (!is_valid_utf8(parameters.stable_name)) {
        text.append("whose stable name is not UTF-8");
    } else {
        text.append("whose location, rotation, scale or velocity is not finite");
    }
    return text;
}

}  // namespace

ObjectLives::ObjectLives(const ServerEnvironment& environment, const Parts& parts)
    : environment_(environment),
      parts_(parts),
      objects_(parts.objects.store),
      clients_(parts.clients),
      torn_off_(&environment.memory.objects),
      names_(&environment.memory.objects),
      family_(Allocator<ObjectIndex>(&environment.memory.scratch)) {
    parts_.objects.tables.add(names_, ObjectTables::Until::TornOff);
}

NetObjectId ObjectLives::add(const RepLayout& layout, ObjectHandle object,
                             const SpawnParameters& parameters) {
    return add(layout, object, {}, parameters);
}

NetObjectId ObjectLives::add(const RepLayout& layout, ObjectHandle object, NetObjectId outer,
                             const SpawnParameters& parameters) {
    const bool is_part = outer.generation != 0;
    const char* const called = is_part ? "add_subobject" : "add_object";
    REPLAYOUT_EXPECT(!object.is_null(), NetObjectId(),
                     "%s: a \"%s\" without a handle: give it one that is not 0", called,
                     std::string(layout.name()).c_str());
    REPLAYOUT_EXPECT(
        environment_.world.has_object(object), NetObjectId(),
        "%s: a \"%s\" of handle %llu, which is no object of this world: give the handle "
        "of one that it made",
        called, std::string(layout.name()).c_str(), static_cast<unsigned long long>(object.value));
    REPLAYOUT_EXPECT(is_valid(parameters), NetObjectId(), "%s: a \"%s\" %s", called,
                     std::string(layout.name()).c_str(), why_invalid(parameters).c_str());
    const std::uint32_t number = environment_.layouts.number_of_added(layout);
    REPLAYOUT_EXPECT(number != LayoutTable::no_number, NetObjectId(), "%s",
                     unknown_layout(called, layout).c_str());
    if (objects_.object_count() >= environment_.settings.config.channels_max) {
        parts_.departures.end_oldest();
    }
    if (objects_.object_count() >= environment_.settings.config.channels_max) {
        log(LogLevel::Error, "an object was not added: there are " +
                                 std::to_string(environment_.settings.config.channels_max) +
                                 " of them, and NetConfig::channels_max allows no more");
        return {};
    }
    const NetGUID outer_guid = is_part ? objects_.at(slot_of(outer))->guid() : NetGUID();
    const ObjectIndex twin = names_.find(outer_guid, parameters.stable_name);
    REPLAYOUT_EXPECT(twin == no_object, NetObjectId(), "%s",
                     named_twice(called, layout, parameters.stable_name, twin).c_str());
    const NetGUID guid = environment_.guids.assign_to_new(object);
    REPLAYOUT_EXPECT(!guid.is_null(), NetObjectId(), "%s",
                     why_not_twice(called, layout, object).c_str());
    parts_.notices.forget(parameters.stable_name);
    environment_.guids.bind(guid, object);
    const NetObjectId id = objects_.add(layout, number, object, guid);
    if (is_part) {
        objects_.attach(slot_of(id), slot_of(outer));
    }
    objects_.set_spawn_record(slot_of(id), environment_.layouts.archetype_of(layout), outer_guid,
                              parameters);
    names_.add(slot_of(id), outer_guid, parameters.stable_name);
    objects_.at(slot_of(id))->set_location(parameters.location);
    parts_.objects.tables.grow(objects_.slot_count());
    parts_.objects.live.set(slot_of(id));
    parts_.objects.changes.add(slot_of(id));
    parts_.values.begin(slot_of(id), layout);
    parts_.compare.begin(slot_of(id));
    if (!is_part) {
        parts_.priorities.begin(slot_of(id));
        parts_.relevancy.object_added(slot_of(id));
    }
    return id;
}

RefusalText ObjectLives::why_not_twice(const char* called, const RepLayout& layout,
                                       ObjectHandle object) const noexcept {
    RefusalText text;
    text.append("%s: the handle of a ", called);
    text.append_name(layout.name());
    text.append(" is that of ");
    const ObjectIndex index = objects_.find_index(environment_.guids.find_guid(object));
    if (index != no_object && !objects_.at(index)->is_torn_off()) {
        append_object(text, objects_, objects_.id_at(index));
        text.append(", which is replicated: remove that before, or use another handle");
    } else {
        text.append("an object that is torn off: it is yours again after the next tick_flush()");
    }
    return text;
}

RefusalText ObjectLives::named_twice(const char* called, const RepLayout& layout,
                                     std::string_view name, ObjectIndex twin) const noexcept {
    RefusalText text;
    text.append("%s: a ", called);
    text.append_name(layout.name());
    text.append(" of the stable name ");
    text.append_name(name);
    text.append(", which ");
    append_object(text, objects_, objects_.id_at(twin));
    text.append(", has: remove that before, or choose another name");
    return text;
}

NetObjectId ObjectLives::add_part(NetObjectId outer, const RepLayout& layout, ObjectHandle object,
                                  const SubobjectParameters& parameters) {
    REPLAYOUT_ASSERT(objects_.contains(outer));
    REPLAYOUT_EXPECT(may_be_of_subobject(parameters.condition), NetObjectId(),
                     "add_subobject: a part, a \"%s\", has condition %u, which is for properties: "
                     "choose one that looks at the connection",
                     std::string(layout.name()).c_str(),
                     static_cast<unsigned>(parameters.condition));
    SpawnParameters spawn;
    spawn.stable_name = parameters.stable_name;
    const NetObjectId id = add(layout, object, outer, spawn);
    if (id.generation == 0) {
        return id;
    }
    parts_.notices.forget_part(slot_of(outer), parameters.stable_name);
    ServerObject& info = *objects_.at(slot_of(id));
    const ServerObject& whole = *objects_.at(slot_of(outer));
    info.family().condition = parameters.condition;
    objects_.set_ownership(slot_of(id), whole.ownership());
    for (ServerClient* client : clients_) {
        if (client->sender.dormancy().asked.test(slot_of(outer))) {
            client->sender.edit_dormant_channels().ask_dormant(slot_of(id), true);
        }
    }
    parts_.relevancy.part_added(slot_of(id));
    if (whole.dormancy() != NetDormancy::Awake) {
        parts_.dormancy.set_of(slot_of(id), whole.dormancy());
    }
    return id;
}

void ObjectLives::remove(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const bool is_games_own = reason == ChannelCloseReason::Destroyed ||
                              reason == ChannelCloseReason::LevelUnloaded ||
                              reason == ChannelCloseReason::Migrated;
    REPLAYOUT_EXPECT(is_games_own, void(),
                     "remove_object: object %u.%u: reason %u is the driver's own: use Destroyed, "
                     "LevelUnloaded or Migrated",
                     id.index, id.generation, static_cast<unsigned>(reason));
    if (reason == ChannelCloseReason::Destroyed) {
        parts_.notices.note(slot_of(id));
    }
    if (parts_.departures.must_depart(slot_of(id))) {
        parts_.departures.depart(id, reason);
    } else {
        remove_family(id, reason);
    }
}

void ObjectLives::remove_family(NetObjectId id, ChannelCloseReason reason) {
    while (objects_.at(slot_of(id))->family().first != no_object) {
        remove_family(objects_.id_at(objects_.at(slot_of(id))->family().first), reason);
    }
    clients_.for_each_joined(
        [&](ServerClient& client) { client.sender.object_removed(slot_of(id), reason); });
    if (objects_.at(slot_of(id))->is_subobject()) {
        objects_.detach(slot_of(id));
    }
    parts_.objects.forget(slot_of(id));
}

void ObjectLives::tear_off(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    // Outer before inner.
    family_.clear();
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex index) { family_.push_back(index); });
    for (const ObjectIndex index : family_) {
        tear_off_one(index);
    }
}

void ObjectLives::tear_off_one(ObjectIndex index) {
    objects_.retire_id(objects_.id_at(index));
    objects_.at(index)->tear_off();
    parts_.objects.tables.tear_off(index);
    torn_off_.insert(index);
    objects_.at(index)->changelist_state().mark_exact();
    parts_.compare.force_due(index);  // what it is now goes out, and nothing of what it becomes
    clients_.for_each_joined([&](ServerClient& client) {
        // It is never sent to a client that does not have it.
        client.sender.edit_leaving_channels().forget_return(index);
        client.sender.edit_dormant_channels().tear_off(index);
    });
}

void ObjectLives::hand_back_torn_off() {
    torn_off_.for_each([&](ObjectIndex index) {
        ServerObject& info = *objects_.at(index);
        if (!info.is_handed_back()) {
            info.hand_back();
            environment_.guids.unbind(info.guid());
            parts_.objects.live.clear(index);
        }
    });
}

void ObjectLives::remove_torn_off() {
    for (ObjectIndex index = torn_off_.first(); index != BitRow::no_bit;
         index = torn_off_.after(index)) {
        const auto is_over_for = [&](const ServerClient* client) {
            return !client->is_joined() || client->sender.is_torn_off(index);
        };
        const ServerObject::Family& family = objects_.at(index)->family();
        if (family.first != no_object ||
            !std::all_of(clients_.begin(), clients_.end(), is_over_for)) {
            continue;  // parts go before their outer, or it is still on its way
        }
        torn_off_.clear(index);
        for (ServerClient* client : clients_) {
            client->sender.object_removed(index, ChannelCloseReason::TearOff);
        }
        if (family.outer != no_object) {
            objects_.detach(index);
        }
        parts_.objects.forget(index);
    }
}

void ObjectLives::introduce(ServerClient& client) {
    parts_.dormancy.introduce(client);
    // It is not to have what is torn off.
    torn_off_.for_each(
        [&](ObjectIndex index) { client.sender.edit_dormant_channels().tear_off(index); });
    parts_.departures.introduce(client);
    if (!client.is_replay) {
        parts_.relevancy.interest().add_client(client.interest);
    }
    parts_.relevancy.show_conditional(client);
    client.sender.mark_pending(parts_.objects.live);
}

}  // namespace replayout
