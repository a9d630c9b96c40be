// SPDX-License-Identifier: MIT
//
// The layouts of a server as a client reads them, by the server's numbers. Without a word from the
// server they are the client's own. A server of another version tells each of its layouts before
// the welcome, in the order of names: that it is the client's too, or what it is like.
#pragma once

#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/peer_log.h>
#include <replayout/rep_layout.h>

#include "control_message.h"
#include "layout_table.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace replayout {

class SessionLayouts {
  public:
    struct Entry {
        const RepLayout* reading = nullptr;  ///< what blocks are read with
        const RepLayout* local = nullptr;    ///< what objects are made by; null: not known here
    };

    /// What it logs is of `server`, at `now`. All but the resource outlive it.
    SessionLayouts(const LayoutTable& own, const NetConfig& config, PeerId server,
                   PeerLog& peer_log, const NetTime& now, MemoryResource* resource);

    /// A message about the server's next layout. Anything but None ends the connection; then
    /// `name_hash` names the layout to blame, if there is one.
    [[nodiscard]] CloseReason add(std::span<const std::byte> message, std::uint32_t& name_hash);

    /// Nothing in it where there is no such number.
    [[nodiscard]] Entry find(std::uint64_t number) const noexcept;
    /// The same of an object that began as that archetype. Where there is no such archetype of the
    /// class here, `local` is null.
    [[nodiscard]] Entry find(std::uint64_t number, ArchetypeId archetype) const noexcept;
    /// What blocks of that class are read with; null where the server has no such class.
    [[nodiscard]] const RepLayout* find(std::string_view name) const noexcept;

  private:
    [[nodiscard]] CloseReason add_known(const KnownLayout& known);
    [[nodiscard]] CloseReason add_described(std::span<const std::byte> description);
    /// A layout to read that class with, into objects of `local`. Null: `reason` says why.
    [[nodiscard]] const RepLayout* make_reading(std::span<const std::byte> description,
                                                const RepLayout* local, CloseReason& reason);
    /// `message` prints as it is.
    [[nodiscard]] CloseReason refuse(const std::string& message) const;

    const LayoutTable& own_;
    const NetConfig& config_;
    PeerId server_;
    PeerLog& peer_log_;
    const NetTime& now_;
    MemoryResource* resource_;
    struct ArchetypeEntry {
        ArchetypeId id;
        const RepLayout* reading = nullptr;
    };
    Vector<Entry> entries_;                       // by number
    Vector<ArchetypeEntry> archetypes_;           // of classes that are another version's
    Vector<std::unique_ptr<RepLayout>> layouts_;  // those that are made here
    std::size_t description_bytes_ = 0;
};

}  // namespace replayout
