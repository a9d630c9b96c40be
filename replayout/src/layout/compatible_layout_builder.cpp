// SPDX-License-Identifier: MIT
#include "compatible_layout_builder.h"

#include <replayout/reflection/printable.h>
#include <replayout/reflection/type.h>
#include <replayout/shadow_state.h>

#include "layout_description_reader.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace replayout {

namespace {

constexpr std::uint32_t no_parent = std::numeric_limits<std::uint32_t>::max();

// A peer decides how many differences there are and how long its names are.
constexpr std::size_t difference_count_max = 64;
constexpr std::size_t name_bytes_max = 256;

/// What a skipped leaf is read as, and its bytes in memory, from which its bits follow.
struct SkippedForm {
    RepLayoutCmdType type;
    std::uint32_t size;
};

[[nodiscard]] SkippedForm skipped_form(LeafForm form) noexcept {
    using enum RepLayoutCmdType;
    static constexpr SkippedForm forms[] = {{Return, 0},
                                            {Bool, 1},
                                            {Bits8, 1},
                                            {Bits16, 2},
                                            {Bits32, 4},
                                            {Bits64, 8},
                                            {Vector, 12},
                                            {Quat, 16},
                                            {String, 0},
                                            {Object, 0},
                                            {NetSerializeStruct, 0},
                                            {DynamicArray, 0},
                                            {DynamicArray, 0},
                                            {Quantised, 0},
                                            {KeyedArray, 0},
                                            {NetDeltaStruct, 0}};
    static_assert(std::size(forms) == static_cast<std::size_t>(LeafForm::NetDeltaSerializer) + 1);
    return forms[static_cast<std::size_t>(form)];
}

[[nodiscard]] bool same_quantisation(const Quantisation& left, const Quantisation& right) noexcept {
    std::uint64_t left_numbers[3]{};
    std::uint64_t right_numbers[3]{};
    const std::uint32_t count = quantisation_numbers(left, left_numbers);
    return left.form == right.form && quantisation_numbers(right, right_numbers) == count &&
           std::equal(left_numbers, left_numbers + count, right_numbers);
}

[[nodiscard]] bool is_array(LeafForm form) noexcept {
    return form == LeafForm::DynamicArray || form == LeafForm::Optional ||
           form == LeafForm::KeyedArray;
}

/// As much of a peer's text as goes into a sentence.
[[nodiscard]] std::string shortened(std::string_view text) {
    return printable_front(text, name_bytes_max);
}

}  // namespace

class CompatibleLayoutBuilder {
  public:
    CompatibleLayoutBuilder(const TypeRegistry& registry, const RepLayout* local,
                            const LayoutDescription& description, MemoryResource* resource)
        : registry_(registry),
          local_(local),
          description_(description),
          layout_(new RepLayout(resource)),
          last_parent_(no_parent) {
        layout_->name_ = description.name;
        layout_->limits_ = description.limits;
        layout_->is_receive_only_ = true;
        if (local == nullptr) {
            return;
        }
        layout_->type_ = &local->type();
        layout_->local_archetype_ = &local->archetype();
        local_names_ = leaf_names(*local);
        is_applied_.resize(local->cmds().size());
        has_begun_.resize(local->parents().size());
        for (const RepParentCmd& parent : local->parents()) {
            RepParentCmd copy;  // without the local handles, which nobody may take for the sender's
            copy.property = parent.property;
            copy.object_offset = parent.object_offset;
            copy.array_index = parent.array_index;
            copy.condition = parent.condition;
            layout_->parents_.push_back(copy);
        }
    }

    [[nodiscard]] Result<std::unique_ptr<RepLayout>> build() {
        (void)add_list(0, local_ == nullptr ? nullptr : &local_->root());
        if (error_.code != ErrorCode::Ok) {
            return error_;
        }
        if (local_ != nullptr) {
            name_unsent(local_->root());
        }
        if (unsaid_count_ > 0) {
            layout_->diagnostics_.push_back("layout of \"" + shortened(layout_->name_) +
                                            "\": and " + std::to_string(unsaid_count_) +
                                            " more differences");
        }
        for (RepScope& scope : layout_->scopes_) {
            layout_->index_handles(scope);
        }
        return std::move(layout_);
    }

