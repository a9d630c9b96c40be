// SPDX-License-Identifier: MIT
//
// Client: the collections whose items come in parts (collection_parts.h), and for which it asks.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/time.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "collection_parts.h"
#include "part_of.h"

namespace replayout {

class NetworkClient::WantedCollections : detail::PartOf<detail::ClientParts> {
  public:
    using PartOf::PartOf;

    /// Asks for the collection with the next ask(), also if it was asked for before.
    void want(const detail::ObjectComponent& component, std::uint8_t collection);
    /// In late_update(): asks for new collections, and for all, if no part came for 30 s.
    void ask();
    void part_received(const detail::CollectionPart& part);
    /// The object goes. A hostile server may give its id to another one.
    void forget(std::uint64_t net_id);

  private:
    /// Longer than a part takes through a narrow line, beside what else the server sends.
    static constexpr std::int64_t patience_ms = 30'000;

    struct Wanted {
        std::uint64_t net_id = 0;
        std::uint8_t component = 0;
        std::uint8_t collection = 0;
        std::optional<NetTime> heard_at;  ///< asked, or was sent a part of any collection
    };

    /// Null: the object has none there, or there is no object.
    [[nodiscard]] static detail::CollectionEnd* find(const NetworkIdentity* object,
                                                     std::size_t component,
                                                     std::uint8_t collection) noexcept;
    [[nodiscard]] bool is_wanted(const Wanted& wanted) const;
    [[nodiscard]] bool is_due(const Wanted& wanted) const noexcept;

    std::vector<Wanted> wanted_;
};

}  // namespace replayout
