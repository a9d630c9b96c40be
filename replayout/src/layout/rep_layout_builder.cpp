// SPDX-License-Identifier: MIT
#include "rep_layout_builder.h"

#include <replayout/reflection/printable.h>
#include <replayout/shadow_state.h>

#include "compare_run_finder.h"
#include "group_limits.h"
#include "layout_description_reader.h"
#include "plain_leaf_finder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace replayout {

namespace {

[[nodiscard]] RepLayoutCmdType bits_type(std::uint32_t size) noexcept {
    switch (size) {
        case 1:
            return RepLayoutCmdType::Bits8;
        case 2:
            return RepLayoutCmdType::Bits16;
        case 4:
            return RepLayoutCmdType::Bits32;
        default:
            REPLAYOUT_ASSERT(size == 8);
            return RepLayoutCmdType::Bits64;
    }
}

[[nodiscard]] RepLayoutCmdType leaf_type(const Property& property) noexcept {
    switch (property.kind) {
        case PropertyKind::Bool:
            return RepLayoutCmdType::Bool;
        case PropertyKind::BitBool:
            return RepLayoutCmdType::BitBool;
        case PropertyKind::Vector:
        case PropertyKind::Rotator:
            return RepLayoutCmdType::Vector;
        case PropertyKind::Quat:
            return RepLayoutCmdType::Quat;
        case PropertyKind::String:
        case PropertyKind::Name:
            return RepLayoutCmdType::String;
        case PropertyKind::ObjectReference:
            return RepLayoutCmdType::Object;
        default:
            return bits_type(property.size);
    }
}

/// Whether a bool is a byte or a bit in memory is nobody else's business.
[[nodiscard]] std::uint64_t kind_on_wire(const Property& property) noexcept {
    return static_cast<std::uint64_t>(property.kind == PropertyKind::BitBool ? PropertyKind::Bool
                                                                             : property.kind);
}

}  // namespace

void describe_quantisation(const Quantisation& quantisation, Fingerprint& description) {
    description.add("quantised");
    description.add(static_cast<std::uint64_t>(quantisation.form));
    std::uint64_t numbers[3]{};
    const std::uint32_t count = quantisation_numbers(quantisation, numbers);
    for (std::uint32_t i = 0; i < count; ++i) {
        description.add(numbers[i]);
    }
}

class RepLayoutBuilder {
  public:
    RepLayoutBuilder(const Type& type, const RepLayoutOptions& options, MemoryResource* resource)
        : type_(type), options_(options), resource_(resource), layout_(new RepLayout(resource)) {}

    [[nodiscard]] Result<std::unique_ptr<RepLayout>> build() {
        layout_->type_ = &type_;
        layout_->name_ = type_.name();
        layout_->limits_ = options_.limits;
        fingerprint_.add("replayout layout 1");
        fingerprint_.add(type_.name());
        fingerprint_.add(options_.limits.string_bytes_max);
        fingerprint_.add(options_.limits.array_count_max);
        begin_scope(0);
        add_parents(type_, 0);
        add_return(0);
        if (error_.code != ErrorCode::Ok) {
            return error_;
        }
        finish_scopes();
        find_shared_serializers();
        find_whole_handles();
        layout_->scan_plan_.assign(*layout_);
        layout_->fingerprint_ = fingerprint_.digest();
        const Status status =
            make_archetype(*layout_, options_.archetype, resource_, layout_->archetype_);
        if (!status) {
            return status.error();
        }
        return std::move(layout_);
    }

  private:
    /// Where the members of one struct or class are being laid down.
    struct Cursor {
        std::uint16_t scope = 0;
        std::uint32_t object_offset = 0;  ///< of the struct inside the scope's object memory
        std::uint64_t chain = 0;          ///< hash of names and kinds on the way here
        std::string path;                 ///< for messages
        bool is_in_group = false;         ///< within an atomic struct of this scope
        /// Of the array whose elements are laid down, when it is keyed: the key is no leaf.
        const ArrayKey* key = nullptr;
    };

