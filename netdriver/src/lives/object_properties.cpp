// SPDX-License-Identifier: MIT
#include "object_properties.h"

#include "refusal_text.h"

namespace replayout {

namespace {

[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText unknown_property(
    const char* function, const ObjectStore& objects, NetObjectId id,
    std::string_view property) noexcept {
    RefusalText text;
    text.append("%s: ", function);
    append_object(text, objects, id);
    text.append(", has no property ");
    text.append_name(property);
    text.append(" that is replicated");
    append_properties(text, objects.at(slot_of(id))->changelist_state().layout(), property);
    return text;
}

/// The property has another condition than the function is for.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText wrong_condition(const char* function,
                                                                       const ObjectStore& objects,
                                                                       NetObjectId id,
                                                                       std::string_view property,
                                                                       const char* what) noexcept {
    RefusalText text;
    text.append("%s: property ", function);
    text.append_name(property);
    text.append(" of ");
    append_object(text, objects, id);
    text.append(", %s", what);
    return text;
}

[[nodiscard]] bool may_be_dynamic(LifetimeCondition condition) noexcept {
    return condition != LifetimeCondition::Dynamic && condition != LifetimeCondition::Custom &&
           condition < LifetimeCondition::NetGroup;
}

}  // namespace

template <typename Visitor>
void ObjectProperties::for_each_parent(NetObjectId id, std::string_view property, Visitor visit) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    ChangelistState& state = objects_.at(slot_of(id))->changelist_state();
    const std::span<const RepParentCmd> parents = state.layout().parents();
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i].property->name == property) {
            visit(state, ParentIndex{static_cast<std::uint16_t>(i)});
        }
    }
}

void ObjectProperties::mark_dirty(NetObjectId id, std::string_view property) {
    const RepLayout& layout = objects_.at(slot_of(id))->changelist_state().layout();
    REPLAYOUT_EXPECT(layout.find_parent(property).has_value(), void(), "%s",
                     unknown_property("mark_property_dirty", objects_, id, property).c_str());
    for_each_parent(id, property,
                    [](ChangelistState& state, ParentIndex parent) { state.mark_dirty(parent); });
    compare_.mark_due(slot_of(id));
}

void ObjectProperties::mark_all_dirty(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    objects_.at(slot_of(id))->changelist_state().mark_all_dirty();
    compare_.mark_due(slot_of(id));
}

void ObjectProperties::set_active(NetObjectId id, std::string_view property, bool is_active) {
    const RepLayout& layout = objects_.at(slot_of(id))->changelist_state().layout();
    const std::optional<ParentIndex> found = layout.find_parent(property);
    REPLAYOUT_EXPECT(found.has_value(), void(), "%s",
                     unknown_property("set_property_active", objects_, id, property).c_str());
    REPLAYOUT_EXPECT(
        layout.parents()[found->value].condition == LifetimeCondition::Custom, void(), "%s",
        wrong_condition("set_property_active", objects_, id, property,
                        "is not of LifetimeCondition::Custom: give it that in its class")
            .c_str());
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        state.set_active(parent, is_active);
    });
    compare_.update_polled(slot_of(id));
    compare_.force_due(slot_of(id));  // the switch takes effect with a compare
}

void ObjectProperties::set_dynamic_condition(NetObjectId id, std::string_view property,
                                             LifetimeCondition condition) {
    const RepLayout& layout = objects_.at(slot_of(id))->changelist_state().layout();
    const std::optional<ParentIndex> found = layout.find_parent(property);
    REPLAYOUT_EXPECT(found.has_value(), void(), "%s",
                     unknown_property("set_dynamic_condition", objects_, id, property).c_str());
    REPLAYOUT_EXPECT(
        layout.parents()[found->value].condition == LifetimeCondition::Dynamic, void(), "%s",
        wrong_condition("set_dynamic_condition", objects_, id, property,
                        "is not of LifetimeCondition::Dynamic: give it that in its class")
            .c_str());
    REPLAYOUT_EXPECT(may_be_dynamic(condition), void(), "%s",
                     wrong_condition("set_dynamic_condition", objects_, id, property,
                                     "cannot become Dynamic, Custom or NetGroup")
                         .c_str());
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        const LifetimeCondition before = state.conditions().condition_of(parent);
        if (condition == before) {
            return;
        }
        clients_.for_each_joined([&](ServerClient& client) {
            client.sender.dynamic_condition_changed(slot_of(id), parent, condition);
        });
        state.set_dynamic_condition(parent, condition);
        clients_.take_back_hidden_values(slot_of(id));
    });
}

LifetimeCondition ObjectProperties::dynamic_condition_of(NetObjectId id,
                                                         std::string_view property) const {
    const ChangelistState& state = objects_.at(slot_of(id))->changelist_state();
    const std::optional<ParentIndex> parent = state.layout().find_parent(property);
    REPLAYOUT_EXPECT(parent.has_value(), LifetimeCondition::None, "%s",
                     unknown_property("dynamic_condition_of", objects_, id, property).c_str());
    REPLAYOUT_EXPECT(
        state.layout().parents()[parent->value].condition == LifetimeCondition::Dynamic,
        LifetimeCondition::None, "%s",
        wrong_condition("dynamic_condition_of", objects_, id, property,
                        "is not of LifetimeCondition::Dynamic")
            .c_str());
    return state.conditions().condition_of(*parent);
}

}  // namespace replayout
