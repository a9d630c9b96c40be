// SPDX-License-Identifier: MIT
//
// Hooks of SyncVars and operations of collections that wait until their object is started, or until
// the initial batch is there. The values of the SyncVars have arrived before.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/reflection/value_copy.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "part_of.h"
#include "stored_references.h"

namespace replayout {

class NetworkClient::WaitingChanges final : public detail::PartOf<detail::ClientParts>,
                                            public StoredReferences::OtherValues {
  public:
    using PartOf::PartOf;

    /// The object is shown again: keeps the values of its SyncVars with hooks until it is started.
    void keep_values(NetworkIdentity& object);
    /// The hook of the variable waits: it was `previous`, unless that is known already.
    void keep_value(detail::ObjectComponent& component, std::uint32_t variable,
                    const void* previous);
    /// The same for a variable that became null because its object went.
    void keep_lost(detail::ObjectComponent& component, std::uint32_t variable);
    /// The collection keeps another call of so many operations.
    void keep_call(detail::ObjectComponent& component, detail::CollectionEnd& collection,
                   std::size_t operation_count);
    /// Runs hooks of what changed, and then the operations of collections.
    void run(std::uint64_t net_id);
    void run_all();
    /// The object goes, and its hooks never run.
    void forget(std::uint64_t net_id) { waiting_.erase(net_id); }
    void clear_references(const StoredReferences::Identities& gone) override;

  private:
    /// What a SyncVar with a hook was before.
    struct KeptValue {
        detail::ObjectComponent* component = nullptr;
        std::uint32_t variable = 0;
        ValueCopy value;
        bool is_lost = false;  ///< an object went that it named, or that the variable named later
    };
    /// Of one object: at most as many values as it has SyncVars, and as many operations as a
    /// collection may have items.
    struct Waiting {
        std::vector<KeptValue> values;
        std::vector<detail::CollectionEnd*> calls;  // that each keeps, in their order
        std::size_t operation_count = 0;
    };

    [[nodiscard]] Waiting& waiting_of(const detail::ObjectComponent& component);

    std::map<std::uint64_t, Waiting> waiting_;  // by net id
};

}  // namespace replayout