    /// What the layout is to make of the quantisation of a property.
    [[nodiscard]] bool is_quantised(const Property& property) const noexcept {
        return property.quantisation && !options_.is_unquantised;
    }

    [[nodiscard]] std::uint64_t chain_hash(std::uint64_t chain, const Property& property,
                                           std::uint32_t array_index) const {
        Fingerprint description;
        description.add(chain);
        description.add(property.name);
        description.add(kind_on_wire(property));
        description.add(array_index);
        if (is_quantised(property)) {
            describe_quantisation(property.quantisation, description);
        }
        return description.digest().low;
    }

    void add_parents(const Type& type, std::uint32_t object_offset) {
        if (type.base() != nullptr) {
            add_parents(*type.base(), object_offset + type.base_offset());
        }
        for (const Property& property : type.properties()) {
            if (!property.is_replicated) {
                continue;
            }
            for (std::uint32_t index = 0; index < property.array_dim; ++index) {
                add_parent(property, object_offset + property.offset + index * property.size,
                           index);
            }
        }
    }

    void add_parent(const Property& property, std::uint32_t object_offset,
                    std::uint32_t array_index) {
        if (layout_->parents_.size() >= cmd_count_max) {
            fail(ErrorCode::TooManyProperties, property.name, "is one property too many");
            return;
        }
        const auto parent_index = layout_->parents_.size();
        const std::uint32_t first_handle = layout_->scopes_.front().handle_count + 1;
        RepParentCmd parent;
        parent.property = &property;
        parent.object_offset = ObjectOffset{object_offset};
        parent.array_index = array_index;
        parent.condition = property.condition;
        parent.is_push_based = property.is_push_based;
        layout_->has_push_based_ = layout_->has_push_based_ || property.is_push_based;
        layout_->is_polled_ = layout_->is_polled_ || !property.is_push_based;
        add_condition(property.condition);
        parent.cmd_start = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        parent.first_handle = first_handle;
        layout_->parents_.push_back(parent);
        fingerprint_.add(property.name);
        fingerprint_.add(array_index);
        add_property(property,
                     {0, object_offset, chain_hash(0, property, array_index), property.name});
        RepParentCmd& added = layout_->parents_[parent_index];
        added.cmd_end = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        added.handle_count = layout_->scopes_.front().handle_count + 1 - first_handle;
        if (property.sent_within_us != 0 && array_index == 0) {
            add_sent_within(property, added);
        }
    }

    void add_condition(LifetimeCondition condition) {
        LifetimeConditionSet& conditions = layout_->conditions_;
        conditions.insert(condition);
        if (condition == LifetimeCondition::InitialOrOwner) {
            conditions.insert(LifetimeCondition::InitialOnly);  // an owner may be new to it or not
        }
        for (std::size_t i = 0;
             condition == LifetimeCondition::Dynamic && i < lifetime_condition_count; ++i) {
            conditions.insert(static_cast<LifetimeCondition>(i));
        }
    }

    /// Notes the interval of a property with sent_within_us, and refuses one without effect.
    /// `parent` is its command: complete, and the last one so far.
    void add_sent_within(const Property& property, const RepParentCmd& parent) {
        if (!may_tolerate(property)) {
            diagnose("property \"" + property.name +
                     "\" is sent within a time, and nothing in it is a struct with Identical: each "
                     "change that a client can see is sent anyway, so that has no effect");
            return;
        }
        for (std::uint32_t i = parent.cmd_start.value; i < layout_->cmds_.size(); ++i) {
            const RepLayoutCmd& cmd = layout_->cmds_[i];
            if (cmd.type == RepLayoutCmdType::KeyedArray &&
                cmd.property->array_key.fast.has_marks()) {
                fail(ErrorCode::Unsupported, property.name,
                     "is sent within a time, and is a fast array, which says itself what changed");
            }
            if (is_struct(cmd.type) && cmd.property->struct_type->traits().identical != nullptr &&
                cmd.property->struct_type->ops().equal == nullptr) {
                fail(ErrorCode::MissingOperation, property.name,
                     "is sent within a time, and has a struct with Identical and without "
                     "operator==, "
                     "which would tell what that tolerates");
            }
        }
        std::uint32_t& least = layout_->sent_within_us_;
        least = least == 0 ? property.sent_within_us : std::min(least, property.sent_within_us);
    }

