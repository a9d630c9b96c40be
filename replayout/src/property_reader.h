// SPDX-License-Identifier: MIT
//
// Decodes values, in one of two ways that take exactly the same steps through the bits: check,
// which writes nothing, and apply, which cannot fail on what was checked.
//
// Checking looks at the object for one thing, how many elements its arrays have: only growth takes
// memory, and so only growth is charged to the budget.
#pragma once

#include <replayout/receive_properties.h>

namespace replayout {

/// Keeps previous values of properties with a notify, and runs the notifies at the end.
class NotifyQueue {
  public:
    NotifyQueue(const RepLayout& layout, std::byte* object, ReceiveScratch& scratch);
    ~NotifyQueue();
    NotifyQueue(const NotifyQueue&) = delete;
    NotifyQueue& operator=(const NotifyQueue&) = delete;

    /// A leaf of the parent is about to be written.
    void before_write(ParentIndex parent);
    /// ... and it did change.
    void mark_changed(ParentIndex parent) noexcept;
    /// Calls the notifies of changed properties, in order of declaration.
    void run();

  private:
    /// The part of the object whose type declares the property: itself, or a base within it.
    [[nodiscard]] std::byte* declaring_object(const RepParentCmd& parent) const noexcept;
    void destroy_values() noexcept;

    const RepLayout& layout_;
    std::byte* object_;
    ReceiveScratch& scratch_;
};

class PropertyReader {
  public:
    /// To check what is to be applied to `object`. Null: to nothing, so that nothing will grow.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& context,
                   const std::byte* object) noexcept
        : layout_(layout),
          reader_(reader),
          context_(context),
          present_(object),
          is_skipping_(object == nullptr) {}

    /// To apply.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& context,
                   std::byte* object, ReceivingRepState& state, NotifyQueue& notifies) noexcept
        : layout_(layout),
          reader_(reader),
          context_(context),
          object_(object),
          state_(&state),
          notifies_(&notifies) {}

    /// One block up to its end. False: malformed.
    [[nodiscard]] bool check_block();
    [[nodiscard]] bool apply_block();

  private:
    /// Where a scope's memory is, and the way there.
    struct Place {
        std::byte* memory = nullptr;  ///< null when checking
        const std::byte* present =
            nullptr;  ///< when checking: the same, null where there is none yet
        RepPath path;
        std::uint32_t depth = 0;
    };

    void read_block();
    /// Each returns whether the value in memory changed.
    bool read_value(CmdIndex index, const Place& place);
    bool read_plain(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_bit(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_quantised_value(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_string(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_object(const RepLayoutCmd& cmd, const Place& place);
    bool read_struct(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_array(CmdIndex index, const Place& place);
    bool check_count(const RepLayoutCmd& cmd, std::size_t old_count, std::uint64_t count);
    bool resize_array(const RepLayoutCmd& cmd, const RepScope& element, const Place& place,
                      std::byte* array, std::uint32_t count);

    [[nodiscard]] bool is_checking() const noexcept { return object_ == nullptr; }

    const RepLayout& layout_;
    BitReader& reader_;
    ReceiveContext& context_;
    const std::byte* present_ = nullptr;
    bool is_skipping_ = false;
    std::byte* object_ = nullptr;
    ReceivingRepState* state_ = nullptr;
    NotifyQueue* notifies_ = nullptr;
};

}  // namespace replayout
