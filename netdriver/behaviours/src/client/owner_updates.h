// SPDX-License-Identifier: MIT
//
// What a client decides as the owner of objects (sync_section.h): it sends the changes to the
// server, in turns, as far as the server's rate of updates allows, and takes the server's answer.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/time.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "inside.h"
#include "part_of.h"
#include "received_section.h"
#include "sync_section.h"

namespace replayout {

class NetworkClient::OwnerUpdates : detail::PartOf<detail::ClientParts> {
  public:
    OwnerUpdates(detail::ClientParts& parts, const NetConfig& config);

    /// A component of the object may have something to send.
    void object_changed(NetworkIdentity& object) {
        if (!std::exchange(detail::Inside::of(object).is_queued, true)) {
            changed_.push_back(&object);
        }
    }
    /// In late_update(): sends what is due.
    void send();
    /// Sends all that the object holds back, whatever its sync intervals are, before the call made
    /// next. False: a part of it found no room. Skips components whose state the server has not
    /// sent yet.
    [[nodiscard]] bool send_state_of(NetworkIdentity& object);
    /// The server sent the state of a component to its owner, or to a client that was the owner.
    static void take_section(detail::ObjectComponent& component,
                             const detail::ReceivedSection& section);

    /// The client connects again: the new session has the whole rate.
    void begin_anew() noexcept;
    /// Objects that are gone are about to be freed.
    void forget_gone() { detail::erase_gone(changed_); }

  private:
    /// What one call sends: the SyncVars of a component, or operations of a collection.
    struct Part {
        static constexpr std::uint32_t variables = ~std::uint32_t{0};
        detail::ObjectComponent* component = nullptr;
        std::uint32_t collection = variables;

        [[nodiscard]] std::uint32_t number() const noexcept;
    };

    /// Sends each part of the object that is due, once. False: a part found no room, and the next
    /// turn of the object begins with it.
    [[nodiscard]] bool send_updates_of(NetworkIdentity& object);
    /// Whether the server takes another update and still has `reserve_us` of room after it.
    [[nodiscard]] bool has_room_for_update(std::int64_t reserve_us);
    /// False: it is to be tried again.
    [[nodiscard]] bool send_section(detail::ObjectComponent& component, std::int64_t reserve_us);
    /// One call for the collection. False: it is to be tried again.
    [[nodiscard]] bool send_collection(detail::ObjectComponent& component, std::size_t index,
                                       std::int64_t reserve_us);

    std::int64_t update_interval_us_;
    std::int64_t update_burst_us_;
    std::int64_t next_update_us_ = std::numeric_limits<std::int64_t>::min();
    std::vector<NetworkIdentity*> changed_;  // objects that this client owns
    std::vector<Part> due_parts_;            // scratch: those of one object
    SectionSender sections_;
    bool is_update_refused_ = false;  // the driver has no room for another one now
};

}  // namespace replayout
