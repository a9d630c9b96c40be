// SPDX-License-Identifier: MIT
//
// From the bits of a block to an object.
//
// A block is read twice: once to check every count, length, text and run against its limits, then
// to apply it. What fails the first reading has touched nothing.
//
// One order, always: pre_net_receive; all values; the callbacks of fast arrays, and what they lost
// goes; post_net_receive; the notifies (on_rep), in the order of declaration, base first, once per
// property that really changed, or that was received and asks for RepNotify::Always;
// post_rep_notifies. The same order holds when references are bound later. Hooks and notifies may
// do anything to their object; they must not destroy it.
//
// An object in parts is several blocks and one *update*: pre_net_receive runs before the first of
// them, values are written as they arrive, and everything behind the values waits for the last.
// Until then the elements that a keyed array lost are still there.
//
// A caller that receives many objects at once can let notifies wait until all values are written
// (ReceiveContext::waits_to_notify): run_waiting_notifies() then runs post_net_receive, notifies
// and post_rep_notifies of an update.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/change_mask.h>
#include <replayout/package_map.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <string>

namespace replayout {

/// Memory that reading needs and that one reader after another may use.
class ReceiveScratch {
  public:
    explicit ReceiveScratch(MemoryResource* resource);
    ~ReceiveScratch();
    ReceiveScratch(const ReceiveScratch&) = delete;
    ReceiveScratch& operator=(const ReceiveScratch&) = delete;

    /// A part of an object was received, and more is to follow. Until finish_update() this scratch
    /// belongs to that object and its ReceivingRepState, which stays where it is. Whose it is
    /// nobody tells: keep that beside the scratch.
    [[nodiscard]] bool is_update_under_way() const noexcept { return updated_layout_ != nullptr; }
    /// No update is under way, or the one of this state is.
    [[nodiscard]] bool is_free_for(const RepLayout& layout,
                                   const ReceivingRepState& state) const noexcept {
        return !is_update_under_way() || (updated_layout_ == &layout && updated_state_ == &state);
    }
    /// Forgets the update, because its object is gone: nothing more is called.
    void drop_update() noexcept;

    /// Updates whose notifies wait (ReceiveContext::waits_to_notify), in the order in which they
    /// ended. The caller remembers which objects they belong to.
    [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_updates_.size(); }
    /// Forgets them: nothing more is called.
    void drop_waiting() noexcept;

    /// For values that live no longer than the reading of a block. Keeps what it took.
    [[nodiscard]] MemoryResource* resource() noexcept { return &values_; }

  private:
    friend class PropertyReader;
    friend class Rebinder;
    friend class KeyedArrayFinisher;
    friend class KeyedArrayReader;
    friend class NotifyQueue;
    friend class StructReader;
    friend void run_waiting_notifies(ReceiveScratch& scratch, std::size_t place,
                                     const RepLayout& layout, void* object);
    /// What became of an element of a keyed array in this block.
    /// Moved: its rank, whatever else.
    enum class ElementChange : std::uint8_t { Removed, Added, Moved, Changed };
    struct KeyedChange {
        CmdIndex array;
        ElementChange change;
        std::uint64_t key;
    };
    struct KeyPlace {
        std::uint64_t key;
        std::uint32_t index;
    };
    /// An element of a keyed array on its way into the order of ranks.
    struct ElementRank {
        static constexpr std::uint32_t no_index = 0xFFFF'FFFFu;

        std::int64_t rank = 0;
        std::uint32_t index = 0;               ///< where it lies
        std::uint32_t known_index = no_index;  ///< in KeyedElements::elements(), if it is there

        [[nodiscard]] friend bool operator<(const ElementRank& left,
                                            const ElementRank& right) noexcept {
            return left.rank != right.rank ? left.rank < right.rank : left.index < right.index;
        }
    };
    struct PreviousValue {
        std::uint32_t parent_index;  // of a C array its first
        bool is_changed;
        std::byte* value;
        // The layout may be gone before an update that nobody ended.
        void (*destroy)(void* value);
        std::uint32_t size;   // of one
        std::uint32_t count;  // more than one: of a C array
        std::uint32_t alignment;
    };

