// SPDX-License-Identifier: MIT
//
// Finds the leaves whose shadow bytes are their bits on the wire, and how far rows of such leaves
// reach without a gap, so that a row can be written and compared at once.
//
//     PlainLeafFinder finder(cmds, resource);
//     for each scope: finder.add_scope(handle_cmds_of_scope);
//     finder.find_word_parents(parents, runs, handle_count);
//     ... = finder.take_leaves();
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/rep_layout_cmd.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace replayout {

class PlainLeafFinder {
  public:
    /// All commands of a layout, which must outlive the finder.
    PlainLeafFinder(std::span<const RepLayoutCmd> cmds, MemoryResource* resource);

    /// Appends the leaves of a scope. `handle_cmds` are the commands of its handles, in order. The
    /// root is the first scope.
    void add_scope(std::span<const CmdIndex> handle_cmds);
    /// After all scopes: finds the push based parents of one plain leaf of four bytes each.
    /// `parents` and `runs` are those of the finished layout, whose object has `handle_count`
    /// handles.
    void find_word_parents(std::span<const RepParentCmd> parents, std::span<const CompareRun> runs,
                           std::uint32_t handle_count);

    /// RepLayout::plain_leaf(), in the order of the handles.
    [[nodiscard]] std::pmr::vector<PlainLeaf> take_leaves() noexcept { return std::move(leaves_); }
    /// RepLayout::word_parents().
    [[nodiscard]] std::uint64_t word_parents() const noexcept { return word_parents_; }
    /// RepLayout::word_row(), by parent; empty without word parents.
    [[nodiscard]] std::pmr::vector<WordRow> take_word_rows() noexcept {
        return std::move(word_rows_);
    }

  private:
    std::span<const RepLayoutCmd> cmds_;
    std::pmr::vector<PlainLeaf> leaves_;
    std::uint64_t word_parents_ = 0;
    std::pmr::vector<WordRow> word_rows_;
};

}  // namespace replayout