  private:
    /// The leaves of one list at the local side, to be found by checksum.
    struct LocalLeaf {
        std::uint32_t checksum;
        CmdIndex index;
    };
    using LocalLeaves = std::vector<LocalLeaf>;

    /// Lays down the list that begins at `begin`. `local` null: nothing of it is known here, and
    /// nothing is said about its leaves. Returns how many of them, at any depth, are applied.
    std::uint32_t add_list(std::uint32_t begin, const RepScope* local) {
        const auto scope = static_cast<std::uint16_t>(layout_->scopes_.size());
        RepScope fresh;
        fresh.cmd_start = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        layout_->scopes_.push_back(fresh);
        const LocalLeaves leaves = local_leaves(local);
        const std::vector<std::uint32_t> ambiguous = ambiguous_checksums(begin);
        std::uint32_t applied_count = 0;
        std::uint32_t index = begin;
        while (description_.cmds[index].form != LeafForm::End) {
            const DescribedCmd& described = description_.cmds[index];
            const bool is_ambiguous =
                std::binary_search(ambiguous.begin(), ambiguous.end(), described.checksum);
            const RepLayoutCmd* candidate = is_ambiguous ? nullptr : find(described, leaves);
            const std::size_t path_size = enter(described.name);
            applied_count += add_leaf(index, scope, candidate, local != nullptr) ? 1u : 0u;
            path_.resize(path_size);
            index = described.end;
        }
        RepLayoutCmd end;
        end.end_cmd = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size() + 1)};
        layout_->cmds_.push_back(end);
        layout_->element_scopes_.push_back(0);
        layout_->scopes_[scope].cmd_end =
            CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        return applied_count;
    }

    /// The leaf that path_ names.
    bool add_leaf(std::uint32_t index, std::uint16_t scope, const RepLayoutCmd* local,
                  bool is_list_known) {
        const DescribedCmd& described = description_.cmds[index];
        const std::size_t added_at = layout_->cmds_.size();
        const std::size_t diagnostic_count = layout_->diagnostics_.size();
        const std::size_t unsaid_count = unsaid_count_;
        RepLayoutCmd cmd;
        cmd.checksum = described.checksum;
        cmd.end_cmd = CmdIndex{static_cast<std::uint16_t>(added_at + 1)};
        cmd.relative_handle = static_cast<std::uint16_t>(++layout_->scopes_[scope].handle_count);
        layout_->cmds_.push_back(cmd);
        layout_->element_scopes_.push_back(0);
        // An array of nothing that is known here would be an array of default values: none is
        // better.
        bool is_applied = local != nullptr && (scope != 0 || is_in_run(*local));
        if (is_array(described.form)) {
            is_applied = add_element(index, is_applied ? local : nullptr);
        }
        RepLayoutCmd& added = layout_->cmds_[added_at];
        if (is_applied) {
            fill_applied(*local, added);
            is_applied_[static_cast<std::size_t>(local - local_->cmds().data())] = true;
            return true;
        }
        fill_skipped(described, added);
        if (is_list_known) {
            // Where nothing of an array is taken, what differs in its elements is of no interest.
            layout_->diagnostics_.resize(diagnostic_count);
            unsaid_count_ = unsaid_count;
            say(" of the sender is not the same here, and is skipped");
        }
        return false;
    }

    bool add_element(std::uint32_t index, const RepLayoutCmd* local) {
        const std::size_t added_at = layout_->cmds_.size() - 1;
        layout_->element_scopes_[added_at] = static_cast<std::uint16_t>(layout_->scopes_.size());
        const RepScope* element = nullptr;
        if (local != nullptr) {
            element = &local_->element_scope(
                CmdIndex{static_cast<std::uint16_t>(local - local_->cmds().data())});
        }
        const std::size_t path_size = enter("[]");
        const std::uint32_t applied_count = add_list(index + 1, element);
        path_.resize(path_size);
        layout_->cmds_[added_at].end_cmd =
            CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        return applied_count > 0;
    }

    void fill_applied(const RepLayoutCmd& local, RepLayoutCmd& cmd) const {
        cmd.object_offset = local.object_offset;
        cmd.shadow_offset = local.shadow_offset;  // in the local archetype
        cmd.element_size = local.element_size;
        cmd.property = local.property;
        cmd.parent_index = local.parent_index;
        cmd.type = local.type;
        cmd.flags = local.flags;
    }

    void fill_skipped(const DescribedCmd& described, RepLayoutCmd& cmd) {
        const SkippedForm form = skipped_form(described.form);
        cmd.type = form.type;
        cmd.element_size = form.size;
        cmd.flags = RepLayoutCmdFlags::IsSkipped;
        cmd.property = skipped_property(described);
        auto& names = layout_->skipped_names_;
        const auto index = static_cast<std::size_t>(&cmd - layout_->cmds_.data());
        names.resize(std::max(names.size(), index + 1));
        if (described.name != "[]") {
            names[index] = shortened(described.name);
        }
    }

    [[nodiscard]] const Property* skipped_property(const DescribedCmd& described) {
        auto& properties = layout_->skipped_properties_;
        if (properties.empty()) {
            properties.emplace_back();  // of all that need nothing to be read
        }
        const bool is_plain = !is_array(described.form) && described.form != LeafForm::Quantised &&
                              described.form != LeafForm::NetSerializer;
        if (is_plain) {
            return &properties.front();
        }
        Property property;
        property.quantisation = described.quantisation;
        property.array_key = described.array_key;
        if (is_array(described.form)) {
            property.kind = described.form == LeafForm::Optional ? PropertyKind::Optional
                                                                 : PropertyKind::DynamicArray;
        } else if (described.form == LeafForm::NetSerializer) {
            property.kind = PropertyKind::Struct;
            property.struct_type = registry_.find(described.struct_name);
            const bool is_readable = property.struct_type != nullptr &&
                                     property.struct_type->traits().has_net_serializer &&
                                     property.struct_type->ops().construct != nullptr &&
                                     property.struct_type->ops().destroy != nullptr;
            if (!is_readable && error_.code == ErrorCode::Ok) {
                error_ = {
                    ErrorCode::IncompatibleLayout,
                    begin_sentence() + " of the sender is a \"" + shortened(described.struct_name) +
                        "\", a NetSerializer that is not known here, so nothing behind it can "
                        "be read"};
            }
        }
        properties.push_back(std::move(property));
        return &properties.back();
    }

    /// Appends a name to path_. Returns the size to which it is cut again.
    std::size_t enter(std::string_view name) {
        const std::size_t size = path_.size();
        if (size > 0 && !name.empty() && name != "[]") {
            path_ += '.';
        }
        path_ += name;
        return size;
    }

    /// The start of a sentence about what path_ names.
    [[nodiscard]] std::string begin_sentence() const {
        return "layout of \"" + shortened(layout_->name_) + "\": \"" + shortened(path_) + "\"";
    }

    /// Says so of what path_ names, or counts it where enough was said.
    void say(std::string_view difference) {
        if (layout_->diagnostics_.size() >= difference_count_max) {
            ++unsaid_count_;
            return;
        }
        layout_->diagnostics_.push_back(begin_sentence() + std::string(difference));
    }

    [[nodiscard]] LocalLeaves local_leaves(const RepScope* scope) const {
        LocalLeaves leaves;
        if (scope == nullptr) {
            return leaves;
        }
        for (std::uint32_t handle = 1; handle <= scope->handle_count; ++handle) {
            const CmdIndex index = local_->cmd_of(*scope, RepHandle{handle});
            leaves.push_back({local_->cmd(index).checksum, index});
        }
        std::sort(leaves.begin(), leaves.end(), [](const LocalLeaf& left, const LocalLeaf& right) {
            return left.checksum != right.checksum ? left.checksum < right.checksum
                                                   : left.index < right.index;
        });
        return leaves;
    }

    /// Leaves of a list that share a checksum with another one of it.
    [[nodiscard]] std::vector<std::uint32_t> ambiguous_checksums(std::uint32_t begin) const {
        std::vector<std::uint32_t> checksums;
        for (std::uint32_t index = begin; description_.cmds[index].form != LeafForm::End;
             index = description_.cmds[index].end) {
            checksums.push_back(description_.cmds[index].checksum);
        }
        std::sort(checksums.begin(), checksums.end());
        std::vector<std::uint32_t> ambiguous;
        for (std::size_t i = 1; i < checksums.size(); ++i) {
            if (checksums[i] == checksums[i - 1]) {
                ambiguous.push_back(checksums[i]);
            }
        }
        return ambiguous;
    }

    /// The local command that is the same as a described one, or null.
    [[nodiscard]] const RepLayoutCmd* find(const DescribedCmd& described,
                                           const LocalLeaves& leaves) const {
        const auto range =
            std::equal_range(leaves.begin(), leaves.end(), LocalLeaf{described.checksum, {}},
                             [](const LocalLeaf& left, const LocalLeaf& right) {
                                 return left.checksum < right.checksum;
                             });
        if (range.second - range.first != 1 || !is_same(described, range.first->index)) {
            return nullptr;
        }
        return &local_->cmd(range.first->index);
    }

    [[nodiscard]] bool is_same(const DescribedCmd& described, CmdIndex local) const {
        const RepLayoutCmd& cmd = local_->cmd(local);
        if (leaf_form_of(cmd) != described.form || local_names_[local.value] != described.name) {
            return false;
        }
        switch (described.form) {
            case LeafForm::Text:
                return description_.limits.string_bytes_max <= local_->limits().string_bytes_max;
            case LeafForm::DynamicArray:
                return description_.limits.array_count_max <= local_->limits().array_count_max;
            case LeafForm::KeyedArray:
                return description_.limits.array_count_max <= local_->limits().array_count_max &&
                       cmd.property->array_key.size == described.array_key.size &&
                       cmd.property->array_key.order == described.array_key.order;
            case LeafForm::NetSerializer:
            case LeafForm::NetDeltaSerializer:
                return cmd.property->struct_type->name() == described.struct_name;
            case LeafForm::Quantised:
                return same_quantisation(cmd.property->quantisation, described.quantisation);
            default:
                return true;
        }
    }

    /// Leaves of one property lie side by side, or the later ones are not taken: notifies rely on
    /// it.
    [[nodiscard]] bool is_in_run(const RepLayoutCmd& local) {
        // A C array is one value to its notify, so its elements stand side by side.
        const std::uint32_t parent =
            local.parent_index.value - local_->parents()[local.parent_index.value].array_index;
        if (parent == last_parent_) {
            return true;
        }
        if (has_begun_[parent]) {
            return false;
        }
        has_begun_[parent] = true;
        last_parent_ = parent;
        return true;
    }

    void name_unsent(const RepScope& scope) {
        for (std::uint32_t handle = 1; handle <= scope.handle_count; ++handle) {
            const CmdIndex index = local_->cmd_of(scope, RepHandle{handle});
            const std::size_t path_size = enter(local_names_[index.value]);
            if (!is_applied_[index.value]) {
                say(" is not sent like this, and keeps its default");
            } else if (is_array(local_->cmd(index).type)) {
                (void)enter("[]");
                name_unsent(local_->element_scope(index));
            }
            path_.resize(path_size);
        }
    }

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

