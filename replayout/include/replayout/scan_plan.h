// SPDX-License-Identifier: MIT
//
// How to tell, of many objects one after another, those that did not change: where most are looked
// at in every tick and few change, that is what polling costs. A plan is one list of offsets for a
// class, made with its layout, so nothing is decided for an object. Bytes, bits and plain
// references are compared without a call. Arrays, structs with a NetSerializer, and values that
// only the game can read are compared through their command:
//
//     object   [ px py pz qx ... health state |gap| ammo owner   name ]
//              |-16 bytes-|-16 bytes-|            |-4-|           text
//                              |-16 bytes-|         |-4-|
//     shadow   [ px py pz qx ... health state ammo owner   name ]
//
// They may lie over one another, so that no byte is read that is not compared: padding never
// counts, and members that are not replicated are the game's alone.
#pragma once

#include <replayout/data_buffer.h>
#include <replayout/prefetch.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>
#include <replayout/rep_layout_cmd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace replayout {

class RepLayout;
struct ScannedObject;

class ScanPlan {
  public:
    /// A run of so many bytes or more is long.
    static constexpr std::uint32_t chunk_bytes = 16;

    /// What a scan finds of at most 64 objects: bit i is set where it is true of object i.
    struct Findings {
        std::uint64_t changed = 0;    ///< some value differs from the shadow
        std::uint64_t long_runs = 0;  ///< and all that do lie in long runs
    };

    explicit ScanPlan(MemoryResource* resource);

    /// Makes it the plan of a layout that has all its runs.
    void assign(const RepLayout& layout);
    /// Whether the layout can be scanned. False if it has a keyed array, or a property with
    /// `sent_within_us` whose Identical tolerates differences; update() compares those objects.
    /// A scan compares the handle of a reference, not which object has it.
    [[nodiscard]] bool is_usable() const noexcept { return is_usable_; }

    /// Some leaves are compared through their command, so a scan costs about as much as update().
    [[nodiscard]] bool asks_leaves() const noexcept { return !leaves_.empty(); }

    /// Whether each value of the object is what its shadow holds. Requires a plan that is usable.
    [[nodiscard]] bool is_same(const void* object, ConstShadowBuffer shadow) const noexcept;

    /// Leaves of four bytes side by side, the first that there are: where anything changed, it is
    /// mostly some of these.
    struct WordRun {
        ObjectOffset object_offset;
        ShadowOffset shadow_offset;
        std::uint32_t handle = 0;
        std::uint32_t count = 0;  ///< from 4 to 64; 0: there is no such row
    };
    [[nodiscard]] const WordRun& word_run() const noexcept { return word_run_; }
    using WordRow = WordRun;  ///< the name of before, for one version
    /// Likewise.
    [[nodiscard]] const WordRun& word_row() const noexcept { return word_run_; }

    /// is_same() is asked soon.
    [[gnu::always_inline]] void prefetch(const void* object,
                                         ConstShadowBuffer shadow) const noexcept {
        // Of most that is all of it; what lies in the middle of long ones the machine guesses.
        const auto* const bytes = static_cast<const std::byte*>(object);
        replayout::prefetch(bytes + object_begin_, 1);
        replayout::prefetch(bytes + object_last_, 1);
        replayout::prefetch(shadow.data(), 1);
        replayout::prefetch((shadow + shadow_last_).data(), 1);
    }

  private:
    /// Bytes that are compared together: where they lie.
    struct Offsets {
        std::uint32_t object_offset;
        std::uint32_t shadow_offset;
    };
    /// Plain references side by side, in the object and in the shadow: where the first lies.
    struct ReferenceRun {
        Offsets begin;
        std::uint32_t count;
    };
    struct Bit {
        Offsets at;
        std::uint8_t mask;
    };
    struct Text {
        Offsets at;
        const StringOps* ops;  ///< null: it is a std::string
    };
    /// A leaf that is compared through its command.
    struct Leaf {
        const RepLayout* layout;
        CmdIndex cmd;
    };

