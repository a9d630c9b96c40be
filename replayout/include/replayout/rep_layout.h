// SPDX-License-Identifier: MIT
//
// RepLayout: a type, flattened into a list of replication commands. Built once per type, immutable,
// shared by all objects and connections, readable from any thread.
//
//     Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry, *pawn_type);
//     std::cout << dump(**layout);
//
// Both ends must have the same layout; fingerprint() is what they compare.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>
#include <replayout/rep_function.h>
#include <replayout/rep_layout_cmd.h>
#include <replayout/replication_flags.h>
#include <replayout/scan_plan.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {

class ShadowState;

/// What a value may be at most. Part of the agreement between both ends: a sender leaves a larger
/// value out (and counts it), a receiver refuses it.
struct RepLimits {
    std::uint32_t string_bytes_max = 1'024;  ///< of one string or name
    std::uint32_t array_count_max = 2'048;   ///< elements of one dynamic array
};

/// How many elements an array may have, or an optional value.
[[nodiscard]] inline std::uint32_t count_max_of(const Property& array,
                                                const RepLimits& limits) noexcept {
    return array.kind == PropertyKind::Optional ? 1 : limits.array_count_max;
}

struct RepLayoutOptions {
    RepLimits limits;
    /// The object that a fresh one equals on both ends; changes are counted from it. On loan for
    /// the call. Null: a default-constructed one is made, which needs the type's construct and
    /// destroy.
    const void* archetype = nullptr;
    /// Every value travels as it is in memory, whatever its quantisation. Part of the agreement.
    bool is_unquantised = false;
};

/// What to do with a layout of the other side that differs from ours.
enum class LayoutPolicy : std::uint8_t {
    Refuse,       ///< any difference is an error
    SkipUnknown,  ///< what both sides have alike is taken, the rest is read and thrown away
};

class RepLayout {
  public:
    /// Flattens `type`; one without replicated properties is fine, it can still be spawned.
    /// Refused: a registry that is not frozen, more than 65,534 commands or functions, an array of
    /// more than 1,048,576 leaves (leaves of an element x array_count_max), a NetDeltaSerializer
    /// inside of an array or an atomic struct, no archetype.
    [[nodiscard]] static Result<std::unique_ptr<RepLayout>> create(
        const TypeRegistry& registry, const Type& type, const RepLayoutOptions& options = {},
        MemoryResource* resource = std::pmr::get_default_resource());

    /// A layout to read the blocks of another side with, whose layout `description` is (bytes from
    /// a peer; see layout_description.h). Its commands are the sender's. One that `local` has too,
    /// alike in name, kind, nesting and quantisation and within our limits, is applied to objects
    /// of the local type; every other IsSkipped. What `local` has and the sender does not keeps the
    /// value of the archetype. diagnostics() says each of both. Where two leaves of one list cannot
    /// be told apart, neither is taken: nothing is guessed.
    ///
    /// `local` null: the class is not known here, and all is skipped. Structs with a NetSerializer
    /// are found in `registry`. `local` and `registry` must outlive the layout.
    ///
    /// Errors: MalformedDescription; IncompatibleLayout for another class, for a difference under
    /// LayoutPolicy::Refuse, and for a struct with a NetSerializer that is not known here, behind
    /// which nothing could be read.
    [[nodiscard]] static Result<std::unique_ptr<RepLayout>> create_compatible(
        const TypeRegistry& registry, const RepLayout* local,
        std::span<const std::byte> description, LayoutPolicy policy = LayoutPolicy::Refuse,
        MemoryResource* resource = std::pmr::get_default_resource());

    ~RepLayout();
    RepLayout(const RepLayout&) = delete;
    RepLayout& operator=(const RepLayout&) = delete;

