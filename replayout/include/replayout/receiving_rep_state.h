// SPDX-License-Identifier: MIT
//
// What the receiving side keeps per object: which object each of its references names, and of a
// struct with a NetSerializer that named objects its bits, to read them again.
//
// A reference can arrive before its target, and outlive it. The property then holds null, and this
// table remembers the id, so that the reference binds when the target appears and is named
// correctly meanwhile. Entries are keyed by the path of handles to the leaf; an array that shrinks
// drops those of its tail.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/net_guid.h>
#include <replayout/node_map.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/sending_rep_state.h>

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>

namespace replayout {

class PackageMap;

/// A way down to one leaf: the handle in the object, then in each array on the way.
struct RepPath {
    std::array<std::uint32_t, nesting_depth_max + 1> handles{};  // 0 past the end

    friend constexpr auto operator<=>(const RepPath&, const RepPath&) noexcept = default;
};

/// Elements of one keyed array, as far as this side was told of them. A path goes by an element's
/// slot, which stays while the element is there, wherever it moves.
class KeyedElements {
  public:
    struct Element {
        std::uint64_t key = 0;
        std::int32_t rank = 0;  ///< where order is kept
        std::uint32_t slot = 0;
        /// Where order is kept: its index when the array was sorted last.
        std::uint32_t last_index = 0;
    };

    explicit KeyedElements(MemoryResource* resource)
        : elements_(Allocator<Element>(resource)),
          slot_keys_(Allocator<std::uint64_t>(resource)),
          free_slots_(Allocator<std::uint32_t>(resource)) {}

    /// Null: not known.
    [[nodiscard]] const Element* find(std::uint64_t key) const noexcept;
    /// Null: no element has that slot.
    [[nodiscard]] const Element* find_slot(std::uint32_t slot) const noexcept;
    /// The element with that key; if it is not known it is made, with that rank, at the end of
    /// `made`, where keys ascend. find() knows it once merge() was called.
    [[nodiscard]] Element& at(std::uint64_t key, std::int64_t rank, Vector<Element>& made);
    /// All of `made`, which is empty then, in one pass.
    void merge(Vector<Element>& made);
    /// Forgets those of them that are known; `keys` ascend.
    void erase(std::span<const std::uint64_t> keys);
    /// `index` is one of elements().
    void set_last_index(std::uint32_t index, std::uint32_t last_index) noexcept {
        elements_[index].last_index = last_index;
    }

    /// By ascending key.
    [[nodiscard]] std::span<const Element> elements() const noexcept {
        return {elements_.data(), elements_.size()};
    }

    /// The version at which the array began anew last, in the sender's words; 0: it never did.
    [[nodiscard]] Version restart_version() const noexcept { return restart_version_; }
    void set_restart_version(Version version) noexcept { restart_version_ = version; }

  private:
    Vector<Element> elements_;         // by ascending key
    Vector<std::uint64_t> slot_keys_;  // by slot; of a free one the key that it had
    Vector<std::uint32_t> free_slots_;
    Version restart_version_ = 0;
};

class ReceivingRepState {
  public:
    struct Reference {
        NetGUID guid;
        bool is_mapped = false;  ///< the property holds the object; else null
    };

    /// A value of a NetSerializer, as it was received.
    struct SerializedValue {
        explicit SerializedValue(MemoryResource* resource)
            : guids(Allocator<NetGUID>(resource)), bytes(Allocator<std::byte>(resource)) {}

        Vector<NetGUID> guids;  ///< ids that it named, ascending, each once
        Vector<std::byte> bytes;
        std::uint32_t bit_count = 0;

        /// Whether the value names any of `others` (ascending).
        [[nodiscard]] bool names_any(std::span<const NetGUID> others) const noexcept;
    };

    template <typename Entry>
    using Table = NodeMap<RepPath, Entry>;

    /// What one object may hold.
    struct Limits {
        std::uint32_t references;   ///< references, and ids of kept values
        std::uint32_t value_bytes;  ///< of the bits of kept values
    };

    explicit ReceivingRepState(MemoryResource* resource)
        : keyed_(Allocator<std::pair<std::uint32_t, KeyedElements>>(resource)),
          delta_versions_(Allocator<std::pair<std::uint32_t, Version>>(resource)),
          names_(nullptr, NamesDeleter{resource}) {}

    /// The reference at `path` now names `guid`; null forgets it. What it named before is appended
    /// to `dropped`, if given. False: the table is full.
    [[nodiscard]] bool set_reference(const RepPath& path, Reference reference,
                                     std::uint32_t count_max, Vector<NetGUID>* dropped);

    /// The value at `path` now has these bits, the next `bit_count` of `bits`, and names `guids`
    /// (ascending, each once); none forgets it. What it named before is appended to `dropped`, if
    /// given. False, and nothing changed: too much for the limits.
    [[nodiscard]] bool set_value(const RepPath& path, std::span<const NetGUID> guids,
                                 BitReader bits, std::uint32_t bit_count, const Limits& limits,
                                 Vector<NetGUID>* dropped);