    /// What a block brings of one leaf: of an array that may be cut, which elements, by place or by
    /// key.
    struct LeafSpan {
        std::uint32_t handle = 0;
        bool may_go_on = false;  ///< an array that goes on where a part before it ended
        bool has_elements = false;
        std::uint64_t array_count = 0;  ///< elements that the array has; keyed: 0
        std::uint64_t first = 0;
        std::uint64_t last = 0;

        void add(std::uint64_t element) noexcept {
            first = has_elements ? first : element;
            last = element;
            has_elements = true;
        }
        /// It can stand behind `before` in one update.
        [[nodiscard]] bool follows(const LeafSpan& before) const noexcept;
    };

    /// An update that is written, and whose notifies have not run.
    struct WaitingUpdate {
        const RepLayout* layout;
        std::size_t value_begin;  ///< of waiting_values_
        std::size_t value_end;
        bool has_parts;
    };

    static void destroy(std::pmr::memory_resource& values, const PreviousValue& entry) noexcept;
    /// The notifies of the update under way run later.
    void put_off(const RepLayout& layout);
    [[nodiscard]] PreviousValue* find_previous_value(std::uint32_t parent_index) noexcept;
    /// The notify of that property runs, if it has one.
    void mark_changed(const RepLayout& layout, ParentIndex parent) noexcept;
    /// What earlier parts of the update did to an element of a keyed array; null: nothing.
    [[nodiscard]] const KeyedChange* find_earlier_change(CmdIndex array,
                                                         std::uint64_t key) const noexcept;
    /// Fills places_ with the elements of the keyed array at `array`, by key.
    void collect_places(const RepLayoutCmd& cmd, const std::byte* array);
    /// Whether they did anything to the array.
    [[nodiscard]] bool has_earlier_change(CmdIndex array) const noexcept;
    /// One change for each element: gone, or else new, or else changed. By array and key. Returns
    /// the index from which on they were sorted again, at most that of the first that this part
    /// brought.
    std::size_t sort_keyed_changes();
    void sort_previous_values();
    /// Keeps what a part brought, sorted, for the parts to come.
    void end_part();
    /// Array steps of a DecodeBudget.
    static constexpr std::size_t update_end_steps_max = 100'000;
    /// Whether the update is to end before a block that puts off so much more to its end.
    [[nodiscard]] bool must_end_before(std::size_t steps) const noexcept {
        return held_steps_ > 0 && held_steps_ + steps > update_end_steps_max;
    }