    /// Of a layout that has one: not where create_compatible() was given no local layout.
    [[nodiscard]] const Type& type() const noexcept {
        REPLAYOUT_ASSERT(type_ != nullptr);
        return *type_;
    }
    /// The name of the class.
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    /// Made by create_compatible(): only for receive_properties() and its kin. It has no
    /// fingerprint, runs or shadow; its archetype is the local layout's.
    [[nodiscard]] bool is_receive_only() const noexcept { return is_receive_only_; }
    /// That of create(); a receive-only layout has none.
    [[nodiscard]] const TypeRegistry& registry() const noexcept {
        REPLAYOUT_ASSERT(registry_ != nullptr);
        return *registry_;
    }
    [[nodiscard]] const RepLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] std::span<const RepParentCmd> parents() const noexcept { return parents_; }
    [[nodiscard]] std::span<const RepLayoutCmd> cmds() const noexcept { return cmds_; }
    [[nodiscard]] std::span<const CompareRun> runs() const noexcept { return runs_; }
    /// The run that all of the object is compared in; of size 0 where there is no such run.
    [[nodiscard]] const CompareRun& only_run() const noexcept { return only_run_; }
    /// How to find out that nothing of an object changed; null where that takes a compare.
    [[nodiscard]] const ScanPlan* scan_plan() const noexcept {
        return scan_plan_.is_usable() ? &scan_plan_ : nullptr;
    }

    /// The object's own scope.
    [[nodiscard]] const RepScope& root() const noexcept { return scopes_.front(); }
    /// The scope of one element of the array at `array_cmd`.
    [[nodiscard]] const RepScope& element_scope(CmdIndex array_cmd) const noexcept {
        return scopes_[element_scopes_[array_cmd.value]];
    }

    /// The command of a handle, which must be 1 to scope.handle_count.
    [[nodiscard]] CmdIndex cmd_of(const RepScope& scope, RepHandle handle) const noexcept {
        REPLAYOUT_ASSERT(handle.value >= 1 && handle.value <= scope.handle_count);
        return handle_cmds_[scope.first_handle_cmd + handle.value - 1];
    }
    /// Where the run of plain leaves that starts at this handle ends (its own handle where the leaf
    /// is written otherwise), and the bytes of its leaf:
    /// all of a run is one stretch of shadow bytes, and these are their bits on the wire. On a
    /// machine that is not little-endian there are no runs.
    [[nodiscard]] const PlainLeaf& plain_leaf(const RepScope& scope,
                                              RepHandle handle) const noexcept {
        REPLAYOUT_ASSERT(handle.value >= 1 && handle.value <= scope.handle_count);
        return plain_leaves_[scope.first_handle_cmd + handle.value - 1];
    }
    /// Atomic groups of the scope, in ascending order; they do not overlap.
    [[nodiscard]] std::span<const RepGroup> groups(const RepScope& scope) const noexcept {
        return std::span(groups_).subspan(scope.group_start, scope.group_end - scope.group_start);
    }
    /// The group that a leaf belongs to, or null.
    [[nodiscard]] const RepGroup* find_group(const RepScope& scope,
                                             RepHandle handle) const noexcept;

    /// What is owed depends on what has arrived for certain; see OwedVersions::held_version.
    [[nodiscard]] bool needs_held_version() const noexcept {
        return !groups_.empty() || has_keyed_arrays();
    }

    [[nodiscard]] bool has_atomic_groups() const noexcept { return !groups_.empty(); }
    /// Some atomic group has an array in it, or is one of elements of an array.
    [[nodiscard]] bool has_groups_of_arrays() const noexcept { return has_groups_of_arrays_; }
    [[nodiscard]] bool has_keyed_arrays() const noexcept { return !keyed_handles_.empty(); }
    /// The handles of the keyed arrays.
    [[nodiscard]] std::span<const RepHandle> keyed_handles() const noexcept {
        return {keyed_handles_.data(), keyed_handles_.size()};
    }

    /// Some leaf, in an array maybe, is a struct with a NetSerializer: to write it the game is
    /// asked.
    [[nodiscard]] bool has_net_serialize_structs() const noexcept {
        return has_net_serialize_structs_;
    }

    /// Handles of values that the game's serializers write for all receivers alike, ascending: each
    /// is a struct with a shared NetSerializer, or an array that contains such structs and nothing
    /// that is not shared.
    [[nodiscard]] std::span<const RepHandle> shared_serializer_handles() const noexcept {
        return {shared_serializer_handles_.data(), shared_serializer_handles_.size()};
    }
    /// Whether each struct with a NetSerializer is such a value by itself, and none lies in an
    /// array: then every receiver that is sent the value is sent the same bits.
    [[nodiscard]] bool are_serializers_shared_whole() const noexcept {
        return are_serializers_shared_whole_;
    }

    /// Whether any leaf is a reference, in arrays, too.
    [[nodiscard]] bool has_references() const noexcept { return has_references_; }

    /// The handles of which each change sends all of the value, bit 0 for handle 1: those of no
    /// array, no member of an atomic struct and no struct with a NetDeltaSerializer. None where
    /// there are more than 64 handles.
    [[nodiscard]] std::uint64_t whole_handles() const noexcept { return whole_handles_; }

    /// Some property is a struct with a NetDeltaSerializer; its receivers need DeltaStates.
    [[nodiscard]] bool has_delta_structs() const noexcept { return has_delta_structs_; }

    [[nodiscard]] const RepLayoutCmd& cmd(CmdIndex index) const noexcept {
        return cmds_[index.value];
    }

    /// What the sender calls a leaf of a receive-only layout, which must be skipped (IsSkipped); a
    /// peer's text. Empty for an element of an array.
    [[nodiscard]] std::string_view skipped_name(CmdIndex index) const noexcept {
        REPLAYOUT_ASSERT(has_flag(cmd(index).flags, RepLayoutCmdFlags::IsSkipped));
        return skipped_names_[index.value];
    }

    /// The first property of this name (of a C array its first element, which the others follow),
    /// or nothing. For callers that keep the index: O(properties).
    [[nodiscard]] std::optional<ParentIndex> find_parent(std::string_view name) const noexcept;

    /// What can be called remotely; none for a struct, and for a layout that is only received with.
    [[nodiscard]] std::span<const RepFunction> functions() const noexcept { return functions_; }
    /// O(functions).
    [[nodiscard]] std::optional<FunctionIndex> find_function(std::string_view name) const noexcept;
    /// By the key of its C++ function (function_key_of). O(functions).
    [[nodiscard]] std::optional<FunctionIndex> find_function(TypeKey function) const noexcept;

    /// Some property is push based.
    [[nodiscard]] bool has_push_based() const noexcept { return has_push_based_; }
    /// Not all properties are push based, so every object is compared in every tick.
    [[nodiscard]] bool is_polled() const noexcept { return is_polled_; }
    /// Some property may be left out of a compare: it is push based, or of condition Custom.
    [[nodiscard]] bool has_parts() const noexcept { return polled_parents_.bit_count() != 0; }
    /// Parents that are compared in every tick (bit i: ParentIndex i). Of a run of neighbours that
    /// are never left out only the first, whose runs are those of all. Empty without parts.
    [[nodiscard]] const ChangeMask& polled_parents() const noexcept { return polled_parents_; }

    /// Push based parents of one plain leaf of four bytes each (bit i: ParentIndex i): where no
    /// other is marked, an object is compared by the shortest way. Empty where the layout has more
    /// than 64 parents or handles.
    [[nodiscard]] std::uint64_t word_parents() const noexcept { return word_parents_; }
    /// One of these.
    [[nodiscard]] const WordRun& word_run(std::uint32_t parent) const noexcept {
        REPLAYOUT_ASSERT(parent < word_runs_.size() && word_runs_[parent].parent_count > 0);
        return word_runs_[parent];
    }
    /// The name of before, for one version.
    [[nodiscard]] const WordRun& word_row(std::uint32_t parent) const noexcept {
        return word_run(parent);
    }

    /// The least Property::sent_within_us of all; 0: there is none.
    [[nodiscard]] std::uint32_t sent_within_us() const noexcept { return sent_within_us_; }

    /// Handles of the object itself.
    [[nodiscard]] std::uint32_t handle_count() const noexcept { return root().handle_count; }

    /// Conditions that make a difference: two receivers that meet the same ones of these are sent
    /// the same. Trivial when no property has a condition.
    [[nodiscard]] LifetimeConditionSet conditions() const noexcept { return conditions_; }

    /// Every value may be shared and depends on versions alone, so whole blocks may be.
    [[nodiscard]] bool is_fully_shared() const noexcept { return is_fully_shared_; }

    /// Equal on two machines exactly when their layouts mean the same on the wire. Native offsets,
    /// sizes in memory and names of C++ types do not count; property names, kinds and limits do,
    /// and functions with their parameters.
    [[nodiscard]] const Digest128& fingerprint() const noexcept { return fingerprint_; }

    /// What is probably not meant, one sentence each: a trait without effect, for example. Of
    /// create_compatible() at most 64, and then one that says how many more there are.
    [[nodiscard]] std::span<const std::string> diagnostics() const noexcept { return diagnostics_; }

    /// The archetype's values in shadow form.
    [[nodiscard]] const ShadowState& archetype() const noexcept {
        const ShadowState* archetype = archetype_ ? archetype_.get() : local_archetype_;
        REPLAYOUT_ASSERT(archetype != nullptr);
        return *archetype;
    }

  private:
    friend class RepLayoutBuilder;
    friend class CompatibleLayoutBuilder;
    explicit RepLayout(MemoryResource* resource);
    /// Finds the commands of the handles of the scope, whose commands are all there.
    void index_handles(RepScope& scope);

    CompareRun only_run_;  // a copy: one look fewer for each object
    const TypeRegistry* registry_ = nullptr;
    const Type* type_ = nullptr;
    std::string name_;
    RepLimits limits_;
    std::pmr::vector<RepParentCmd> parents_;
    std::pmr::vector<RepLayoutCmd> cmds_;
    std::pmr::vector<RepScope> scopes_;
    std::pmr::vector<std::uint16_t> element_scopes_;  // by command; 0 where the command is no array
    std::pmr::vector<CmdIndex> handle_cmds_;
    std::pmr::vector<PlainLeaf> plain_leaves_;  // in the order of handle_cmds_
    std::pmr::vector<CompareRun> runs_;
    ScanPlan scan_plan_;
    std::pmr::vector<RepGroup> groups_;  // by scope
    std::pmr::vector<RepHandle> keyed_handles_;
    std::pmr::vector<RepHandle> shared_serializer_handles_;
    bool are_serializers_shared_whole_ = true;
    std::pmr::vector<std::string> diagnostics_;
    std::pmr::vector<RepFunction> functions_;
    std::pmr::deque<Property> skipped_properties_;  // what commands that are skipped refer to
    std::pmr::vector<std::string> skipped_names_;   // by command; of a receive-only layout
    Digest128 fingerprint_;
    std::unique_ptr<ShadowState> archetype_;
    const ShadowState* local_archetype_ = nullptr;  // of a layout that is only received with
    LifetimeConditionSet conditions_;
    bool has_groups_of_arrays_ = false;
    bool is_fully_shared_ = true;
    bool has_net_serialize_structs_ = false;
    bool has_references_ = false;
    std::uint64_t whole_handles_ = 0;
    bool has_delta_structs_ = false;
    std::uint32_t sent_within_us_ = 0;
    ChangeMask polled_parents_;
    std::uint64_t word_parents_ = 0;
    std::pmr::vector<WordRun> word_runs_;  // by parent; empty where word_parents_ is
    bool has_push_based_ = false;
    bool is_polled_ = false;
    bool is_receive_only_ = false;
};

/// A listing of commands, handles and flags for people.
[[nodiscard]] std::string dump(const RepLayout& layout);

}  // namespace replayout
