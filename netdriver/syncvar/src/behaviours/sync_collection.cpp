// SPDX-License-Identifier: MIT
#include "client_parts.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include <replayout/value_limits.h>

#include <optional>
#include <utility>

namespace replayout::syncvar {

namespace {

/// Operations that may wait for a client who takes none, if there are fewer items: then the items
/// are said anew instead.
constexpr std::size_t waiting_max = 1'024;

[[nodiscard]] bool is_accepted(CallResult result) noexcept {
    // An owner who is gone is owed nothing, and who comes is sent all of it.
    return result == CallResult::Ran || result == CallResult::Sent ||
           result == CallResult::Queued || result == CallResult::NotOwned;
}

[[nodiscard]] bool may_be_sent_later(CallResult result) noexcept {
    return result == CallResult::Full || result == CallResult::NoChannel;
}

}  // namespace

bool SyncCollection::is_read_only() const noexcept {
    if (behaviour_ == nullptr || !behaviour_->identity().is_spawned()) {
        return false;
    }
    const bool is_owners =
        behaviour_->sync_settings().sync_direction == SyncDirection::ClientToServer;
    if (!behaviour_->is_server()) {
        return !is_owners || !is_told();
    }
    // A host's own objects are written here.
    const NetworkIdentity& object = behaviour_->identity();
    return is_owners && object.connection_to_client().value != 0 && !object.is_owned();
}

bool SyncCollection::is_told() const noexcept {
    return owner_epoch_ != 0 && behaviour_->is_told_to_server() &&
           owner_epoch_ == behaviour_->authority_epoch_;
}

bool SyncCollection::is_owner_epoch(std::uint32_t epoch) const noexcept {
    const NetworkIdentity& object = behaviour_->identity();
    // What is not spawned has no owner.
    return object.connection_to_client().value != 0 && object.authority_epoch_ == epoch;
}

bool SyncCollection::may_write() const {
    if (is_read_only()) {
        behaviour_->log_line(LogLevel::Warning,
                             "this end cannot write collection " + behaviour_->name_of(*this));
        return false;
    }
    return true;
}

bool SyncCollection::has_room(std::size_t count) const noexcept {
    return behaviour_ == nullptr ||
           count < behaviour_->identity().prefab().limits().array_count_max;
}

bool SyncCollection::may_grow(std::size_t count) const {
    if (!has_room(count)) {
        behaviour_->log_line(LogLevel::Warning, "there is no room for more items in collection " +
                                                    behaviour_->name_of(*this));
        return false;
    }
    return true;
}

bool SyncCollection::may_hold(const void* item, bool is_like_itself) const {
    std::optional<std::string> why;
    if (!is_like_itself) {
        why = "its key does not equal itself (NaN)";
    } else if (behaviour_ != nullptr && behaviour_->type_->collections[index_].has_limits) {
        why = why_over_limit(*behaviour_->type_->collections[index_].item,
                             static_cast<const std::byte*>(item),
                             behaviour_->identity().prefab().limits());
    }
    if (why && behaviour_ != nullptr) {
        behaviour_->log_line(LogLevel::Warning, "collection " + behaviour_->name_of(*this) +
                                                    " does not take an item: " + *why);
    }
    return !why;
}

bool SyncCollection::is_recording() const noexcept {
    return behaviour_ != nullptr && (behaviour_->is_sent_operations() || is_told());
}

void SyncCollection::written() {
    if (behaviour_ != nullptr) {
        behaviour_->collection_changed(index_);
    }
}

bool SyncCollection::tells_what_is_written() const noexcept {
    return behaviour_ != nullptr && behaviour_->is_server() &&
           behaviour_->identity().is_visible_to_host();
}

void SyncCollection::refuse_gap() {
    // Who is no owner yet, or lost a part of it, is told of more than he can use.
    if (behaviour_->sync_settings().sync_mode != SyncMode::Owner) {
        refuse_received();
    }
}

void SyncCollection::refuse_received() {
    ++refused_count_;
    behaviour_->client_parts().log.write_failure(&NetworkClientCounters::collections_refused,
                                                 "what the server said of collection " +
                                                     behaviour_->name_of(*this) +
                                                     " cannot be: it stays as it is");
}

std::size_t SyncCollection::item_bytes(const void* item) const {
    return behaviour_ == nullptr ? 0
                                 : bytes_in_message(*behaviour_->type_->collections[index_].item,
                                                    static_cast<const std::byte*>(item));
}

std::size_t SyncCollection::count_max() const noexcept {
    return behaviour_->identity().prefab().limits().array_count_max;
}

void SyncCollection::update_opening(std::size_t bytes_max) {
    const SyncCollectionInfo& info = behaviour_->type_->collections[index_];
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

void SyncCollection::want_parts() {
    behaviour_->client_parts().wanted.want(*behaviour_, index_);
}

void SyncCollection::take_part(const detail::CollectionReader& reader, bool is_last) {
    is_telling_ = !must_wait();
    receive_part(reader, is_last);
    is_telling_ = true;
}

void SyncCollection::parts_ended() {
    const std::uint32_t epoch = std::exchange(next_owner_epoch_, 0);
    if (epoch != 0 && !is_partial() && behaviour_->is_owned()) {
        owner_epoch_ = epoch;
    }
}

void SyncCollection::items_received() {
    is_broken_ = false;
    end_keeping();
    if (is_partial()) {
        want_parts();
        return;
    }
    if (are_items_valid()) {
        return;
    }
    const NetworkIdentity& archetype = behaviour_->identity().prefab().archetype();
    reset(archetype.components()[behaviour_->component_index()]->collection(index_));
    is_broken_ = true;
    refuse_received();
}

void SyncCollection::apply_kept(bool is_telling) {
    is_telling_ = is_telling;
    apply_first_kept();
    is_telling_ = true;
}

void SyncCollection::receive_changes(const void* params) {
    if (owner_epoch_ == 0) {  // else they are its own
        receive(params);
    }
}

void SyncCollection::receive_as_owner(const void* params) {
    const std::uint32_t epoch = number_of(params);
    if (!behaviour_->is_owned()) {
        // The word of that may come later: then it asks again.
        behaviour_->is_state_missed_ = true;
    } else if (epoch != 0 && epoch != owner_epoch_ && take_items(params)) {
        owner_epoch_ = is_partial() ? 0 : epoch;
        next_owner_epoch_ = is_partial() ? epoch : 0;
    }
}

void SyncCollection::receive_as_last_owner(const void* params) {
    owner_epoch_ = 0;
    next_owner_epoch_ = 0;
    forget(waiting_count());
    receive_state(params);
}

CallResult SyncCollection::send_to_owner(std::uint32_t epoch, const detail::CollectionCall& call) {
    // Who is told all begins here: nothing that comes may become a part of what it contains.
    may_coalesce_ = false;
    return epoch == 0 ? send_state(call) : send_items(epoch, call);
}

void SyncCollection::begin_anew() noexcept {
    owner_epoch_ = 0;
    next_owner_epoch_ = 0;
    refused_count_ = 0;
    may_coalesce_ = false;
    is_broken_ = false;
}

void SyncCollection::bind(NetworkBehaviour& behaviour, std::uint8_t index) noexcept {
    behaviour_ = &behaviour;
    index_ = index;
}

bool SyncCollection::must_wait() const noexcept {
    return behaviour_->must_wait();
}

void SyncCollection::note_kept(std::size_t operation_count) {
    behaviour_->client_parts().waiting.keep_call(*behaviour_, *this, operation_count);
}

bool SyncCollection::is_spawned() const noexcept {
    return behaviour_->identity().is_spawned();
}

bool SyncCollection::send_waiting(const detail::CollectionCall& call, std::size_t count_max,
                                  std::size_t calls_max) {
    // Operations become one only while who is opened the object does not begin between them. The
    // driver compares an object in the flush in which a call of it goes out, and not before it is
    // marked again. A mark without a call may take effect at any time.
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
                behaviour_->log_line(LogLevel::Warning,
                                     "clients take too little: all items of collection " +
                                         behaviour_->name_of(*this) + " are sent again");
                restate();
            }
            return false;
        } else if (count > 1) {
            batch = count / 2;
        } else if (blanks < 2) {
            behaviour_->log_line(LogLevel::Error,
                                 "an item of collection " + behaviour_->name_of(*this) +
                                     " is too large to be sent: clients have a default one");
            make_blank(sent, blanks++ > 0);
        } else {
            behaviour_->log_line(
                LogLevel::Error,
                "an operation of collection " + behaviour_->name_of(*this) + " cannot be sent");
            ++sent;
        }
    }
    forget(sent);
    return waiting_count() == 0;
}

namespace detail {

std::string item_name(const Property& item) {
    if (item.struct_type != nullptr) {
        return std::string(item.struct_type->name());
    }
    std::string name(to_string(item.kind));
    return item.element == nullptr ? name : name + " of " + item_name(*item.element);
}

std::string free_name(const TypeRegistry& registry, std::string name) {
    std::string free = name;
    for (std::uint32_t i = 2; registry.find(free) != nullptr; ++i) {
        free = name + " " + std::to_string(i);
    }
    return free;
}

}  // namespace detail

}  // namespace replayout::syncvar
