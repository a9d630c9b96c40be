// SPDX-License-Identifier: MIT
//
// Finds the leaves whose shadow bytes are their bits on the wire, and how far runs of such leaves
// reach without a gap, so that a run can be written and compared at once.
//
//     PlainLeafFinder finder(cmds, resource);
//     for each scope: finder.add_scope(handle_cmds_of_scope);
//     finder.find_word_parents(parents, runs, handle_count);
//     ... = finder.take_leaves();
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/rep_layout_cmd.h>

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace replayout {

class PlainLeafFinder {
  public:
    /// All commands of a layout, which must outlive the finder.
    PlainLeafFinder(std::span<const RepLayoutCmd> cmds, MemoryResource* resource)
        : cmds_(cmds), leaves_(resource), word_runs_(resource) {}

    /// Appends the leaves of a scope. `handle_cmds` are the commands of its handles, in order. The
    /// root is the first scope.
    void add_scope(std::span<const CmdIndex> handle_cmds) {
        const std::size_t first = leaves_.size();
        leaves_.resize(first + handle_cmds.size());
        for (std::size_t handle = handle_cmds.size(); handle >= 1; --handle) {
            PlainLeaf& leaf = leaves_[first + handle - 1];
            const RepLayoutCmd& cmd = cmds_[handle_cmds[handle - 1].value];
            leaf.run_end = static_cast<std::uint16_t>(handle);
            leaf.words_end = leaf.run_end;
            if (!is_bits_in_shadow(cmd.type)) {
                continue;
            }
            leaf.shadow_begin = cmd.shadow_offset;
            leaf.shadow_end.value = cmd.shadow_offset.value + cmd.element_size;
            ++leaf.run_end;
            const bool is_word = leaf.size() == sizeof(std::uint32_t);
            leaf.words_end = is_word ? leaf.run_end : leaf.words_end;
            if (handle < handle_cmds.size()) {
                const RepLayoutCmd& next = cmds_[handle_cmds[handle].value];
                const PlainLeaf& next_leaf = leaves_[first + handle];
                const bool is_adjacent = next.shadow_offset.value == leaf.shadow_end.value;
                // A leaf that starts no run ends both runs at its own handle, so this is right for
                // it.
                leaf.run_end = is_adjacent ? next_leaf.run_end : leaf.run_end;
                leaf.words_end = is_adjacent && is_word ? next_leaf.words_end : leaf.words_end;
            }
        }
    }
    /// After all scopes: finds the push based parents of one plain leaf of four bytes each.
    /// `parents` and `runs` are those of the finished layout, whose object has `handle_count`
    /// handles.
    void find_word_parents(std::span<const RepParentCmd> parents, std::span<const CompareRun> runs,
                           std::uint32_t handle_count) {
        if (parents.size() > 64 || handle_count > 64) {
            return;
        }
        for (std::size_t i = parents.size(); i-- > 0;) {
            const RepParentCmd& parent = parents[i];
            const std::uint32_t handle = parent.first_handle;
            const bool is_leaf = parent.is_push_based && parent.handle_count == 1 &&
                                 parent.run_start + 1 == parent.run_end;
            if (!is_leaf || leaves_[handle - 1].words_end <= handle) {
                continue;
            }
            const PlainLeaf& leaf = leaves_[handle - 1];
            const bool is_joined = parent.joined_end > i + 1 && leaf.words_end > handle + 1;
            word_runs_.resize(parents.size());
            word_runs_[i] = {
                runs[parent.run_start].object_offset, leaf.shadow_begin,
                static_cast<std::uint16_t>(handle),
                static_cast<std::uint16_t>(is_joined ? word_runs_[i + 1].parent_count + 1 : 1)};
            word_parents_ |= std::uint64_t{1} << i;
        }
    }

    /// RepLayout::plain_leaf(), in the order of the handles.
    [[nodiscard]] std::pmr::vector<PlainLeaf> take_leaves() noexcept { return std::move(leaves_); }
    /// RepLayout::word_parents().
    [[nodiscard]] std::uint64_t word_parents() const noexcept { return word_parents_; }
    /// RepLayout::word_run(), by parent; empty without word parents.
    [[nodiscard]] std::pmr::vector<WordRun> take_word_runs() noexcept {
        return std::move(word_runs_);
    }

  private:
    /// Shadow bytes are the bits on the wire. A bool is a byte there and a bit here.
    [[nodiscard]] static bool is_bits_in_shadow(RepLayoutCmdType type) noexcept {
        return std::endian::native == std::endian::little && is_plain(type) &&
               type != RepLayoutCmdType::Bool;
    }

    std::span<const RepLayoutCmd> cmds_;
    std::pmr::vector<PlainLeaf> leaves_;
    std::uint64_t word_parents_ = 0;
    std::pmr::vector<WordRun> word_runs_;
};

}  // namespace replayout