    void add(const CompareRun& run, const RepLayout& layout);
    void find_word_run(const CompareRun& run, const RepLayout& layout);
    void find_short_form();
    /// Takes what is side by side out of `longs_`.
    void find_reference_runs();
    void add_bytes(Offsets begin, std::uint32_t size);
    /// Not zero: some of the rarer values differ.
    [[gnu::noinline]] [[nodiscard]] std::uint64_t difference_of_small(
        const std::byte* object, const std::byte* shadow) const noexcept;
    [[nodiscard]] inline bool is_same_text(const Text& text, const std::byte* object,
                                           ConstShadowBuffer shadow) const noexcept;
    /// Whether all of `leaves_` are what the shadow holds. Calls the game's code.
    [[gnu::noinline]] [[nodiscard]] bool are_same_leaves(const std::byte* object,
                                                         ConstShadowBuffer shadow) const;
    enum class Found : std::uint8_t { Same, LongRuns, Other };
    [[nodiscard]] inline Found find(const std::byte* object,
                                    ConstShadowBuffer shadow) const noexcept;
    /// Looks at those of `bits`, from the lowest on, that have this plan, and adds what it finds.
    /// Returns the bits from the first that has another plan on.
    [[nodiscard]] std::uint64_t find_any(const ScannedObject* scanned, const void* const* objects,
                                         std::uint64_t bits, Findings& findings) const noexcept;
    /// The same where the plan is simple.
    [[nodiscard]] std::uint64_t find_simple(const ScannedObject* scanned,
                                            const void* const* objects, std::uint64_t bits,
                                            Findings& findings) const noexcept;
    friend Findings find_changed(const ScannedObject* scanned, const void* const* objects,
                                 std::uint64_t bits) noexcept;

    std::pmr::vector<Offsets> chunks_;  // of sixteen bytes
    std::pmr::vector<Offsets> words_;   // of four
    std::pmr::vector<Text> texts_;
    std::pmr::vector<Leaf> leaves_;
    std::pmr::vector<Offsets> longs_;  // of eight
    std::pmr::vector<ReferenceRun> reference_runs_;
    std::pmr::vector<Offsets> bytes_;  // of one
    std::pmr::vector<Bit> bits_;
    bool has_small_ = false;  // runs, bits_, or longs_ or bytes_ that have no short form
    bool is_usable_ = false;
    // Of most classes chunks and words are so few that they stand here, the last of them
    // several times, and are compared without a loop.
    bool is_short_ = false;
    // Besides, the chunks are one run, words are all else of the bytes, and of text there is at
    // most one std::string: as of most classes.
    bool is_simple_ = false;
    std::array<Offsets, 4> short_chunks_{};
    std::array<Offsets, 2> short_words_{};
    // Likewise of longs and bytes, which are mostly references and small numbers.
    std::array<Offsets, 6> short_longs_{};
    std::array<Offsets, 4> short_bytes_{};
    enum class ShortLongs : std::uint8_t { None, Two, Six };
    ShortLongs short_longs_form_ = ShortLongs::None;  // how many of them hold all longs
    bool has_short_bytes_ = false;                    // they hold all bytes
    WordRun word_run_;
    // Of what is compared.
    std::uint32_t object_begin_ = 0xFFFF'FFFF;
    std::uint32_t object_last_ = 0;
    ShadowOffset shadow_last_;
};

/// What a scan needs to know of an object.
struct ScannedObject {
    const ScanPlan* plan = nullptr;  ///< usable
    ConstShadowBuffer shadow;
};

/// Looks at objects i whose bits are set, at most 64. `objects[i]` is the memory of the one that
/// `scanned[i]` tells of.
[[nodiscard]] ScanPlan::Findings find_changed(const ScannedObject* scanned,
                                              const void* const* objects,
                                              std::uint64_t bits) noexcept;

}  // namespace replayout
