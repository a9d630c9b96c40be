// SPDX-License-Identifier: MIT
//
// What the sending side keeps per object, once for all connections: the shadow, the version of each
// property's last change, the history of changes, and the shared buffer. Compared at most once a
// tick.
//
//     ChangelistState pawn_state(*layout, resource);
//     pawn_state.update(&pawn, package_map, counters);    // tick: compare once
//     for each receiver:                                  // and then per receiver
//         pawn_state.collect_owed(position, owed);
//         if (owed.any()) {
//             block = send_properties(pawn_state, position, owed, writer, context);
//         }
//
// What a receiver's position is, and what has to be remembered of each block until its fate is
// known, is ready to use in object_replicator.h. One thread at a time may call what is not const.
#pragma once

#include <replayout/changelist_history.h>
#include <replayout/object_conditions.h>
#include <replayout/owed_versions.h>
#include <replayout/package_map.h>
#include <replayout/prefetch.h>
#include <replayout/previous_values.h>
#include <replayout/rep_layout.h>
#include <replayout/replication_counters.h>
#include <replayout/shadow_state.h>
#include <replayout/shared_serialization.h>

#include <span>

namespace replayout {

class ChangelistState {
  public:
    /// The shadow starts as the layout's archetype, so the first update finds what differs from it.
    /// Layout and resource must outlive the state.
    ChangelistState(const RepLayout& layout, MemoryResource* resource);
    ChangelistState(const ChangelistState&) = delete;
    ChangelistState& operator=(const ChangelistState&) = delete;

    /// Compares `object`, of the layout's type, with the shadow; if anything differs, the version
    /// grows by one. Returns whether it did. Push based properties are compared if they are marked,
    /// which ends the mark; where nothing is_due(), the object is not looked at.
    bool update(const void* object, PackageMap& package_map, ReplicationCounters& counters);

    /// The same of an object of which it is known that it differs (find_changed()).
    bool update_changed(const void* object, PackageMap& package_map, ReplicationCounters& counters);

    /// What is known of an object that is compared.
    enum class Known : std::uint8_t {
        Nothing,
        Differs,         ///< update_changed() is due, as find_changed() says
        LongRunsDiffer,  ///< and nothing else does (Findings::long_runs)
    };
    /// State and object are on loan for the call.
    struct ToUpdate {
        ChangelistState* state = nullptr;
        const void* object = nullptr;
        Known known = Known::Nothing;
    };
    /// Updates those of `objects`, at most 64, of which a few words side by side changed, all of
    /// them, and nothing else did, as of most that change. Returns which these are (bit i: object
    /// i). With the others nothing was done: update() or update_changed() is still due.
    [[nodiscard]] static std::uint64_t update_few_words(std::span<const ToUpdate> objects,
                                                        ReplicationCounters& counters);

    /// Hints that an update() follows in some steps of a walk: first about the state itself, then,
    /// some steps later, about what that leads to.
    [[gnu::always_inline]] void prefetch_state() const noexcept { prefetch(this, hot_bytes()); }
    /// Hints that the block of the newest version is written in some steps: likewise.
    [[gnu::always_inline]] void prefetch_newest_state() const noexcept {
        prefetch(this, hot_bytes() + sizeof(Version));
    }
    [[gnu::always_inline]] void prefetch_values() const noexcept {
        replayout::prefetch(shadow_.buffer().data(), layout_->root().shadow_size);
        if (is_compared_whole_ && layout_->scan_plan() == nullptr) {
            return;  // most did not change; of those that are scanned all did
        }
        replayout::prefetch(last_changed_.data(), last_changed_.size() * sizeof(Version));
        previous_.prefetch();
        history_.prefetch();
    }

