// SPDX-License-Identifier: MIT
//
// What the receiving side keeps per object: which object each of its references names.
//
// A reference can arrive before its target, and outlive it. The property then holds null, and this
// table remembers the id, so that the reference binds when the target appears and is named
// correctly meanwhile. Entries are keyed by the path of handles to the leaf; an array that shrinks
// drops those of its tail.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <array>
#include <compare>
#include <cstdint>

namespace replayout {

class PackageMap;

/// A way down to one leaf: the handle in the object, then in each array on the way.
struct RepPath {
    std::array<std::uint32_t, nesting_depth_max + 1> handles{};  // 0 past the end

    friend constexpr auto operator<=>(const RepPath&, const RepPath&) noexcept = default;
};

class ReceivingRepState {
  public:
    struct Reference {
        NetGUID guid;
        bool is_mapped = false;  ///< the property holds the object; else null
    };

    explicit ReceivingRepState(MemoryResource* resource) : references_(make_allocator(resource)) {}

    /// The reference at `path` now names `guid`; null forgets it. What it named before is appended
    /// to `dropped`, if given. False: the table is full.
    [[nodiscard]] bool set_reference(const RepPath& path, Reference reference,
                                     std::uint32_t count_max, Vector<NetGUID>* dropped);

    /// An array ends before the handle at `path`: what lies at or beyond it, at its depth, is gone.
    void truncate(const RepPath& path, std::uint32_t depth, Vector<NetGUID>* dropped);

    /// Whether any reference names `guid`.
    [[nodiscard]] bool names(NetGUID guid) const noexcept;

    /// What the reference at `path` names, mapped or not. Null when it is null.
    [[nodiscard]] NetGUID find_reference(const RepPath& path) const noexcept;

    void clear() noexcept { references_.clear(); }

    [[nodiscard]] bool has_references() const noexcept { return !references_.empty(); }
    [[nodiscard]] const FlatMap<RepPath, Reference>& references() const noexcept {
        return references_;
    }
    [[nodiscard]] FlatMap<RepPath, Reference>& references() noexcept { return references_; }

  private:
    [[nodiscard]] static Allocator<std::pair<RepPath, Reference>> make_allocator(
        MemoryResource* resource) noexcept {
        return Allocator<std::pair<RepPath, Reference>>(resource);
    }

    FlatMap<RepPath, Reference> references_;
};

}  // namespace replayout