Result<std::unique_ptr<RepLayout>> create_compatible_layout(const TypeRegistry& registry,
                                                            const RepLayout* local,
                                                            std::span<const std::byte> description,
                                                            LayoutPolicy policy,
                                                            MemoryResource* resource) {
    if (local != nullptr && local->is_receive_only()) {
        return Error{ErrorCode::InvalidArgument,
                     "layout of \"" + std::string(local->name()) +
                         "\": it is only read with; give the one of create()"};
    }
    Result<LayoutDescription> read = read_layout_description(description);
    if (!read) {
        return read.error();
    }
    if (local != nullptr && local->name() != read->name) {
        return Error{ErrorCode::IncompatibleLayout, "layout of \"" + std::string(local->name()) +
                                                        "\": the sender describes a \"" +
                                                        shortened(read->name) + "\""};
    }
    auto layout = CompatibleLayoutBuilder(registry, local, *read, resource).build();
    if (!layout || policy == LayoutPolicy::SkipUnknown) {
        return layout;
    }
    const std::string name = shortened(read->name);
    if (local == nullptr) {
        return Error{ErrorCode::IncompatibleLayout,
                     "layout of \"" + name + "\": the class is not known here"};
    }
    const Vector<std::byte> ours = describe_layout(*local, resource);
    if (!std::equal(ours.begin(), ours.end(), description.begin(), description.end())) {
        const std::span<const std::string> diagnostics = (*layout)->diagnostics();
        return Error{ErrorCode::IncompatibleLayout,
                     diagnostics.empty()
                         ? "layout of \"" + name + "\": order or limits are not the sender's"
                         : diagnostics.front()};
    }
    return layout;
}

}  // namespace replayout