    /// A push based property (or one element of a C array) may have changed: the next update
    /// compares it. A mark without a change sends nothing. All are marked at first. Nothing for any
    /// other property, which is compared in every update.
    void mark_dirty(ParentIndex parent) noexcept {
        // Without a bit of its own it is polled, or none of this layout.
        if (parent.value >= due_.bit_count()) [[unlikely]] {
            refuse_mark(parent);
        } else if (layout_->parents()[parent.value].is_push_based) {
            due_.set(parent.value);
            is_marked_ = true;
        }
    }
    void mark_all_dirty() noexcept;
    /// The next update counts what Identical tolerates as changed, in properties with
    /// Property::sent_within_us; of these, push based ones are marked. For who keeps the time:
    /// call it when the object has_tolerated() something for so long (RepLayout::sent_within_us()).
    /// Nothing where there is no such property.
    void mark_exact() noexcept;
    /// In the last update something differed in such a property, and Identical tolerated it.
    [[nodiscard]] bool has_tolerated() const noexcept { return has_tolerated_; }
    /// Some reference was not asked since PackageMap::binding_count() became `binding_count`, so it
    /// may mean another object than it did. A scan does not find that; update() does.
    [[nodiscard]] bool has_unasked_references(std::uint64_t binding_count) const noexcept {
        return binding_count_ != binding_count && layout_->has_references();
    }
    /// There are marks, or a switch is to take effect.
    [[nodiscard]] bool is_marked() const noexcept { return is_marked_; }
    /// Whether the next update has anything to compare.
    [[nodiscard]] bool is_due() const noexcept { return is_marked_ || layout_->is_polled(); }

    /// What it takes to find out that update() would find nothing, and needs not be called. Without
    /// a plan: only update() knows. Valid until set_active(), after which there is no plan.
    [[nodiscard]] ScannedObject scanned() const noexcept {
        return {is_compared_whole_ ? layout_->scan_plan() : nullptr, shadow_.buffer()};
    }

    /// Finds forgotten marks: makes `missed` the set of properties (bit i: ParentIndex i) of which
    /// `object` holds another value than was compared last, and the next update would not see it:
    /// push based ones that are not marked, and those with a fast array in which something is not.
    /// A debugging aid that costs a comparison, and changes nothing.
    void find_missed_marks(const void* object, ChangeMask& missed) const;

    /// Where update() ran over a map that answered `placeholder` for objects that it had no id for:
    /// gives them their ids, in the order in which update() would have asked for them, before
    /// anything is sent. Of a layout with references in keyed arrays that order is another.
    void name_references(NetGUID placeholder, PackageMap& package_map);

    /// 0: equal to the archetype so far.
    [[nodiscard]] Version version() const noexcept { return version_; }
    /// 0: never changed.
    [[nodiscard]] Version last_changed(RepHandle handle) const noexcept {
        return last_changed_[handle.value - 1];
    }

    /// The same of all handles; entry i is that of handle i + 1.
    [[nodiscard]] std::span<const Version> last_changed() const noexcept {
        return {last_changed_.data(), last_changed_.size()};
    }

    /// Whether losses after the version `oldest` are kept apart by version (LostParts::add()): a
    /// keyed array has changed since, or began anew (OwedVersions::restart_version). O(keyed
    /// arrays).
    [[nodiscard]] bool keeps_versions_apart(Version oldest,
                                            Version restart_version) const noexcept {
        for (const RepHandle handle : layout_->keyed_handles()) {
            if (last_changed(handle) > oldest || restart_version > oldest) {
                return true;
            }
        }
        return false;
    }

    /// Whether that receiver must be sent the value. The same as a bit of collect_owed().
    [[nodiscard]] bool owes(const OwedVersions& position, RepHandle handle) const noexcept;

    /// Whether it makes a difference to a receiver that was sent everything up to `sent_version`
    /// that it is exact; see OwedVersions::is_exact.
    [[nodiscard]] bool is_any_back(Version sent_version) const noexcept {
        return previous_.is_any_back(sent_version);
    }

    /// Makes `owed` the set of handles (bit i: handle i + 1) that a receiver at this position must
    /// be sent. Exact: a handle is in it when its last change, or that of an element leaf, is owed.
    /// Nobody asks for conditions here: a layout that has any (RepLayout::conditions) needs the
    /// overload below, or what is its owner's goes to all.
    void collect_owed(const OwedVersions& position, ChangeMask& owed) const;
    /// The same for a receiver that meets `passing` (passing_conditions()): without what it may not
    /// see.
    void collect_owed(const OwedVersions& position, LifetimeConditionSet passing,
                      ChangeMask& owed) const;

