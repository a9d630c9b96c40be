// SPDX-License-Identifier: MIT
#include "client_parts.h"
#include "inside.h"

#include <replayout/behaviours/collection_end.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/value_limits.h>

#include <optional>
#include <utility>

namespace replayout::detail {

namespace {

/// Operations that may wait for a client who takes none, if there are fewer items: then the items
/// are said anew instead.
constexpr std::size_t waiting_max = 1'024;

[[nodiscard]] bool is_accepted(CallResult result) noexcept {
    // The server owes nothing to an owner that has gone, and sends all of it to a new one.
    return result == CallResult::Ran || result == CallResult::Sent ||
           result == CallResult::Queued || result == CallResult::NotOwned;
}

[[nodiscard]] bool may_be_sent_later(CallResult result) noexcept {
    return result == CallResult::Full || result == CallResult::NoChannel;
}

}  // namespace

std::string CollectionEnd::name() const {
    const BehaviourType& type = component_->type();
    return "\"" + type.name + "." + type.collections[index_].property.name + "\"";
}

bool CollectionEnd::is_read_only() const noexcept {
    if (component_ == nullptr || !component_->identity().is_spawned()) {
        return false;
    }
    const bool is_owners = component_->settings().sync_direction == SyncDirection::ClientToServer;
    if (!component_->identity().is_server()) {
        return !is_owners || !is_told();
    }
    // A host's own objects are written here.
    const NetworkIdentity& object = component_->identity();
    return is_owners && object.connection_to_client().value != 0 && !object.is_owned();
}

bool CollectionEnd::is_told() const noexcept {
    return owner_epoch_ != 0 && component_->is_told_to_server() &&
           owner_epoch_ == component_->owner().epoch();
}

bool CollectionEnd::is_owner_epoch(std::uint32_t epoch) const noexcept {
    const NetworkIdentity& object = component_->identity();
    // What is not spawned has no owner.
    return object.connection_to_client().value != 0 &&
           Inside::of(object).server.owner.epoch == epoch;
}

bool CollectionEnd::may_write() const {
    if (is_read_only()) {
        component_->log_line(LogLevel::Warning, "this end cannot write collection " + name());
        return false;
    }
    return true;
}

bool CollectionEnd::has_room(std::size_t count) const noexcept {
    return component_ == nullptr ||
           count < component_->identity().prefab().limits().array_count_max;
}

bool CollectionEnd::may_grow(std::size_t count) const {
    if (!has_room(count)) {
        component_->log_line(LogLevel::Warning,
                             "there is no room for more items in collection " + name());
        return false;
    }
    return true;
}

bool CollectionEnd::may_hold(const void* item, bool is_like_itself) const {
    std::optional<std::string> why;
    if (!is_like_itself) {
        why = "its key does not equal itself (NaN)";
    } else if (component_ != nullptr && component_->type().collections[index_].has_limits) {
        why = why_over_limit(*component_->type().collections[index_].item,
                             static_cast<const std::byte*>(item),
                             component_->identity().prefab().limits());
    }
    if (why && component_ != nullptr) {
        component_->log_line(LogLevel::Warning,
                             "collection " + name() + " does not take an item: " + *why);
    }
    return !why;
}

bool CollectionEnd::is_recording() const noexcept {
    return component_ != nullptr && (component_->is_sent_operations() || is_told());
}

void CollectionEnd::written() {
    if (component_ != nullptr) {
        component_->mark_collection(index_);
    }
}

bool CollectionEnd::tells_what_is_written() const noexcept {
    return component_ != nullptr && component_->identity().is_server() &&
           component_->identity().is_visible_to_host();
}

void CollectionEnd::refuse_gap() {
    // A new owner, and one that lost a part of it, hears of more than it can use.
    if (component_->settings().sync_mode != SyncMode::Owner) {
        refuse_received();
    }
}

void CollectionEnd::refuse_received() {
    ++refused_count_;
    client_parts_of(component_->identity())
        .log.write_failure(
            &NetworkClientCounters::collections_refused,
            "what the server said of collection " + name() + " cannot be: it stays as it is");
}

std::size_t CollectionEnd::item_bytes(const void* item) const {
    return component_ == nullptr ? 0
                                 : bytes_in_message(*component_->type().collections[index_].item,
                                                    static_cast<const std::byte*>(item));
}

std::size_t CollectionEnd::count_max() const noexcept {
    return component_->identity().prefab().limits().array_count_max;
}

void CollectionEnd::update_opening(std::size_t bytes_max) {
    const SyncCollectionInfo& info = component_->type().collections[index_];
    const std::size_t count = item_count();
    std::size_t bytes = 0;
    const bool is_each_the_same = is_plain(info.item->kind);
    if (count > 0 && is_each_the_same) {
        bytes = count * item_bytes(item_at(0));
    }
    for (std::size_t i = 0; !is_each_the_same && i < count && bytes <= bytes_max; ++i) {
        bytes += item_bytes(item_at(i));
    }
    hold_back(bytes > bytes_max);
}

void CollectionEnd::want_parts() {
    client_parts_of(component_->identity()).wanted.want(*component_, index_);
}

void CollectionEnd::take_part(const CollectionReader& reader, bool is_last) {
    is_telling_ = !must_wait();
    receive_part(reader, is_last);
    is_telling_ = true;
}

void CollectionEnd::parts_ended() {
    const std::uint32_t epoch = std::exchange(next_owner_epoch_, 0);
    if (epoch != 0 && !is_partial() && component_->identity().is_owned()) {
        owner_epoch_ = epoch;
    }
}

void CollectionEnd::items_received() {
    is_broken_ = false;
    end_keeping();
    if (is_partial()) {
        want_parts();
        return;
    }
    if (are_items_valid()) {
        return;
    }
    const NetworkIdentity& archetype = component_->identity().prefab().archetype();
    reset(Inside::of(*archetype.components()[component_->index()]).collection(index_));
    is_broken_ = true;
    refuse_received();
}

void CollectionEnd::receive_as_owner(const void* params) {
    const std::uint32_t epoch = number_of(params);
    if (!component_->identity().is_owned()) {
        // The word of that may come later: then it asks again.
        component_->owner().miss_state();
    } else if (epoch != 0 && epoch != owner_epoch_ && take_items(params)) {
        owner_epoch_ = is_partial() ? 0 : epoch;
        next_owner_epoch_ = is_partial() ? epoch : 0;
    }
}

bool CollectionEnd::must_wait() const noexcept {
    return component_->must_wait();
}

void CollectionEnd::note_kept(std::size_t operation_count) {
    client_parts_of(component_->identity()).waiting.keep_call(*component_, *this, operation_count);
}

bool CollectionEnd::is_spawned() const noexcept {
    return component_->identity().is_spawned();
}

bool CollectionEnd::send_waiting(const CollectionCall& call, std::size_t count_max,
                                 std::size_t calls_max) {
    // Operations become one only while no client for which the object opens begins between them.
    // The driver compares an object in the flush in which a call of it goes out, and not before it
    // is marked again. A mark without a call may take effect at any time.
    may_coalesce_ = false;
    std::size_t batch = count_max;
    std::size_t sent = 0;
    std::size_t blanks = 0;
    for (std::size_t calls = 0; sent < waiting_count() && calls < calls_max;) {
        const std::size_t count = std::min(waiting_count() - sent, batch);
        const CallResult result = send(sent, count, call);
        if (is_accepted(result)) {
            sent += count;
            ++calls;
            blanks = 0;
            may_coalesce_ = result == CallResult::Sent;
        } else if (may_be_sent_later(result)) {
            forget(sent);
            may_coalesce_ = false;
            if (waiting_count() > std::max(waiting_max, item_count() + 1)) {
                component_->log_line(LogLevel::Warning,
                                     "clients take too little: all items of collection " + name() +
                                         " are sent again");
                restate();
            }
            return false;
        } else if (count > 1) {
            batch = count / 2;
        } else if (blanks < 2) {
            component_->log_line(LogLevel::Error,
                                 "an item of collection " + name() +
                                     " is too large to be sent: clients have a default one");
            make_blank(sent, blanks++ > 0);
        } else {
            component_->log_line(LogLevel::Error,
                                 "an operation of collection " + name() + " cannot be sent");
            ++sent;
        }
    }
    forget(sent);
    return waiting_count() == 0;
}

}  // namespace replayout::detail
