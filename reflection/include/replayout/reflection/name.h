// SPDX-License-Identifier: MIT
//
// Interned names. A Name is one integer; two names of one table are equal when their integers are.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace replayout {

/// A name in some NameTable; 0 is the empty name of every table.
struct Name {
    std::uint32_t id = 0;

    friend constexpr auto operator<=>(Name, Name) noexcept = default;
};

/// Owns the text of names. Ids are given in the order of interning and never taken back, so a table
/// has a capacity: names may come from a peer, and a peer must not be able to grow it without end.
///
/// Not synchronized: one thread at a time may intern.
class NameTable {
  public:
    static constexpr std::uint32_t count_max_default = 65'536;

    /// Holds at most `count_max` names, the empty one not counted.
    explicit NameTable(std::uint32_t count_max = count_max_default,
                       MemoryResource* resource = std::pmr::get_default_resource());
    NameTable(const NameTable&) = delete;
    NameTable& operator=(const NameTable&) = delete;

    /// The name of `text`, made if it is new; nothing when the table is full.
    [[nodiscard]] std::optional<Name> intern(std::string_view text);

    /// The text of a name of this table; asserts that it is one. Valid while the table lives.
    [[nodiscard]] std::string_view text(Name name) const noexcept;

    /// Names in the table, the empty one not counted; also the highest id.
    [[nodiscard]] std::uint32_t count() const noexcept;

    /// For Property::string of a member of type Name. The table must outlive what uses them.
    [[nodiscard]] StringOps string_ops() noexcept;

  private:
    std::uint32_t count_max_;
    std::pmr::deque<PmrString> texts_;
    std::pmr::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace replayout