    /// The same for a receiver that was sent everything up to the version before the present one,
    /// and lost nothing: what changed last. Nobody asks for conditions. Requires a version, and a
    /// layout of which what is owed depends on versions alone (RepLayout::needs_held_version).
    void collect_newest(ChangeMask& owed) const;
    /// The same of an object with at most 64 handles, as one word.
    [[nodiscard]] std::uint64_t newest() const noexcept { return history_.newest(); }

    /// The value goes once more to a receiver that was sent everything up to `sent_version`: what
    /// counts as lost for that (SendingRepState::return_unsent). Of an array it may be any element,
    /// so all that was sent of it. Empty: nothing was sent.
    [[nodiscard]] VersionInterval versions_to_repeat(RepHandle handle,
                                                     Version sent_version) const noexcept;

    /// A pivot is a version at which elements of a keyed array came or went, or a value of an
    /// atomic group changed. Receivers that were sent the same, and of which each holds the last
    /// pivot for certain, or none of them does, are owed the same. Not of a layout with groups of
    /// arrays (RepLayout::has_groups_of_arrays). O(keyed arrays, and values in groups).
    struct Pivots {
        Version newest = 0;  ///< 0: there is none
        Version before = 0;  ///< the last one before it, as far as that makes a difference now
    };
    [[nodiscard]] Pivots pivots() const noexcept;

    /// A receiver at `position` is to be sent these values in parts, and a keyed array among them
    /// might become more than it takes: then all of the object's begin anew for it, now
    /// (OwedVersions::restart_version).
    [[nodiscard]] bool must_restart_arrays(const OwedVersions& position,
                                           const ChangeMask& handles) const noexcept;
    /// Calls `visit` with a LostPart for each keyed array of which something was sent to a receiver
    /// that was sent everything up to `sent_version`: what counts as lost where they begin anew.
    template <typename Visitor>
    void for_each_restarted(Version sent_version, Visitor visit) const {
        for (std::uint32_t bit = 0; bit < layout_->handle_count(); ++bit) {
            const Version last_changed = last_changed_[bit];
            if (last_changed != 0 && last_changed <= sent_version && is_keyed(RepHandle{bit + 1})) {
                visit(LostPart{{last_changed - 1, sent_version}, RepRange::of(RepHandle{bit + 1})});
            }
        }
    }

    /// Receivers with the same key are sent the same block. Of a position without lost_parts:
    /// nobody else has the same.
    [[nodiscard]] SharedSerialization::PayloadKey payload_key(
        const OwedVersions& position, LifetimeConditionSet passing) const noexcept {
        return {version_, position, passing & layout_->conditions()};
    }

    /// Conditions of this object's properties.
    [[nodiscard]] const ObjectConditions& conditions() const noexcept { return conditions_; }
    /// See ObjectConditions::set_active. A push based property that is switched on is marked, so a
    /// change while it was off needs none.
    void set_active(ParentIndex parent, bool is_active);
    /// See ObjectConditions::set_dynamic. To receivers that begin to meet it all of the property is
    /// owed: see ObjectConditions::for_each_turned_on.
    void set_dynamic_condition(ParentIndex parent, LifetimeCondition condition);

    [[nodiscard]] const RepLayout& layout() const noexcept { return *layout_; }
    [[nodiscard]] ConstShadowBuffer shadow() const noexcept { return shadow_.buffer(); }
    [[nodiscard]] const ChangelistHistory& history() const noexcept { return history_; }
    [[nodiscard]] const PreviousValues& previous() const noexcept { return previous_; }
    [[nodiscard]] SharedSerialization& shared() noexcept { return shared_; }
    [[nodiscard]] const SharedSerialization& shared() const noexcept { return shared_; }

  private:
    class FewWords;
    class MarkedWords;
    class ScannedWords;

    [[nodiscard]] bool is_keyed(RepHandle handle) const noexcept {
        return layout_->cmd(layout_->cmd_of(layout_->root(), handle)).type ==
               RepLayoutCmdType::KeyedArray;
    }
    [[gnu::cold, gnu::noinline]] void refuse_mark(ParentIndex parent) const noexcept;

