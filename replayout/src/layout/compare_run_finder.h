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

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace replayout {

class CompareRunFinder {
  public:
    /// All commands of a layout, and its parents, which must outlive the finder.
    CompareRunFinder(std::span<const RepLayoutCmd> cmds, std::span<RepParentCmd> parents,
                     MemoryResource* resource)
        : cmds_(cmds), parents_(parents), runs_(resource), polled_parents_(resource) {}

    /// Appends the runs of a scope, and notes in the scope where they stand. `groups` are the
    /// atomic groups of the scope. The shadow offset of a quantised leaf must still be that of its
    /// bytes. The root is the first scope.
    void add_scope(RepScope& scope, std::span<const RepGroup> groups) {
        scope.run_start = static_cast<std::uint32_t>(runs_.size());
        CmdIndex index = scope.cmd_start;
        while (cmds_[index.value].type != RepLayoutCmdType::Return) {
            const bool may_join = add_guard(groups, index);
            add_run(scope, index, may_join);
            index = cmds_[index.value].end_cmd;
        }
        scope.run_end = static_cast<std::uint32_t>(runs_.size());
    }
    /// Whether the scope is one run, of equal bytes in object and shadow. Its shadow size must be
    /// final.
    [[nodiscard]] bool is_contiguous(const RepScope& scope) const noexcept {
        const CompareRun run = only_run(scope);
        return run.size != 0 && run.object_offset.value == 0 && run.shadow_offset.value == 0 &&
               run.size == scope.shadow_size;
    }
    /// The one run of the scope; of size 0 if it has none, or several.
    [[nodiscard]] CompareRun only_run(const RepScope& scope) const noexcept {
        return scope.run_end - scope.run_start == 1 ? runs_[scope.run_start] : CompareRun();
    }

    /// After all scopes: notes in each parent with which runs it is compared, and finds the parents
    /// that are compared in every tick.
    void assign_parents(const RepScope& root) {
        const bool has_parts = std::any_of(parents_.begin(), parents_.end(), may_be_left_out);
        if (has_parts) {
            polled_parents_.reset(static_cast<std::uint32_t>(parents_.size()));
        }
        std::uint32_t run = 0;
        RepParentCmd* taken_with =
            nullptr;  // the first of a run of neighbours that are never left out
        for (RepParentCmd& parent : parents_) {
            const bool is_first = taken_with == nullptr || may_be_left_out(parent);
            RepParentCmd& taker = is_first ? parent : *taken_with;
            if (is_first) {
                parent.run_start = run;
                taken_with = may_be_left_out(parent) ? nullptr : &parent;
            }
            while (run < root.run_end && runs_[run].cmd_start < parent.cmd_end) {
                ++run;
            }
            taker.run_end = run;
            if (has_parts && is_first && !parent.is_push_based) {
                polled_parents_.set(static_cast<std::uint32_t>(&parent - parents_.data()));
            }
        }
        join_parents();
    }

    [[nodiscard]] std::span<const CompareRun> runs() const noexcept { return runs_; }
    /// RepLayout::runs().
    [[nodiscard]] std::pmr::vector<CompareRun> take_runs() noexcept { return std::move(runs_); }
    /// RepLayout::polled_parents().
    [[nodiscard]] ChangeMask take_polled_parents() noexcept { return std::move(polled_parents_); }

  private:
    /// Such a property is compared alone.
    [[nodiscard]] static bool may_be_left_out(const RepParentCmd& parent) noexcept {
        return parent.is_push_based || parent.condition == LifetimeCondition::Custom;
    }

    void add_run(const RepScope& scope, CmdIndex index, bool may_join) {
        const RepLayoutCmd& cmd = cmds_[index.value];
        const bool is_bytes = is_compared_as_bytes(cmd.type);
        if (may_join && is_bytes && runs_.size() > scope.run_start && runs_.back().size != 0) {
            CompareRun& run = runs_.back();
            if (are_compared_together(cmds_[run.cmd_start.value].parent_index, cmd.parent_index) &&
                run.object_offset.value + run.size == cmd.object_offset.value &&
                run.shadow_offset.value + run.size == cmd.shadow_offset.value) {
                run.size += cmd.element_size;
                run.cmd_end = cmd.end_cmd;
                return;
            }
        }
        runs_.push_back({cmd.object_offset, cmd.shadow_offset, is_bytes ? cmd.element_size : 0,
                         index, cmd.end_cmd});
    }
    /// Appends a run without commands where a group that may exceed limits begins. Returns whether
    /// the leaf at `index` may be compared with those before it.
    [[nodiscard]] bool add_guard(std::span<const RepGroup> groups, CmdIndex index) {
        const RepLayoutCmd& cmd = cmds_[index.value];
        bool may_join = true;
        for (const RepGroup& group : groups) {
            if (!group.may_exceed_limits) {
                continue;
            }
            may_join = may_join && group.handle_end != cmd.relative_handle;
            if (group.handle_begin == cmd.relative_handle) {
                runs_.push_back({cmd.object_offset, cmd.shadow_offset, 0, index, index});
            }
        }
        return may_join;
    }
    /// Whether values of both parents are compared in the same ticks.
    [[nodiscard]] bool are_compared_together(ParentIndex left, ParentIndex right) const noexcept {
        return left == right ||
               (!may_be_left_out(parents_[left.value]) && !may_be_left_out(parents_[right.value]));
    }
    void join_parents() {
        const auto is_single_run = [&](const RepParentCmd& parent) {
            return parent.run_start + 1 == parent.run_end && runs_[parent.run_start].size != 0;
        };
        for (std::size_t i = parents_.size(); i-- > 0;) {
            parents_[i].joined_end = static_cast<std::uint32_t>(i + 1);
            if (i + 1 == parents_.size() || !is_single_run(parents_[i]) ||
                !is_single_run(parents_[i + 1])) {
                continue;
            }
            const CompareRun& run = runs_[parents_[i].run_start];
            const CompareRun& next = runs_[parents_[i + 1].run_start];
            if (run.cmd_end == next.cmd_start &&
                run.object_offset.value + run.size == next.object_offset.value &&
                run.shadow_offset.value + run.size == next.shadow_offset.value) {
                parents_[i].joined_end = parents_[i + 1].joined_end;
            }
        }
    }

    std::span<const RepLayoutCmd> cmds_;
    std::span<RepParentCmd> parents_;
    std::pmr::vector<CompareRun> runs_;
    ChangeMask polled_parents_;
};

}  // namespace replayout
