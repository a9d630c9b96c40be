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
#include <replayout/receive_parts.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <string>

namespace replayout {

/// Memory that reading needs and that one reader after another may use.
class ReceiveScratch {
  public:
    explicit ReceiveScratch(MemoryResource* resource) : parts_(resource) {}
    ReceiveScratch(const ReceiveScratch&) = delete;
    ReceiveScratch& operator=(const ReceiveScratch&) = delete;

    /// A part of an object was received, and more is to follow. Until finish_update() this scratch
    /// belongs to that object and its ReceivingRepState, which stays where it is. Whose it is
    /// nobody tells: keep that beside the scratch.
    [[nodiscard]] bool is_update_under_way() const noexcept { return parts_.update.has_begun(); }
    /// No update is under way, or the one of this state is.
    [[nodiscard]] bool is_free_for(const RepLayout& layout,
                                   const ReceivingRepState& state) const noexcept {
        return parts_.update.is_free_for(layout, state);
    }
    /// Forgets the update, because its object is gone: nothing more is called.
    void drop_update() noexcept { parts_.update.drop(); }

    /// Updates whose notifies wait (ReceiveContext::waits_to_notify), in the order in which they
    /// ended. The caller remembers which objects they belong to.
    [[nodiscard]] std::size_t waiting_count() const noexcept { return parts_.waiting.count(); }
    /// Forgets them: nothing more is called.
    void drop_waiting() noexcept { parts_.waiting.drop(); }

    /// For values that live no longer than the reading of a block. Keeps what it took.
    [[nodiscard]] MemoryResource* resource() noexcept { return &parts_.values; }

  private:
    /// For the functions below, and the readers that they use.
    [[nodiscard]] friend detail::ReceiveParts& parts_of(ReceiveScratch& scratch) noexcept {
        return scratch.parts_;
    }

    detail::ReceiveParts parts_;
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

/// Runs the notifies of the waiting update `number`, which is below waiting_count(). `layout` and
/// `object` are those of the update (`layout` is asserted). Call it once for each update, in order,
/// and then drop_waiting().
void run_waiting_notifies(ReceiveScratch& scratch, std::size_t number, const RepLayout& layout,
                          void* object);

/// Reads one block and throws it away, with the same checks: for an object that does not exist
/// here.
[[nodiscard]] bool skip_properties(const RepLayout& layout, BitReader& reader,
                                   ReceiveContext& context);

/// The objects with these ids (`guids`: ascending, each once) appeared or vanished, and the package
/// map answers so already. Sets every reference of `object` that names one of them, reads every
/// value of a NetSerializer that named one again from its bits, once, and runs notifies and hooks.
/// Those of an update under way run with them, because a value whose notify waits may name an
/// object that vanishes. Returns the number of references and values that changed.
std::uint32_t rebind_references(const RepLayout& layout, void* object, ReceivingRepState& state,
                                std::span<const NetGUID> guids, ReceiveContext& context);

}  // namespace replayout