    void add_property(const Property& property, const Cursor& cursor) {
        if (error_.code != ErrorCode::Ok) {
            return;
        }
        fingerprint_.add(kind_on_wire(property));
        switch (property.kind) {
            case PropertyKind::Struct:
                add_struct(property, cursor);
                return;
            case PropertyKind::DynamicArray:
            case PropertyKind::Optional:
                add_array(property, cursor);
                return;
            case PropertyKind::ObjectReference:
                add_leaf(property, RepLayoutCmdType::Object,
                         RepLayoutCmdFlags::IsSharedSerialization |
                             RepLayoutCmdFlags::HasObjectReferences,
                         cursor);
                return;
            default:
                add_leaf(property,
                         is_quantised(property) ? RepLayoutCmdType::Quantised : leaf_type(property),
                         RepLayoutCmdFlags::IsSharedSerialization, cursor);
                return;
        }
    }

    void add_struct(const Property& property, const Cursor& cursor) {
        const Type& type = *property.struct_type;
        const StructTraits& traits = type.traits();
        if (traits.has_net_delta_serializer) {
            add_delta_struct(property, cursor);
            return;
        }
        fingerprint_.add(traits.has_net_serializer ? 1 : 0);
        if (traits.has_net_serializer) {
            if (type.ops().construct == nullptr) {
                fail(ErrorCode::MissingOperation, cursor.path,
                     "has a NetSerializer and cannot be default-constructed");
                return;
            }
            fingerprint_.add(type.name());
            add_leaf(property, RepLayoutCmdType::NetSerializeStruct,
                     traits.has_net_shared_serialization ? RepLayoutCmdFlags::IsSharedSerialization
                                                         : RepLayoutCmdFlags::None,
                     cursor);
            return;
        }
        if (traits.has_net_shared_serialization) {
            diagnose(
                "struct \"" + std::string(type.name()) +
                "\" promises NetSharedSerialization without NetSerializer: it is flattened, so the "
                "promise has no effect");
        }
        const std::uint32_t handle_count = layout_->scopes_[cursor.scope].handle_count;
        const std::size_t cmd_start = layout_->cmds_.size();
        const bool is_group = traits.is_atomic && !cursor.is_in_group;
        Cursor members = cursor;
        members.is_in_group = cursor.is_in_group || is_group;
        add_members(type, members);
        if (is_group) {
            add_group(cursor.scope, handle_count, cmd_start);
        }
        if (layout_->scopes_[cursor.scope].handle_count == handle_count) {
            diagnose("struct \"" + std::string(type.name()) +
                     "\" has no replicated member, so nothing of \"" + cursor.path + "\" is sent");
        }
    }

    void add_delta_struct(const Property& property, const Cursor& cursor) {
        const Type& type = *property.struct_type;
        if (cursor.scope != 0) {
            fail(ErrorCode::Unsupported, cursor.path,
                 "has a NetDeltaSerializer inside of an array, where no state is kept for it");
            return;
        }
        if (cursor.is_in_group) {
            fail(ErrorCode::Unsupported, cursor.path,
                 "has a NetDeltaSerializer inside of an atomic struct, which it cannot be owed "
                 "with");
            return;
        }
        if (type.ops().construct == nullptr) {
            fail(ErrorCode::MissingOperation, cursor.path,
                 "has a NetDeltaSerializer and cannot be default-constructed");
            return;
        }
        fingerprint_.add(2);
        fingerprint_.add(type.name());
        add_leaf(property, RepLayoutCmdType::NetDeltaStruct,
                 RepLayoutCmdFlags::IsSharedSerialization, cursor);
        layout_->has_delta_structs_ = true;
    }

