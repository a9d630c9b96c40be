// SPDX-License-Identifier: MIT
//
// Decodes values, in one of two ways that take exactly the same steps through the bits: check, which
// touches nothing, and apply, which cannot fail on what was checked.
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
    /// `object` null: check only. Then `state` and `notifies` may be null too.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& context,
                   std::byte* object, ReceivingRepState* state, NotifyQueue* notifies);

    /// One block up to its end. False: malformed.
    bool read_block();

  private:
    /// Where a scope's memory is (null when checking), and the way there.
    struct Place {
        std::byte* memory = nullptr;
        RepPath path;
        std::uint32_t depth = 0;
    };

    /// Each returns whether the value in memory changed.
    bool read_value(CmdIndex index, const Place& place);
    bool read_plain(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_string(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_object(const RepLayoutCmd& cmd, const Place& place);
    bool read_struct(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_array(CmdIndex index, const Place& place);
    bool resize_array(const RepLayoutCmd& cmd, const RepScope& element, const Place& place,
                      std::byte* array, std::uint32_t count);

    [[nodiscard]] bool is_checking() const noexcept { return object_ == nullptr; }

    const RepLayout& layout_;
    BitReader& reader_;
    ReceiveContext& context_;
    std::byte* object_;
    ReceivingRepState* state_;
    NotifyQueue* notifies_;
};

}  // namespace replayout
