// SPDX-License-Identifier: MIT
//
// The second pass: all commands are there, and what lies beside each other in memory is found, so
// that it can be compared and copied at once.
#include "rep_layout_builder.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace replayout {

namespace {

/// Shadow bytes are the bits on the wire. A bool is a byte there and a bit here.
[[nodiscard]] bool is_bits_in_shadow(RepLayoutCmdType type) noexcept {
    return std::endian::native == std::endian::little && is_plain(type) &&
           type != RepLayoutCmdType::Bool;
}

/// Such a property is compared alone.
[[nodiscard]] bool may_be_left_out(const RepParentCmd& parent) noexcept {
    return parent.is_push_based || parent.condition == LifetimeCondition::Custom;
}

}  // namespace

void RepLayoutBuilder::finish_scopes() {
    for (RepScope& scope : layout_->scopes_) {
        finish_scope(scope);
    }
    find_parent_runs();
}

void RepLayoutBuilder::find_parent_runs() {
    auto& parents = layout_->parents_;
    layout_->is_polled_ = layout_->is_polled_ || !layout_->has_push_based_;
    const bool has_parts = std::any_of(parents.begin(), parents.end(), may_be_left_out);
    if (has_parts) {
        layout_->polled_parents_.reset(static_cast<std::uint32_t>(parents.size()));
    }
    std::uint32_t run = 0;
    RepParentCmd* row = nullptr;  // the first of a row of neighbours that are never left out
    for (RepParentCmd& parent : parents) {
        const bool is_first = row == nullptr || may_be_left_out(parent);
        RepParentCmd& taker = is_first ? parent : *row;
        if (is_first) {
            parent.run_start = run;
            row = may_be_left_out(parent) ? nullptr : &parent;
        }
        while (run < layout_->root().run_end && layout_->runs_[run].cmd_start < parent.cmd_end) {
            ++run;
        }
        taker.run_end = run;
        if (has_parts && is_first && !parent.is_push_based) {
            layout_->polled_parents_.set(static_cast<std::uint32_t>(&parent - parents.data()));
        }
    }
    find_parent_rows();
}

void RepLayoutBuilder::find_parent_rows() {
    auto& parents = layout_->parents_;
    const auto is_single_run = [&](const RepParentCmd& parent) {
        return parent.run_start + 1 == parent.run_end && layout_->runs_[parent.run_start].size != 0;
    };
    for (std::size_t i = parents.size(); i-- > 0;) {
        parents[i].row_end = static_cast<std::uint32_t>(i + 1);
        if (i + 1 == parents.size() || !is_single_run(parents[i]) ||
            !is_single_run(parents[i + 1])) {
            continue;
        }
        const CompareRun& run = layout_->runs_[parents[i].run_start];
        const CompareRun& next = layout_->runs_[parents[i + 1].run_start];
        if (run.cmd_end == next.cmd_start &&
            run.object_offset.value + run.size == next.object_offset.value &&
            run.shadow_offset.value + run.size == next.shadow_offset.value) {
            parents[i].row_end = parents[i + 1].row_end;
        }
    }
    find_word_parents();
}

void RepLayoutBuilder::find_word_parents() {
    const auto& parents = layout_->parents_;
    if (parents.size() > 64 || layout_->handle_count() > 64) {
        return;
    }
    for (std::size_t i = parents.size(); i-- > 0;) {
        const RepParentCmd& parent = parents[i];
        const RepHandle handle{parent.first_handle};
        const bool is_leaf = parent.is_push_based && parent.handle_count == 1 &&
                             parent.run_start + 1 == parent.run_end;
        if (!is_leaf || layout_->plain_leaf(layout_->root(), handle).words_end <= handle.value) {
            continue;
        }
        const PlainLeaf& leaf = layout_->plain_leaf(layout_->root(), handle);
        const bool is_joined = parent.row_end > i + 1 && leaf.words_end > handle.value + 1;
        auto& words = layout_->word_rows_;
        words.resize(parents.size());
        words[i] = {layout_->runs_[parent.run_start].object_offset, leaf.shadow_begin,
                    static_cast<std::uint16_t>(handle.value),
                    static_cast<std::uint16_t>(is_joined ? words[i + 1].parent_count + 1 : 1)};
        layout_->word_parents_ |= std::uint64_t{1} << i;
    }
}

void RepLayoutBuilder::finish_scope(RepScope& scope) {
    scope.first_handle_cmd = static_cast<std::uint32_t>(layout_->handle_cmds_.size());
    scope.run_start = static_cast<std::uint32_t>(layout_->runs_.size());
    CmdIndex index = scope.cmd_start;
    while (layout_->cmds_[index.value].type != RepLayoutCmdType::Return) {
        const RepLayoutCmd& cmd = layout_->cmds_[index.value];
        layout_->handle_cmds_.push_back(index);
        const bool may_join = add_guard(scope, cmd, index);
        add_run(scope, cmd, index, may_join);
        index = cmd.end_cmd;
    }
    scope.run_end = static_cast<std::uint32_t>(layout_->runs_.size());
    place_quantised(scope);
    scope.shadow_size = (scope.shadow_size + scope.shadow_alignment - 1) / scope.shadow_alignment *
                        scope.shadow_alignment;
    find_plain_rows(scope);
    lay_down_groups(scope);
    if (scope.run_end - scope.run_start == 1) {
        const CompareRun& run = layout_->runs_[scope.run_start];
        scope.is_contiguous = run.size != 0 && run.object_offset.value == 0 &&
                              run.shadow_offset.value == 0 && run.size == scope.shadow_size;
        if (&scope == layout_->scopes_.data()) {
            layout_->only_run_ = run;
        }
    }
}

