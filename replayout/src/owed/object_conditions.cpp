// SPDX-License-Identifier: MIT
#include <replayout/object_conditions.h>

namespace replayout {

namespace {

void set_handles(const RepParentCmd& parent, ChangeMask& mask) noexcept {
    mask.set_range(parent.first_handle - 1, parent.handle_count);
}

void clear_handles(const RepParentCmd& parent, ChangeMask& mask) noexcept {
    for (std::uint32_t i = 0; i < parent.handle_count; ++i) {
        mask.clear(parent.first_handle - 1 + i);
    }
}

}  // namespace

ObjectConditions::ObjectConditions(const RepLayout& layout, MemoryResource* resource)
    : layout_(&layout),
      dynamic_(Allocator<LifetimeCondition>(resource)),
      inactive_(resource),
      turning_off_(resource) {}

void ObjectConditions::set_active(ParentIndex index, bool is_active) {
    const RepParentCmd& parent = layout_->parents()[index.value];
    REPLAYOUT_EXPECT(parent.condition == LifetimeCondition::Custom, void(),
                     "set_active: \"%s\" is not of LifetimeCondition::Custom: give it that in its "
                     "class",
                     parent.property->name.c_str());
    if (inactive_.bit_count() == 0) {
        inactive_.reset(layout_->handle_count());
        turning_off_.reset(layout_->handle_count());
    }
    clear_handles(parent, turning_off_);
    if (is_active) {
        clear_handles(parent, inactive_);
        has_inactive_ = inactive_.any();
    } else if (this->is_active(index)) {
        set_handles(parent, turning_off_);
    }
}

bool ObjectConditions::is_active(ParentIndex index) const noexcept {
    const RepParentCmd& parent = layout_->parents()[index.value];
    const std::uint32_t bit = parent.first_handle - 1;
    return parent.handle_count == 0 || inactive_.bit_count() == 0 ||
           (!inactive_.test(bit) && !turning_off_.test(bit));
}

void ObjectConditions::finish_compare() {
    if (inactive_.bit_count() == 0 || !turning_off_.any()) {
        return;
    }
    for (std::uint32_t bit = turning_off_.next(0); bit < turning_off_.bit_count();
         bit = turning_off_.next(bit + 1)) {
        inactive_.set(bit);
    }
    turning_off_.reset(layout_->handle_count());
    has_inactive_ = true;
}

void ObjectConditions::set_dynamic(ParentIndex parent, LifetimeCondition condition) {
    const bool may_be = condition != LifetimeCondition::Dynamic &&
                        condition != LifetimeCondition::Custom &&
                        condition < LifetimeCondition::NetGroup;
    REPLAYOUT_EXPECT(
        may_be && layout_->parents()[parent.value].condition == LifetimeCondition::Dynamic, void(),
        "set_dynamic: \"%s\" is not of LifetimeCondition::Dynamic, or cannot become condition %u",
        layout_->parents()[parent.value].property->name.c_str(), static_cast<unsigned>(condition));
    if (dynamic_.empty()) {
        dynamic_.resize(layout_->parents().size(), LifetimeCondition::None);
    }
    dynamic_change_count_ += dynamic_[parent.value] != condition ? 1u : 0u;
    dynamic_[parent.value] = condition;
}

LifetimeCondition ObjectConditions::condition_of(ParentIndex parent) const noexcept {
    const LifetimeCondition condition = layout_->parents()[parent.value].condition;
    if (condition != LifetimeCondition::Dynamic) {
        return condition;
    }
    return dynamic_.empty() ? LifetimeCondition::None : dynamic_[parent.value];
}

bool ObjectConditions::is_hidden(ParentIndex parent, LifetimeConditionSet passing) const noexcept {
    const LifetimeCondition condition = condition_of(parent);
    const bool is_once = condition == LifetimeCondition::InitialOnly ||
                         (condition == LifetimeCondition::InitialOrOwner &&
                          !passing.contains(LifetimeCondition::OwnerOnly));
    return is_once || !passing.contains(condition);
}

void ObjectConditions::filter(LifetimeConditionSet passing, ChangeMask& owed) const noexcept {
    for_each_conditional([&](const RepParentCmd& parent, ParentIndex index) {
        if (!passes(index, passing)) {
            clear_handles(parent, owed);
        }
    });
}

void ObjectConditions::add_hidden(LifetimeConditionSet passing, ChangeMask& hidden) const noexcept {
    for_each_conditional([&](const RepParentCmd& parent, ParentIndex index) {
        if (is_hidden(index, passing)) {
            set_handles(parent, hidden);
        }
    });
}

}  // namespace replayout
