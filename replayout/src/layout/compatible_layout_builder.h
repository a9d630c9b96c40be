// SPDX-License-Identifier: MIT
//
// Makes a layout to receive with: the commands of a sender's description, each either that of the
// local layout which is the same, or skipped.
#pragma once

#include <replayout/rep_layout.h>

#include "layout_description_reader.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace replayout {

class CompatibleLayoutBuilder {
  public:
    CompatibleLayoutBuilder(const TypeRegistry& registry, const RepLayout* local,
                            const LayoutDescription& description, MemoryResource* resource);

    [[nodiscard]] Result<std::unique_ptr<RepLayout>> build();

  private:
    /// The leaves of one list at the local side, to be found by checksum.
    struct LocalLeaf {
        std::uint32_t checksum;
        CmdIndex index;
    };
    using LocalLeaves = std::vector<LocalLeaf>;

    /// Lays down the list that begins at `begin`. `local` null: nothing of it is known here, and
    /// nothing is said about its leaves. Returns how many of them, at any depth, are applied.
    std::uint32_t add_list(std::uint32_t begin, const RepScope* local);
    /// The leaf that path_ names.
    bool add_leaf(std::uint32_t index, std::uint16_t scope, const RepLayoutCmd* local,
                  bool is_list_known);
    bool add_element(std::uint32_t index, const RepLayoutCmd* local);
    void fill_applied(const RepLayoutCmd& local, RepLayoutCmd& cmd) const;
    void fill_skipped(const DescribedCmd& described, RepLayoutCmd& cmd);
    [[nodiscard]] const Property* skipped_property(const DescribedCmd& described);
    /// Appends a name to path_. Returns the size to which it is cut again.
    std::size_t enter(std::string_view name);
    /// The start of a sentence about what path_ names.
    [[nodiscard]] std::string begin_sentence() const;
    /// Says so of what path_ names, or counts it where enough was said.
    void say(std::string_view difference);

    [[nodiscard]] LocalLeaves local_leaves(const RepScope* scope) const;
    /// Leaves of a list that share a checksum with another one of it.
    [[nodiscard]] std::vector<std::uint32_t> ambiguous_checksums(std::uint32_t begin) const;
    /// The local command that is the same as a described one, or null.
    [[nodiscard]] const RepLayoutCmd* find(const DescribedCmd& described,
                                           const LocalLeaves& leaves) const;
    [[nodiscard]] bool is_same(const DescribedCmd& described, CmdIndex local) const;
    /// Leaves of one property lie in one row, or the later ones are not taken: notifies rely on it.
    [[nodiscard]] bool is_in_row(const RepLayoutCmd& local);
    void name_unsent(const RepScope& scope);

    const TypeRegistry& registry_;
    const RepLayout* local_;
    const LayoutDescription& description_;
    std::unique_ptr<RepLayout> layout_;
    std::vector<std::string> local_names_;  // by local command
    std::vector<bool> is_applied_;          // likewise
    std::vector<bool> has_begun_;           // by local parent
    std::uint32_t last_parent_;
    std::string path_;              // of the leaf that is looked at
    std::size_t unsaid_count_ = 0;  // differences beyond those in diagnostics
    Error error_;
};

/// Does what RepLayout::create_compatible() promises: reads `description`, makes the layout, and
/// judges by `policy` how it differs from `local`.
[[nodiscard]] Result<std::unique_ptr<RepLayout>> create_compatible_layout(
    const TypeRegistry& registry, const RepLayout* local, std::span<const std::byte> description,
    LayoutPolicy policy, MemoryResource* resource);

}  // namespace replayout