    // update() of everything: where all is one long run, and of several.
    bool update_long_run(const CompareRun& run, const void* object, PackageMap& package_map,
                         ReplicationCounters& counters);
    bool update_runs(const void* object, PackageMap& package_map, ReplicationCounters& counters);
    /// The same from a run on that differs, and maybe some more, where none is to be left out.
    /// `changed`: handles that were updated already.
    bool update_differing(const CompareRun* run, std::uint64_t changed, const void* object,
                          PackageMap& package_map, ReplicationCounters& counters);
    /// Words of a run that differ become what they are in the object. Returns their handles.
    [[nodiscard]] std::uint64_t update_run(const ScanPlan::WordRun& run, ConstObjectBuffer object);
    /// Of a run that differs: false, and nothing done, if something else than words of it does.
    [[nodiscard]] bool update_words_of(const CompareRun& run, ConstObjectBuffer object,
                                       std::uint64_t& changed);
    bool update_from(std::uint32_t run_start, const void* object, PackageMap& package_map,
                     ReplicationCounters& counters);
    /// Nothing is to be compared but marked properties of four bytes each, and nothing is switched.
    [[nodiscard]] bool is_only_words_due() const noexcept {
        return is_marked_ && !has_switches_ && layout_->word_parents() != 0 &&
               (due_.words().front() & ~layout_->word_parents()) == 0;
    }
    /// update() of these.
    bool update_words(const void* object, ReplicationCounters& counters);
    bool update_word_runs(const void* object, ReplicationCounters& counters);
    void end_word_marks() noexcept;
    /// These changed, so many.
    void note_words(std::uint64_t changed, std::uint32_t count, ReplicationCounters& counters);
    [[nodiscard]] const CompareRun* runs_end() const noexcept {
        return layout_->runs().data() + layout_->root().run_end;
    }
    /// The first run from `run` on that is not known to be equal; runs_end(): all are equal.
    [[nodiscard]] const CompareRun* find_differing(const CompareRun* run,
                                                   ConstObjectBuffer object) const;
    /// False: the run differs, or only compare_properties() can tell. The second: of a run without
    /// a size.
    [[nodiscard]] bool is_equal_run(const CompareRun& run, ConstObjectBuffer object) const;
    [[nodiscard]] bool is_equal_leaf(const CompareRun& run, ConstObjectBuffer object) const;
    void note_changes(ReplicationCounters& counters);
    void finish_changes();

    /// Of what follows, as far as shared_ begins.
    [[gnu::always_inline]] std::size_t hot_bytes() const noexcept {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&shared_) -
                                        reinterpret_cast<const std::byte*>(this));
    }

    // First what is read of an object that did not change: one line of memory. Then what is read of
    // one that did.
    const RepLayout* layout_;
    ShadowState shadow_;
    Version version_ = 0;
    bool is_compared_whole_;      // no property may be left out, or none has been so far
    bool is_marked_ = true;       // there are marks, or a switch is to take effect
    bool is_over_limit_ = false;  // a value was once; that was logged
    // One byte, so that what is read of an object that did not change stays one line of memory.
    bool has_switches_ : 1 = false;  // set_active() was called once
    bool is_exact_ : 1 = false;      // mark_exact() was called since the last update
    bool has_tolerated_ : 1 = false;
    std::uint64_t binding_count_ = 0;  // PackageMap::binding_count() when all was compared last
    Vector<Version> last_changed_;     // by handle
    ChangeMask due_;  // parents to be compared next; empty where the layout has no parts
    PreviousValues previous_;
    ChangelistHistory history_;
    SharedSerialization shared_;
    ChangeMask changed_;  // clear between updates
    ObjectConditions conditions_;
};

/// Whether anything in an array, its count or a leaf at any depth, last changed at an owed version.
[[nodiscard]] bool owes_array(const RepLayout& layout, CmdIndex array_cmd, const ShadowArray& array,
                              const OwedAt& owed) noexcept;
/// Likewise of one of its elements.
[[nodiscard]] bool owes_element(const RepLayout& layout, CmdIndex array_cmd,
                                const ShadowArray& array, std::uint32_t index,
                                const OwedAt& owed) noexcept;

}  // namespace replayout
