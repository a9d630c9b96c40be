// SPDX-License-Identifier: MIT
//
// Finds the members that are compared together. Members that lie side by side in object and shadow
// become one run of bytes, unless a compare may leave one of them out, or limits may keep one from
// being sent.
//
//     CompareRunFinder finder(cmds, parents, resource);
//     for each scope: finder.add_scope(scope, groups_of_scope);
//     finder.assign_parents(root);
//     ... = finder.take_runs();
#pragma once

#include <replayout/change_mask.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout_cmd.h>

#include <span>
#include <utility>
#include <vector>

namespace replayout {

class CompareRunFinder {
  public:
    /// All commands of a layout, and its parents, which must outlive the finder.
    CompareRunFinder(std::span<const RepLayoutCmd> cmds, std::span<RepParentCmd> parents,
                     MemoryResource* resource);

    /// Appends the runs of a scope, and notes in the scope where they stand. `groups` are the
    /// atomic groups of the scope. The shadow offset of a quantised leaf must still be that of its
    /// bytes. The root is the first scope.
    void add_scope(RepScope& scope, std::span<const RepGroup> groups);
    /// Whether the scope is one run, of equal bytes in object and shadow. Its shadow size must be
    /// final.
    [[nodiscard]] bool is_contiguous(const RepScope& scope) const noexcept;
    /// The one run of the scope; of size 0 if it has none, or several.
    [[nodiscard]] CompareRun only_run(const RepScope& scope) const noexcept;

    /// After all scopes: notes in each parent with which runs it is compared, and finds the parents
    /// that are compared in every tick.
    void assign_parents(const RepScope& root);

    [[nodiscard]] std::span<const CompareRun> runs() const noexcept { return runs_; }
    /// RepLayout::runs().
    [[nodiscard]] std::pmr::vector<CompareRun> take_runs() noexcept { return std::move(runs_); }
    /// RepLayout::polled_parents().
    [[nodiscard]] ChangeMask take_polled_parents() noexcept { return std::move(polled_parents_); }

  private:
    void add_run(const RepScope& scope, CmdIndex index, bool may_join);
    /// Appends a run without commands where a group that may exceed limits begins. Returns whether
    /// the leaf at `index` may be compared with those before it.
    [[nodiscard]] bool add_guard(std::span<const RepGroup> groups, CmdIndex index);
    /// Whether values of both parents are compared in the same ticks.
    [[nodiscard]] bool are_compared_together(ParentIndex left, ParentIndex right) const noexcept;
    void find_parent_rows();

    std::span<const RepLayoutCmd> cmds_;
    std::span<RepParentCmd> parents_;
    std::pmr::vector<CompareRun> runs_;
    ChangeMask polled_parents_;
};

}  // namespace replayout