void RepLayoutBuilder::lay_down_groups(RepScope& scope) {
    const auto number = static_cast<std::uint16_t>(&scope - layout_->scopes_.data());
    scope.group_start = static_cast<std::uint32_t>(layout_->groups_.size());
    for (const auto& [owner, group] : groups_) {
        if (owner != number) {
            continue;
        }
        layout_->groups_.push_back(group);
        for (std::uint32_t handle = group.handle_begin; handle < group.handle_end; ++handle) {
            const CmdIndex index = layout_->handle_cmds_[scope.first_handle_cmd + handle - 1];
            layout_->has_groups_of_arrays_ = layout_->has_groups_of_arrays_ || number != 0 ||
                                             is_array(layout_->cmds_[index.value].type);
        }
    }
    scope.group_end = static_cast<std::uint32_t>(layout_->groups_.size());
}

void RepLayoutBuilder::find_plain_rows(const RepScope& scope) {
    auto& leaves = layout_->plain_leaves_;
    leaves.resize(scope.first_handle_cmd + scope.handle_count);
    for (std::uint32_t handle = scope.handle_count; handle >= 1; --handle) {
        PlainLeaf& leaf = leaves[scope.first_handle_cmd + handle - 1];
        const RepLayoutCmd& cmd = layout_->cmd(layout_->cmd_of(scope, RepHandle{handle}));
        leaf.row_end = static_cast<std::uint16_t>(handle);
        leaf.words_end = leaf.row_end;
        if (!is_bits_in_shadow(cmd.type)) {
            continue;
        }
        leaf.shadow_begin = cmd.shadow_offset;
        leaf.shadow_end.value = cmd.shadow_offset.value + cmd.element_size;
        ++leaf.row_end;
        const bool is_word = leaf.size() == sizeof(std::uint32_t);
        leaf.words_end = is_word ? leaf.row_end : leaf.words_end;
        if (handle < scope.handle_count) {
            const CmdIndex next = layout_->cmd_of(scope, RepHandle{handle + 1});
            const PlainLeaf& next_leaf = leaves[scope.first_handle_cmd + handle];
            const bool is_adjacent =
                layout_->cmd(next).shadow_offset.value == leaf.shadow_end.value;
            // Those of a leaf that starts no row are its own handle, so this is right for both.
            leaf.row_end = is_adjacent ? next_leaf.row_end : leaf.row_end;
            leaf.words_end = is_adjacent && is_word ? next_leaf.words_end : leaf.words_end;
        }
    }
}

void RepLayoutBuilder::place_quantised(RepScope& scope) {
    for (std::uint32_t handle = 1; handle <= scope.handle_count; ++handle) {
        RepLayoutCmd& cmd = layout_->cmds_[layout_->cmd_of(scope, RepHandle{handle}).value];
        if (cmd.type == RepLayoutCmdType::Quantised) {
            cmd.shadow_offset = ShadowOffset{scope.shadow_size};
            scope.shadow_size += shadow_footprint(cmd.type, *cmd.property).size;
        }
    }
}

bool RepLayoutBuilder::add_guard(const RepScope& scope, const RepLayoutCmd& cmd, CmdIndex index) {
    const auto number = static_cast<std::uint16_t>(&scope - layout_->scopes_.data());
    bool may_join = true;
    for (const auto& [owner, group] : groups_) {
        if (owner != number || !group.may_exceed_limits) {
            continue;
        }
        may_join = may_join && group.handle_end != cmd.relative_handle;
        if (group.handle_begin == cmd.relative_handle) {
            layout_->runs_.push_back({cmd.object_offset, cmd.shadow_offset, 0, index, index});
        }
    }
    return may_join;
}

void RepLayoutBuilder::add_run(RepScope& scope, const RepLayoutCmd& cmd, CmdIndex index,
                               bool may_join) {
    auto& runs = layout_->runs_;
    const bool is_bytes = is_compared_as_bytes(cmd.type);
    if (may_join && is_bytes && runs.size() > scope.run_start && runs.back().size != 0) {
        CompareRun& run = runs.back();
        const ParentIndex parent = layout_->cmd(run.cmd_start).parent_index;
        const bool is_one_part = parent == cmd.parent_index ||
                                 (!may_be_left_out(layout_->parents_[parent.value]) &&
                                  !may_be_left_out(layout_->parents_[cmd.parent_index.value]));
        if (is_one_part && run.object_offset.value + run.size == cmd.object_offset.value &&
            run.shadow_offset.value + run.size == cmd.shadow_offset.value) {
            run.size += cmd.element_size;
            run.cmd_end = cmd.end_cmd;
            return;
        }
    }
    runs.push_back({cmd.object_offset, cmd.shadow_offset, is_bytes ? cmd.element_size : 0, index,
                    cmd.end_cmd});
}

}  // namespace replayout