    /// The commands from `cmd_start` on are an atomic group, if there are any.
    void add_group(std::uint16_t scope, std::uint32_t handles_before, std::size_t cmd_start) {
        const std::uint32_t handle_count = layout_->scopes_[scope].handle_count;
        const auto& cmds = layout_->cmds_;
        const bool may_exceed_limits = std::any_of(
            cmds.begin() + static_cast<std::ptrdiff_t>(cmd_start), cmds.end(), has_limit);
        if (error_.code == ErrorCode::Ok && handle_count > handles_before) {
            groups_.push_back({scope,
                               {static_cast<std::uint16_t>(handles_before + 1),
                                static_cast<std::uint16_t>(handle_count + 1), may_exceed_limits}});
        }
    }

    void add_members(const Type& type, const Cursor& cursor) {
        if (type.base() != nullptr) {
            Cursor base = cursor;
            base.object_offset += type.base_offset();
            add_members(*type.base(), base);
        }
        for (const Property& property : type.properties()) {
            if (!property.is_replicated) {
                continue;
            }
            for (std::uint32_t index = 0; index < property.array_dim; ++index) {
                fingerprint_.add(property.name);
                fingerprint_.add(index);
                if (KeyLocation{cursor.key, cursor.object_offset + property.offset}.is_of(
                        property)) {
                    continue;  // it goes with each element anyway
                }
                add_property(
                    property,
                    {cursor.scope, cursor.object_offset + property.offset + index * property.size,
                     chain_hash(cursor.chain, property, index), cursor.path + "." + property.name,
                     cursor.is_in_group, cursor.key});
            }
        }
        // Ends the member list, so that members of a nested struct and those after it do not run
        // together.
        fingerprint_.add("end");
    }

