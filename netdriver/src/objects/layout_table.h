// SPDX-License-Identifier: MIT
//
// The layouts that a driver replicates, with the number that names each on the wire: its index in
// the order of type names. Both ends compare the digest of the whole table before they trust the
// numbers.
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "control_message.h"

namespace replayout {

/// An array may grow from nothing to its greatest count in one packet, which a client must be able
/// to take.
[[nodiscard]] Status check_array_growth(const RepLayout& layout, const NetConfig& config);

class LayoutTable {
  public:
    explicit LayoutTable(MemoryResource* resource)
        : layouts_(Allocator<const RepLayout*>(resource)),
          archetypes_(Allocator<Archetype>(resource)),
          archetype_ids_(resource) {}

    /// Refused: a second layout for a type of that name.
    [[nodiscard]] Status add(const RepLayout& layout);
    /// Another archetype of a class that has been added. Refused: id 0; an id or a layout that is
    /// taken; a class that was not added; a layout that differs from the class's in more than its
    /// archetype.
    [[nodiscard]] Status add_archetype(ArchetypeId id, const RepLayout& layout);

    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(layouts_.size());
    }
    /// Null when there is no such number.
    [[nodiscard]] const RepLayout* find(std::uint64_t number) const noexcept {
        return number < layouts_.size() ? layouts_[number] : nullptr;
    }
    static constexpr std::uint32_t no_number = 0xFFFF'FFFF;
    /// The number of the layout or, if it is an archetype's, of the layout of its class; no_number
    /// if that was not added.
    [[nodiscard]] std::uint32_t number_of(const RepLayout& layout) const noexcept;
    /// The same where `layout` itself was added, and not one that equals it: that one's members may
    /// lie elsewhere, and it may go before the driver does.
    [[nodiscard]] std::uint32_t number_of_added(const RepLayout& layout) const noexcept;

    struct Archetype {
        ArchetypeId id;
        const RepLayout* layout = nullptr;
    };
    /// By id.
    [[nodiscard]] std::span<const Archetype> archetypes() const noexcept {
        return {archetypes_.data(), archetypes_.size()};
    }
    /// 0 of a layout that was added as one of a class.
    [[nodiscard]] ArchetypeId archetype_of(const RepLayout& layout) const noexcept;
    /// Null when there is no such archetype.
    [[nodiscard]] const RepLayout* find_archetype(ArchetypeId id) const noexcept;

    /// check_array_growth() of each layout.
    [[nodiscard]] Status check_array_growth(const NetConfig& config) const;
    /// Refuses a layout whose RepLimits allow a text that the limits of the driver do not.
    [[nodiscard]] Status check_texts(const NetConfig& config) const;

    /// Over names and fingerprints, in order.
    [[nodiscard]] Digest128 digest() const;

    /// Short ids of the first layouts, as many as fit into `room`. Returns the bytes written.
    [[nodiscard]] std::size_t write_ids(std::span<std::byte> room) const noexcept;

    /// Of a peer that has another digest: the hash of a name that differs, or 0 when its list does
    /// not tell. `ids` as in a hello.
    [[nodiscard]] std::uint32_t find_difference(std::span<const std::byte> ids,
                                                std::uint32_t layout_count) const noexcept;
    /// Null when there is none of that name.
    [[nodiscard]] const RepLayout* find_by_name(std::string_view name) const noexcept;
    /// Whether a hello lists a layout just like this one. What it does not list is not known.
    [[nodiscard]] static bool is_listed(const RepLayout& layout,
                                        std::span<const std::byte> ids) noexcept;
    /// Whether a hello lists a layout with a name of this hash.
    [[nodiscard]] static bool is_named(std::uint32_t name_hash,
                                       std::span<const std::byte> ids) noexcept;
    /// Null when no layout has a name with this hash.
    [[nodiscard]] const RepLayout* find_by_hash(std::uint32_t name_hash) const noexcept;

  private:
    [[nodiscard]] static LayoutId id_of(const RepLayout& layout) noexcept;

    Vector<const RepLayout*> layouts_;  // by type name
    Vector<Archetype> archetypes_;      // by id
    // Looked up, never walked.
    std::pmr::unordered_map<const RepLayout*, ArchetypeId> archetype_ids_;
};

}  // namespace replayout
