// SPDX-License-Identifier: MIT
//
// The state of a NetworkBehaviour: the object that it is a component of, its class and settings,
// and the parts that own the rest:
//
//     PendingChanges    changes that wait to be sent
//     VariableHooks     hooks that run or wait
//     OwnerProgress     how far a client is as its owner
//
// The library reaches it through one door (src/sections/inside.h). A game sees only what
// NetworkBehaviour shows.
#pragma once

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/behaviours/owner_progress.h>
#include <replayout/behaviours/pending_changes.h>
#include <replayout/behaviours/sync_settings.h>
#include <replayout/behaviours/variable_hooks.h>
#include <replayout/handle.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/diagnostics.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

class NetworkBehaviour;
class NetworkIdentity;

namespace detail {

struct BehaviourSection;
class CollectionEnd;

class ObjectComponent {
  public:
    ObjectComponent() = default;
    ObjectComponent(const ObjectComponent&) = delete;
    ObjectComponent& operator=(const ObjectComponent&) = delete;

    /// The behaviour becomes the component `index` of the object. Ties its SyncVars and collections
    /// to it.
    void bind(NetworkIdentity& object, const BehaviourType& type, const SyncSettings& settings,
              std::uint8_t index);

    // Where it belongs. All but is_bound(), settings() and index() require that it was bound.

    [[nodiscard]] bool is_bound() const noexcept { return identity_ != nullptr; }
    [[nodiscard]] NetworkIdentity& identity() const noexcept { return *identity_; }
    [[nodiscard]] const BehaviourType& type() const noexcept { return *type_; }
    [[nodiscard]] const SyncSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] std::uint8_t index() const noexcept { return index_; }
    /// The object of the class that type() is of.
    [[nodiscard]] inline std::byte* object() const noexcept;
    [[nodiscard]] inline std::byte* value_of(std::uint32_t variable) const noexcept;
    [[nodiscard]] CollectionEnd& collection(std::size_t index) const noexcept;
    /// Requires a behaviour that serializes itself.
    [[nodiscard]] BehaviourSection& section() const noexcept;
    /// A line that a peer may have caused.
    void log_line(LogLevel level, std::string_view text) const;

    // Its changes.

    [[nodiscard]] PendingChanges& changes() noexcept { return changes_; }
    [[nodiscard]] const PendingChanges& changes() const noexcept { return changes_; }
    /// SyncVars changed, or bits of a behaviour that serializes itself. Does nothing where this end
    /// does not decide what the component is, or the object is not spawned.
    void mark_sync_vars(std::uint64_t mask);
    /// Does nothing if the object is not spawned.
    void mark_collection(std::size_t index);
    /// A behaviour that serializes itself wrote a section, which waits to be sent.
    [[nodiscard]] bool has_waiting_section() const noexcept { return has_waiting_section_; }
    void set_waiting_section(bool has_any) noexcept { has_waiting_section_ = has_any; }
    /// Whether anything waits to be sent.
    [[nodiscard]] bool has_changes() const noexcept {
        return changes_.is_any() || has_waiting_section_;
    }
    /// Whether anything does, and the sync interval is over.
    [[nodiscard]] bool is_due(NetTime now) const noexcept {
        return has_changes() && changes_.is_interval_over(now, settings_.sync_interval_us);
    }
    /// Whether that property of the layout changed, and waits to be sent.
    [[nodiscard]] bool holds_back(ParentIndex property) const noexcept;
    /// The object is about to be spawned anew, so nothing of it waits.
    void forget_changes();

    // The ends that decide about it, and that are sent it.

    /// Whether its owner decides about it, and this end is that client.
    [[nodiscard]] bool is_told_to_server() const noexcept;
    /// On a server: whether any connection has the items of collections, and needs operations.
    [[nodiscard]] bool is_sent_operations() const noexcept;
    /// On a client: whether hooks and operations wait until the object is started.
    [[nodiscard]] bool must_wait() const noexcept;
    [[nodiscard]] OwnerProgress& owner() noexcept { return owner_; }
    [[nodiscard]] const OwnerProgress& owner() const noexcept { return owner_; }

    // SyncVars.

    [[nodiscard]] VariableHooks& hooks() noexcept { return hooks_; }
    [[nodiscard]] const VariableHooks& hooks() const noexcept { return hooks_; }
    [[nodiscard]] bool may_hold_references(std::uint32_t variable) const noexcept {
        return (type_->reference_variables >> variable & 1) != 0;
    }
    /// This end wrote the variable, and not its driver.
    void note_references(std::uint32_t variable) const;

    // Offsets of the mask and the epoch of a section, from the start of a component.

    [[nodiscard]] static constexpr std::size_t mask_offset() noexcept {
        return offsetof(ObjectComponent, changes_) + PendingChanges::sync_vars_offset();
    }
    [[nodiscard]] static constexpr std::size_t epoch_offset() noexcept {
        return offsetof(ObjectComponent, owner_) + OwnerProgress::epoch_offset();
    }

  private:
    void tell_changed();

    NetworkIdentity* identity_ = nullptr;
    const BehaviourType* type_ = nullptr;
    SyncSettings settings_;
    PendingChanges changes_;
    VariableHooks hooks_;
    [[no_unique_address]] OwnerProgress owner_;  // its last bytes hold what follows
    std::uint8_t index_ = 0;
    bool has_waiting_section_ = false;
};

}  // namespace detail

}  // namespace replayout
