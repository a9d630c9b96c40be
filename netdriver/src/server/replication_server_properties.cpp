// SPDX-License-Identifier: MIT
//
// What the game says of an object that is there, beside its values: whose it is, what of it
// changed, and which of its properties are for whom.
#include "refusal_text.h"
#include "replication_server_client.h"

namespace replayout {

namespace {

[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText unknown_property(
    const char* function, const RepLayout& layout, std::string_view property) noexcept {
    RefusalText text;
    text.append("%s: ", function);
    text.append_name(layout.name());
    text.append(" has no property ");
    text.append_name(property);
    text.append(" that is replicated");
    append_properties(text, layout, property);
    return text;
}

/// The property has another condition than the function is for.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText wrong_condition(const char* function,
                                                                       const RepLayout& layout,
                                                                       std::string_view property,
                                                                       const char* what) noexcept {
    RefusalText text;
    text.append("%s: property ", function);
    text.append_name(property);
    text.append(" of ");
    text.append_name(layout.name());
    text.append(" %s", what);
    return text;
}

[[nodiscard]] bool may_be_dynamic(LifetimeCondition condition) noexcept {
    return condition != LifetimeCondition::Dynamic && condition != LifetimeCondition::Custom &&
           condition < LifetimeCondition::NetGroup;
}

}  // namespace

void ReplicationServer::set_facts(NetObjectId id, const ObjectFacts& facts) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    if (facts == objects_.at(id.index)->facts()) {
        return;
    }
    hide_parts_before(id.index, facts);
    const ObjectFacts before = objects_.at(id.index)->facts();
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { set_facts_of(index, facts); });
    for (const ObjectFacts* owned : {&before, &facts}) {
        if (ClientInterest* client = owned->has_owner ? find_interest(owned->owner) : nullptr) {
            interest_.owner_changed(*client, id.index);
        }
    }
    std::uint32_t part = objects_.at(id.index)->family().first;
    for (; part != ObjectStore::no_index; part = objects_.at(part)->family().next) {
        show_part_to_all(part);
    }
}

void ReplicationServer::set_facts_of(std::uint32_t index, const ObjectFacts& facts) {
    const NetworkObjectInfo& info = *objects_.at(index);
    // Of who is closing, slots may have other objects by now.
    for_each_joined(
        [&](Client& client) { client.sender.facts_changed(index, info.facts(), facts); });
    objects_.set_facts(index, facts);
    take_back_hidden_values(index);
}

void ReplicationServer::take_back_hidden_values(std::uint32_t index) {
    for_each_joined([&](Client& client) { client.sender.take_back_hidden_values(index); });
}

void ReplicationServer::mark_property_dirty(NetObjectId id, std::string_view property) {
    const RepLayout& layout = objects_.at(id.index)->changelist_state().layout();
    REPLAYOUT_EXPECT(layout.find_parent(property).has_value(), void(), "%s",
                     unknown_property("mark_property_dirty", layout, property).c_str());
    for_each_parent(id, property,
                    [](ChangelistState& state, ParentIndex parent) { state.mark_dirty(parent); });
    set_due(id.index);
}

void ReplicationServer::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    objects_.at(id.index)->changelist_state().mark_all_dirty();
    set_due(id.index);
}

void ReplicationServer::set_property_active(NetObjectId id, std::string_view property,
                                            bool is_active) {
    const RepLayout& layout = objects_.at(id.index)->changelist_state().layout();
    const std::optional<ParentIndex> found = layout.find_parent(property);
    REPLAYOUT_EXPECT(found.has_value(), void(), "%s",
                     unknown_property("set_property_active", layout, property).c_str());
    REPLAYOUT_EXPECT(
        layout.parents()[found->value].condition == LifetimeCondition::Custom, void(), "%s",
        wrong_condition("set_property_active", layout, property,
                        "is not of LifetimeCondition::Custom: give it that in its class")
            .c_str());
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        state.set_active(parent, is_active);
    });
    update_polled(id.index);
    force_due(id.index);  // the switch takes effect with a compare
}

void ReplicationServer::set_dynamic_condition(NetObjectId id, std::string_view property,
                                              LifetimeCondition condition) {
    const RepLayout& layout = objects_.at(id.index)->changelist_state().layout();
    const std::optional<ParentIndex> found = layout.find_parent(property);
    REPLAYOUT_EXPECT(found.has_value(), void(), "%s",
                     unknown_property("set_dynamic_condition", layout, property).c_str());
    REPLAYOUT_EXPECT(
        layout.parents()[found->value].condition == LifetimeCondition::Dynamic, void(), "%s",
        wrong_condition("set_dynamic_condition", layout, property,
                        "is not of LifetimeCondition::Dynamic: give it that in its class")
            .c_str());
    REPLAYOUT_EXPECT(may_be_dynamic(condition), void(), "%s",
                     wrong_condition("set_dynamic_condition", layout, property,
                                     "cannot become Dynamic, Custom or NetGroup")
                         .c_str());
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        const LifetimeCondition before = state.conditions().condition_of(parent);
        if (condition == before) {
            return;
        }
        for_each_joined([&](Client& client) {
            client.sender.dynamic_condition_changed(id.index, parent, condition);
        });
        state.set_dynamic_condition(parent, condition);
        take_back_hidden_values(id.index);
    });
}

LifetimeCondition ReplicationServer::dynamic_condition_of(NetObjectId id,
                                                          std::string_view property) const {
    const ChangelistState& state = objects_.at(id.index)->changelist_state();
    const std::optional<ParentIndex> parent = state.layout().find_parent(property);
    REPLAYOUT_EXPECT(parent.has_value(), LifetimeCondition::None, "%s",
                     unknown_property("dynamic_condition_of", state.layout(), property).c_str());
    REPLAYOUT_EXPECT(
        state.layout().parents()[parent->value].condition == LifetimeCondition::Dynamic,
        LifetimeCondition::None, "%s",
        wrong_condition("dynamic_condition_of", state.layout(), property,
                        "is not of LifetimeCondition::Dynamic")
            .c_str());
    return state.conditions().condition_of(*parent);
}

template <typename Visitor>
void ReplicationServer::for_each_parent(NetObjectId id, std::string_view property, Visitor visit) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    ChangelistState& state = objects_.at(id.index)->changelist_state();
    const std::span<const RepParentCmd> parents = state.layout().parents();
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i].property->name == property) {
            visit(state, ParentIndex{static_cast<std::uint16_t>(i)});
        }
    }
}

}  // namespace replayout