    // One block is much like the one before: its values fit where that one's were.
    std::pmr::unsynchronized_pool_resource values_;
    ChangeMask handles_;
    Vector<ChangeMask> elements_;  // by depth
    Vector<std::byte> text_;
    Vector<NetGUID> guids_;              // that one value names
    Vector<std::uint32_t> struct_bits_;  // lengths of the structs of a block, in order
    std::size_t next_struct_ = 0;        // that is to be applied
    // Of the update. What earlier parts brought comes first.
    Vector<PreviousValue> previous_values_;
    Vector<KeyedChange> keyed_changes_;
    Vector<PreviousValue> waiting_values_;  // of waiting_updates_
    Vector<WaitingUpdate> waiting_updates_;
    std::size_t earlier_value_count_ = 0;
    std::size_t sorted_value_count_ = 0;    // of previous_values_, from the first on: by parent
    std::size_t earlier_change_count_ = 0;  // these are sorted
    std::size_t held_steps_ = 0;            // what earlier parts put off to the end
    const ReceivingRepState* updated_state_ = nullptr;
    const RepLayout* updated_layout_ = nullptr;     // null: no update is under way
    LeafSpan last_span_;                            // of the last part
    Vector<KeyPlace> places_;                       // of one keyed array, by ascending key
    Vector<std::uint64_t> named_keys_;              // of one: those removed, or those of a full set
    Vector<std::uint64_t> gone_keys_;               // likewise: to be forgotten
    Vector<KeyedElements::Element> made_elements_;  // likewise: not known before
    Vector<std::uint32_t> element_indices_;         // likewise
    Vector<ElementRank> ranks_;                     // of one, in the array's order, then by rank
    Vector<ElementRank> moved_ranks_;               // those of them that are out of order
};

struct ReceiveContext {
    PackageMap& package_map;
    ReceiveScratch& scratch;
    std::uint32_t references_max = 4'096;  ///< of one object, ids in kept values included
    /// Ids that references of this object were set to, and ids that they named before; appended. An
    /// id can be in both. May be null.
    Vector<NetGUID>* named = nullptr;
    Vector<NetGUID>* dropped = nullptr;
    /// The block must end where the reader does, or it is malformed.
    bool must_fill_reader = false;
    /// The block is a part, and not the last one of its update: notifies wait. Ends with the next
    /// block of the object that is not so marked, with finish_update() or with rebind_references().
    /// A block that does not go on behind the last one, in handles or in the elements of an array,
    /// ends the update before it is applied, so within one nothing is written twice. So does one
    /// with which the end would cost more than 100,000 steps (DecodeBudget::array_steps): to bring
    /// a keyed array of 2,048 elements into order is 80,000. A peer that never ends an update holds
    /// no more than the values before it, and 12,500 changes of elements (16 bytes each) beside
    /// those of one block.
    bool more_parts_follow = false;
    /// post_net_receive, notifies and post_rep_notifies wait for run_waiting_notifies().
    bool waits_to_notify = false;
    /// Of one object: bits of structs with a NetSerializer that name objects, kept to be read
    /// again.
    std::uint32_t kept_bytes_max = 1024 * 1024;
    /// Set when a limit was reached: a reference is null, whatever it should name, and a struct
    /// that names objects stayed as it was.
    bool has_too_many_references = false;
    /// Values that their own type would not take (StringOps::assign); they stayed as they were.
    std::uint64_t values_refused = 0;
    /// Values of which net_serialize said that it failed (ok = false).
    std::uint64_t values_failed = 0;
    /// Values of which net_serialize said that they are not fully mapped.
    std::uint64_t values_unmapped = 0;
    /// Is told of the last value that failed, in a sentence that may hold anything; for who logs
    /// what peers cause in a way of his own. Null: it is logged.
    std::string* failure = nullptr;
};

/// Reads one block, which ends at a byte boundary, and applies it to `object`, of the layout's
/// type. False: the block is malformed, the reader has failed, and neither object nor state was
/// touched. While an update of another object is under way in the scratch of `context`, the block
/// is refused, as a mistake of the caller, and skipped.
[[nodiscard]] bool receive_properties(const RepLayout& layout, BitReader& reader, void* object,
                                      ReceivingRepState& state, ReceiveContext& context);

/// Ends the update under way, if there is one, with what has arrived of it: `object` and `state`
/// are those that it is of; with another state the call is refused. For a last part that was lost.
void finish_update(const RepLayout& layout, void* object, ReceivingRepState& state,
                   ReceiveContext& context);

/// Runs the notifies of the waiting update `place`, which is below waiting_count(). `layout` and
/// `object` are those of the update (`layout` is asserted). Call it once for each update, in order,
/// and then drop_waiting().
void run_waiting_notifies(ReceiveScratch& scratch, std::size_t place, const RepLayout& layout,
                          void* object);

/// Reads one block and throws it away, with the same checks: for an object that does not exist
/// here.
[[nodiscard]] bool skip_properties(const RepLayout& layout, BitReader& reader,
                                   ReceiveContext& context);

/// The object behind `guid` appeared (`target` not null) or vanished (null), and the package map
/// answers so already: every reference of `object` that names it is set, every value of a
/// NetSerializer that named it is read again from its bits, and notifies and hooks run; those of an
/// update under way with them, because a value that waits to be told may name what vanishes.
/// Returns the number of references and values that changed.
std::uint32_t rebind_references(const RepLayout& layout, void* object, ReceivingRepState& state,
                                NetGUID guid, ObjectHandle target, ReceiveContext& context);

}  // namespace replayout