    void add_leaf(const Property& property, RepLayoutCmdType type, RepLayoutCmdFlags flags,
                  const Cursor& cursor) {
        if (layout_->cmds_.size() >= cmd_count_max) {
            fail(ErrorCode::TooManyProperties, cursor.path, "is one command too many");
            return;
        }
        RepScope& scope = layout_->scopes_[cursor.scope];
        // The integers of a quantised leaf are put behind all leaves; see
        // lay_out_quantised().
        const ShadowFootprint footprint = is_compared_as_bytes(type)
                                              ? ShadowFootprint{property.size, 1}
                                              : shadow_footprint(type, property);
        const std::uint32_t alignment = footprint.alignment;
        scope.shadow_size = (scope.shadow_size + alignment - 1) / alignment * alignment;
        RepLayoutCmd cmd;
        cmd.object_offset = ObjectOffset{cursor.object_offset};
        cmd.shadow_offset = ShadowOffset{scope.shadow_size};
        cmd.element_size = property.size;
        cmd.checksum = static_cast<std::uint32_t>(cursor.chain);
        cmd.property = &property;
        cmd.end_cmd = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size() + 1)};
        cmd.parent_index = ParentIndex{static_cast<std::uint16_t>(layout_->parents_.size() - 1)};
        cmd.relative_handle = static_cast<std::uint16_t>(++scope.handle_count);
        cmd.type = type;
        cmd.flags = flags;
        layout_->is_fully_shared_ = layout_->is_fully_shared_ && is_shared_whole(cmd);
        layout_->has_references_ = layout_->has_references_ || cmd.type == RepLayoutCmdType::Object;
        layout_->has_net_serialize_structs_ =
            layout_->has_net_serialize_structs_ || cmd.type == RepLayoutCmdType::NetSerializeStruct;
        scope.shadow_size += footprint.size;
        scope.shadow_alignment = std::max(scope.shadow_alignment, alignment);
        const bool has_size = is_plain(type) || type == RepLayoutCmdType::BitBool;
        fingerprint_.add(has_size ? property.size : 0u);
        if (type == RepLayoutCmdType::Quantised) {
            describe_quantisation(property.quantisation, fingerprint_);
        }
        layout_->cmds_.push_back(cmd);
        layout_->element_scopes_.push_back(0);
    }

    void add_array(const Property& property, const Cursor& cursor) {
        const std::size_t array_cmd = layout_->cmds_.size();
        const bool is_keyed = static_cast<bool>(property.array_key);
        if (is_keyed && cursor.scope != 0) {
            fail(ErrorCode::Unsupported, cursor.path, "is a keyed array inside of another array");
            return;
        }
        add_leaf(property, is_keyed ? RepLayoutCmdType::KeyedArray : RepLayoutCmdType::DynamicArray,
                 RepLayoutCmdFlags::IsSharedSerialization, cursor);
        if (error_.code != ErrorCode::Ok) {
            return;
        }
        const Property& element = *property.element;
        const auto scope = static_cast<std::uint16_t>(layout_->scopes_.size());
        layout_->cmds_[array_cmd].element_size = element.size;
        layout_->element_scopes_[array_cmd] = scope;
        begin_scope(scope);
        Cursor elements{scope, 0, chain_hash(cursor.chain, element, 0), cursor.path + "[]"};
        if (is_keyed) {
            layout_->keyed_handles_.push_back(RepHandle{layout_->cmds_[array_cmd].relative_handle});
            elements.key = &property.array_key;
            fingerprint_.add("keyed");
            fingerprint_.add(property.array_key.size);
            fingerprint_.add(static_cast<std::uint64_t>(property.array_key.order));
        }
        add_property(element, elements);
        add_return(scope);
        check_array(property, cursor, scope);
        RepLayoutCmd& cmd = layout_->cmds_[array_cmd];
        cmd.flags = array_flags(array_cmd);
        cmd.end_cmd = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
    }

    void check_array(const Property& property, const Cursor& cursor, std::uint16_t scope) {
        const std::uint64_t element_handles = layout_->scopes_[scope].handle_count;
        if (element_handles == 0) {
            fail(ErrorCode::Unsupported, cursor.path,
                 "is an array whose element has nothing to send");
        }
        if (element_handles * count_max_of(property, options_.limits) > array_handles_max) {
            fail(ErrorCode::TooManyProperties, cursor.path,
                 "is an array whose elements have too many leaves for array_count_max");
        }
    }

    [[nodiscard]] RepLayoutCmdFlags array_flags(std::size_t array_cmd) const noexcept {
        bool is_shared = true;
        bool has_references = false;
        for (std::size_t i = array_cmd + 1; i < layout_->cmds_.size(); ++i) {
            const RepLayoutCmd& cmd = layout_->cmds_[i];
            if (cmd.type != RepLayoutCmdType::Return) {
                is_shared =
                    is_shared && has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
                has_references =
                    has_references || has_flag(cmd.flags, RepLayoutCmdFlags::HasObjectReferences);
            }
        }
        return (is_shared ? RepLayoutCmdFlags::IsSharedSerialization : RepLayoutCmdFlags::None) |
               (has_references ? RepLayoutCmdFlags::HasObjectReferences : RepLayoutCmdFlags::None);
    }

    void add_return(std::uint16_t scope) {
        // What lies behind it must have an index, too.
        if (layout_->cmds_.size() > cmd_count_max) {
            fail(ErrorCode::TooManyProperties, "the end of a list", "is one command too many");
            return;
        }
        RepLayoutCmd cmd;
        cmd.end_cmd = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size() + 1)};
        layout_->cmds_.push_back(cmd);
        layout_->element_scopes_.push_back(0);
        layout_->scopes_[scope].cmd_end =
            CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        fingerprint_.add("return");
    }

    void begin_scope(std::uint16_t scope) {
        RepScope fresh;
        fresh.cmd_start = CmdIndex{static_cast<std::uint16_t>(layout_->cmds_.size())};
        REPLAYOUT_ASSERT(layout_->scopes_.size() == scope);
        layout_->scopes_.push_back(fresh);
    }

    /// The second pass: all commands are there, and what lies side by side in memory is found.
    void finish_scopes() {
        CompareRunFinder compared(layout_->cmds_, layout_->parents_, resource_);
        PlainLeafFinder plain(layout_->cmds_, resource_);
        for (RepScope& scope : layout_->scopes_) {
            layout_->index_handles(scope);
            lay_down_groups(scope);
            compared.add_scope(scope, layout_->groups(scope));
            lay_out_quantised(scope);
            scope.is_contiguous = compared.is_contiguous(scope);
            plain.add_scope(std::span(layout_->handle_cmds_).subspan(scope.first_handle_cmd));
        }
        layout_->only_run_ = compared.only_run(layout_->root());
        layout_->is_polled_ = layout_->is_polled_ || !layout_->has_push_based_;
        compared.assign_parents(layout_->root());
        plain.find_word_parents(layout_->parents_, compared.runs(), layout_->handle_count());
        layout_->runs_ = compared.take_runs();
        layout_->polled_parents_ = compared.take_polled_parents();
        layout_->plain_leaves_ = plain.take_leaves();
        layout_->word_parents_ = plain.word_parents();
        layout_->word_runs_ = plain.take_word_runs();
    }

    void lay_down_groups(RepScope& scope) {
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

    void lay_out_quantised(RepScope& scope) {
        for (std::uint32_t handle = 1; handle <= scope.handle_count; ++handle) {
            RepLayoutCmd& cmd = layout_->cmds_[layout_->cmd_of(scope, RepHandle{handle}).value];
            if (cmd.type == RepLayoutCmdType::Quantised) {
                cmd.shadow_offset = ShadowOffset{scope.shadow_size};
                scope.shadow_size += shadow_footprint(cmd.type, *cmd.property).size;
            }
        }
        scope.shadow_size = (scope.shadow_size + scope.shadow_alignment - 1) /
                            scope.shadow_alignment * scope.shadow_alignment;
    }

    void diagnose(std::string message) {
        auto& diagnostics = layout_->diagnostics_;
        if (std::find(diagnostics.begin(), diagnostics.end(), message) == diagnostics.end()) {
            log(LogLevel::Warning, printable(message));
            diagnostics.push_back(std::move(message));
        }
    }

    void find_whole_handles() {
        const RepScope& root = layout_->root();
        if (root.handle_count > 64) {
            return;
        }
        for (std::uint32_t handle = 1; handle <= root.handle_count; ++handle) {
            const RepLayoutCmd& cmd = layout_->cmd(layout_->cmd_of(root, RepHandle{handle}));
            const bool is_whole = !is_array(cmd.type) && !is_delta(cmd.type) &&
                                  layout_->find_group(root, RepHandle{handle}) == nullptr;
            layout_->whole_handles_ |= std::uint64_t{is_whole} << (handle - 1);
        }
    }

    void find_shared_serializers() {
        const auto& cmds = layout_->cmds_;
        for (std::size_t begin = 0; cmds[begin].type != RepLayoutCmdType::Return;
             begin = cmds[begin].end_cmd.value) {
            const RepLayoutCmd& cmd = cmds[begin];
            const bool has_any =
                std::any_of(cmds.begin() + static_cast<std::ptrdiff_t>(begin),
                            cmds.begin() + cmd.end_cmd.value, [](const RepLayoutCmd& each) {
                                return each.type == RepLayoutCmdType::NetSerializeStruct;
                            });
            const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
            if (has_any && is_shared) {
                layout_->shared_serializer_handles_.push_back(RepHandle{cmd.relative_handle});
            }
            layout_->are_serializers_shared_whole_ =
                layout_->are_serializers_shared_whole_ &&
                (!has_any || (is_shared && cmd.type == RepLayoutCmdType::NetSerializeStruct));
        }
    }

    void fail(ErrorCode code, const std::string& path, const char* reason) {
        if (error_.code == ErrorCode::Ok) {
            error_ = {code,
                      "layout of \"" + std::string(type_.name()) + "\": " + path + " " + reason};
        }
    }

    const Type& type_;
    RepLayoutOptions options_;
    MemoryResource* resource_;
    std::unique_ptr<RepLayout> layout_;
    Fingerprint fingerprint_;
    /// Atomic groups in the order in which they were found, which within a scope ascends.
    std::vector<std::pair<std::uint16_t, RepGroup>> groups_;  // with the scope
    Error error_;
};

Result<std::unique_ptr<RepLayout>> build_layout(const Type& type, const RepLayoutOptions& options,
                                                MemoryResource* resource) {
    return RepLayoutBuilder(type, options, resource).build();
}

}  // namespace replayout