    /// An array ends before the handle at `path`: what lies at or beyond it, at its depth, is gone.
    void truncate(const RepPath& path, std::uint32_t depth, Vector<NetGUID>* dropped);
    /// What lies within the handles `begin` to `end` (not included) of the array at `array` is
    /// gone.
    void forget_element(RepHandle array, std::uint32_t begin, std::uint32_t end,
                        Vector<NetGUID>* dropped);
    /// The elements of the keyed array at `array` with these keys are gone, each of which has so
    /// many handles; `keys` ascend.
    void forget_keyed_elements(RepHandle array, std::span<const std::uint64_t> keys,
                               std::uint32_t handle_count, Vector<NetGUID>* dropped);

    /// Of the keyed array at a handle of the object.
    [[nodiscard]] KeyedElements& keyed_elements(RepHandle array);
    [[nodiscard]] const KeyedElements* find_keyed_elements(RepHandle array) const noexcept;

    /// The number of the delta that the struct at a handle of the object took last; 0: none.
    [[nodiscard]] Version delta_version(RepHandle handle) const noexcept;
    void set_delta_version(RepHandle handle, Version version);
    /// Another sender goes on, of an object that is here already, and counts from the archetype:
    /// the number of each delta is 0 again, though the value is not that of the archetype.
    void carry_over_deltas() noexcept;
    /// It is so of the struct at that handle, which took no delta since.
    [[nodiscard]] bool is_delta_carried_over(RepHandle handle) const noexcept;

    /// Whether any reference or kept value names `guid`.
    [[nodiscard]] bool names(NetGUID guid) const noexcept {
        return names_ != nullptr && names_->counts.find(guid.value) != names_->counts.end();
    }
    /// Appends to `named` those of `guids` (ascending, each once) that a reference or a kept value
    /// names.
    void find_named(std::span<const NetGUID> guids, Vector<NetGUID>& named) const;
    /// What rebind_references() of `guids` (ascending, each once) costs here, in steps of a
    /// DecodeBudget; 0 where nothing names one of them.
    [[nodiscard]] std::size_t rebind_steps(std::span<const NetGUID> guids) const noexcept;

    /// What the reference at `path` names, mapped or not. Null when it is null.
    [[nodiscard]] NetGUID find_reference(const RepPath& path) const noexcept;

    void clear() noexcept;

    /// References and ids of kept values, which Limits::references bounds.
    [[nodiscard]] std::uint32_t reference_count() const noexcept {
        const Names& names = all_names();
        return static_cast<std::uint32_t>(names.references.size()) + names.value_guid_count;
    }
    /// Of the bits of kept values, which Limits::value_bytes bounds.
    [[nodiscard]] std::size_t value_bytes() const noexcept { return all_names().value_bytes; }

    [[nodiscard]] bool has_references() const noexcept {
        return names_ != nullptr && (!names_->references.empty() || !names_->values.empty());
    }
    [[nodiscard]] const Table<SerializedValue>& values() const noexcept {
        return all_names().values;
    }
    [[nodiscard]] const Table<Reference>& references() const noexcept {
        return all_names().references;
    }
    [[nodiscard]] Table<Reference>& edit_references() { return make_names().references; }

  private:
    struct Names {
        explicit Names(MemoryResource* resource)
            : references(resource), values(resource), counts(resource) {}

        Table<Reference> references;
        Table<SerializedValue> values;
        // How many references and kept values name an id.
        NodeMap<std::uint64_t, std::uint32_t> counts;
        std::uint32_t value_guid_count = 0;  // of all values
        std::size_t value_bytes = 0;         // of all values
    };
    struct NamesDeleter {
        MemoryResource* resource;
        void operator()(Names* names) const { Allocator<Names>(resource).delete_object(names); }
    };

    [[nodiscard]] const Names& all_names() const noexcept;
    [[nodiscard]] Names& make_names();
    void add_naming(NetGUID guid) { ++names_->counts[guid.value]; }
    void remove_naming(NetGUID guid);
    void drop_reference(NetGUID guid, Vector<NetGUID>* dropped);
    void drop_value(const SerializedValue& value, Vector<NetGUID>* dropped);
    /// What lies in elements of the keyed array at `array` that are not known.
    void forget_unknown(RepHandle array, const KeyedElements& known, std::uint32_t handle_count,
                        Vector<NetGUID>* dropped);
    /// Erases the entries from `begin` to `end`, both included, whose paths satisfy `is_gone`.
    template <typename IsGone>
    void erase_between(const RepPath& begin, const RepPath& end, const IsGone& is_gone,
                       Vector<NetGUID>* dropped);
    template <typename Value, typename IsGone, typename Drop>
    static void erase_where(Table<Value>& table, const RepPath& begin, const RepPath& end,
                            const IsGone& is_gone, const Drop& drop);

    FlatMap<std::uint32_t, KeyedElements> keyed_;     // by handle of the array
    FlatMap<std::uint32_t, Version> delta_versions_;  // by handle; 0: carried over
    std::unique_ptr<Names, NamesDeleter> names_;      // null: it never named anything
};

}  // namespace replayout
