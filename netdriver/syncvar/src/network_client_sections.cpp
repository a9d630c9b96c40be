// SPDX-License-Identifier: MIT
//
// Of NetworkClient: what it decides as the owner of an object (sync_section.h).
#include "prefab_params.h"
#include "sync_section.h"

#include <replayout/syncvar/network_client.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <bit>
#include <string_view>

namespace replayout::syncvar {

namespace {

/// Sections that may go at once when none went for a while.
constexpr std::int64_t section_burst = 8;
/// Operations of a collection in one call: of small items, what a packet holds.
constexpr std::size_t operations_max = 32;

class ClientCall final : public detail::CollectionCall {
  public:
    ClientCall(NetDriver& driver, ObjectHandle object, const Function& function)
        : driver_(driver), object_(object), function_(function) {}

    [[nodiscard]] CallResult run(const void* params) const override {
        return driver_.call_function(object_, function_.name, {params, function_.parameters});
    }

  private:
    NetDriver& driver_;
    ObjectHandle object_;
    const Function& function_;
};

}  // namespace

void NetworkClient::component_changed(NetworkIdentity& object) {
    if (!std::exchange(object.is_queued_, true)) {
        changed_.push_back(&object);
    }
}

void NetworkClient::send_sections() {
    next_section_us_ =
        std::max(next_section_us_, now_.microseconds - section_burst * section_interval_us_);
    // What is not due yet stays in the row.
    std::erase_if(changed_, [&](NetworkIdentity* object) {
        bool is_waiting = false;
        for (NetworkBehaviour* component : object->components()) {
            if (!object->is_spawned() || !component->is_told_to_server()) {
                component->dirty_bits_ = 0;
                component->collection_dirty_bits_ = 0;
            }
            const bool is_due = component->is_dirty();
            const bool has_section =
                (is_due && component->dirty_bits_ != 0) ||
                (component->is_state_missed_ && component->is_told_to_server());
            const bool is_sent = !has_section || send_section(*component);
            if (is_due) {
                send_collections(*component);
            }
            is_waiting = is_waiting || !is_sent || component->has_changes();
        }
        object->is_queued_ = is_waiting;
        return !is_waiting;
    });
}

bool NetworkClient::send_section(NetworkBehaviour& component) {
    // Nothing of epoch 0 asks to be told all again.
    const bool is_request = component.is_state_missed_;
    if ((component.authority_epoch_ == 0 && !is_request) || next_section_us_ > now_.microseconds) {
        return false;
    }
    const std::uint64_t mask = is_request ? 0 : component.dirty_bits_;
    const std::uint32_t epoch = is_request ? 0 : component.authority_epoch_;
    const NetworkIdentity& object = component.identity();
    const FunctionIndex function =
        object.prefab().components()[component.component_index()].sync_to_server;
    const CallResult result = driver_.call_function(
        object.handle(), object.prefab().layout().functions()[function.value].function->name,
        params_of(object.prefab(), function, sections_->make(component, mask, epoch)));
    if (result == CallResult::Full || result == CallResult::NoChannel) {
        return false;  // no channel: its objects came before the word that it may join
    }
    next_section_us_ += section_interval_us_;
    component.is_state_missed_ = false;
    component.dirty_bits_ &= ~mask;
    component.last_sync_us_ = now_.microseconds;
    return true;
}

void NetworkClient::send_collections(NetworkBehaviour& component) {
    const NetworkIdentity& object = component.identity();
    const NetworkPrefab& prefab = object.prefab();
    const NetworkPrefab::Component& placed = prefab.components()[component.component_index()];
    for (std::uint64_t bits = component.collection_dirty_bits_; bits != 0; bits &= bits - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(bits));
        SyncCollection& collection = component.collection(index);
        if (collection.waiting_count() > 0) {
            if (!collection.is_told() || next_section_us_ > now_.microseconds) {
                continue;
            }
            next_section_us_ += section_interval_us_;
            component.last_sync_us_ = now_.microseconds;
            const FunctionIndex function = placed.collections[index].to_server;
            const ClientCall call(driver_, object.handle(),
                                  *prefab.layout().functions()[function.value].function);
            if (!collection.send_waiting(call, operations_max, 1)) {
                continue;
            }
        }
        component.collection_dirty_bits_ &= ~(bits & (~bits + 1));
    }
}

void NetworkClient::take_section(NetworkBehaviour& component, const NetworkBehaviour& section) {
    if (section.authority_epoch_ == 0) {
        // It was the owner. What was sent to it as to all others since then is newer: also than
        // what it is told of an ownership after that, which began and ended before it heard of it.
        component.authority_epoch_ = 0;
        component.dirty_bits_ = 0;
        component.is_state_missed_ = false;
        component.apply_section(section, component.received_bits_);
    } else if (!component.is_owned()) {
        // It was the owner for a moment, or will be: the word of that may come later than this.
        component.is_state_missed_ = true;
    } else if (section.authority_epoch_ != component.authority_epoch_) {
        component.authority_epoch_ = section.authority_epoch_;
        component.is_state_missed_ = false;
        component.apply_section(section, component.dirty_bits_ | component.received_bits_);
    }
}

}  // namespace replayout::syncvar
