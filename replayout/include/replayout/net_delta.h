// SPDX-License-Identifier: MIT
//
// What a NetDeltaSerializer is handed: a struct that writes what is new since a state that the
// receiver holds, instead of all of itself.
//
//     struct ScoresState final : NetDeltaBaseState {           // what a receiver holds
//         std::map<std::uint32_t, std::int32_t> scores;
//         bool is_state_equal(const NetDeltaBaseState& other) const override;
//     };
//
//     bool Scores::net_delta_serialize(NetDeltaInfo& info) {
//         if (info.is_loading()) { return read_changes(info.archive()); }
//         const auto* old = info.old_state<ScoresState>();     // null: it holds the archetype's
//         write_changes(old, info.archive());
//         info.set_new_state<ScoresState>().scores = scores;   // what it holds from now on
//         return true;
//     }
//
// A delta is applied exactly where it was written for: it carries the number of its base, and a
// receiver that holds another, because a delta before it was lost, leaves it alone. The sender
// knows which those are and writes anew from what the receiver does hold. So a function may write
// any difference, also one that makes sense on one base alone.
//
// What it must keep to:
//
// * The bits follow from the value and the old state, the new state from the value alone: both
//   serve all receivers in the same state, by one call.
// * old state + bits = value: the receiver's value is then identical (operator==, Identical).
// * Reading takes exactly the bits that were written. It answers false for bits that no writer of
//   its kind makes; the block is malformed then. What it takes it bounds (NetArchive::spend).
// * Writing answers false where there is nothing to send; it is not asked again for that base until
//   the value changes. So does the engine where the new state is_state_equal to the old.
// * A value that cannot be written fails the archive: it is left out, logged and counted
//   (values_failed), and tried again when it changes. So is one without a new state.
// * A delta cannot be read again later. So objects in it are kept as NetGUID, and looked up when
//   they are used; an ObjectHandle would stay when its object goes.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/package_map.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace replayout {

/// What a receiver holds of one value, in the words of its own class. Made by
/// NetDeltaInfo::set_new_state, and never changed after the call that made it; shared by all
/// receivers in that state.
class NetDeltaBaseState {
  public:
    NetDeltaBaseState(const NetDeltaBaseState&) = delete;
    NetDeltaBaseState& operator=(const NetDeltaBaseState&) = delete;

    /// Nothing is new between the two. `other` was made by the same type's function.
    [[nodiscard]] virtual bool is_state_equal(const NetDeltaBaseState& other) const = 0;

  protected:
    NetDeltaBaseState() = default;
    virtual ~NetDeltaBaseState() = default;

  private:
    friend class NetDeltaInfo;
    friend class NetDeltaStatePtr;

    MemoryResource* resource_ = nullptr;
    void* memory_ = nullptr;
    std::size_t size_ = 0;
    std::size_t alignment_ = 1;
    std::uint32_t holder_count_ = 0;  // of one thread, as all that sends
};

/// Holds a state; it goes with its last holder.
class NetDeltaStatePtr {
  public:
    NetDeltaStatePtr() noexcept = default;
    explicit NetDeltaStatePtr(NetDeltaBaseState* state) noexcept : state_(state) { hold(); }
    NetDeltaStatePtr(const NetDeltaStatePtr& other) noexcept : state_(other.state_) { hold(); }
    NetDeltaStatePtr(NetDeltaStatePtr&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)) {}
    NetDeltaStatePtr& operator=(NetDeltaStatePtr other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~NetDeltaStatePtr() { release(); }

    [[nodiscard]] const NetDeltaBaseState* get() const noexcept { return state_; }
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

  private:
    void hold() noexcept {
        if (state_ != nullptr) {
            ++state_->holder_count_;
        }
    }
    void release() noexcept {
        if (state_ == nullptr || --state_->holder_count_ > 0) {
            return;
        }
        MemoryResource* resource = state_->resource_;
        void* memory = state_->memory_;
        const std::size_t size = state_->size_;
        const std::size_t alignment = state_->alignment_;
        state_->~NetDeltaBaseState();
        resource->deallocate(memory, size, alignment);
    }

    NetDeltaBaseState* state_ = nullptr;
};

class NetDeltaInfo {
  public:
    /// To write. What is made comes from `resource`.
    NetDeltaInfo(NetArchive& archive, PackageMap& package_map, const NetDeltaBaseState* old_state,
                 MemoryResource* resource) noexcept
        : archive_(archive), map_(package_map), old_state_(old_state), resource_(resource) {}
    /// To read.
    NetDeltaInfo(NetArchive& archive, PackageMap& package_map) noexcept
        : archive_(archive), map_(package_map) {}

    [[nodiscard]] bool is_saving() const noexcept { return archive_.is_saving(); }
    [[nodiscard]] bool is_loading() const noexcept { return archive_.is_loading(); }

    /// Into which, or from which. Reading, the value is a copy, and is copied again: what that
    /// costs beyond sizeof() is to be told by NetArchive::spend, about a step for 8 bytes.
    [[nodiscard]] NetArchive& archive() noexcept { return archive_; }
    [[nodiscard]] PackageMap& package_map() noexcept { return map_; }

    /// Writing: what the receiver holds; null: the value of the archetype. `State` is what the
    /// function makes. Reading: null; the value itself is the base.
    template <typename State>
    [[nodiscard]] const State* old_state() const noexcept {
        return static_cast<const State*>(old_state_);
    }

    /// Writing: what the receiver holds once it took these bits. To be filled until the function
    /// returns.
    template <typename State, typename... Args>
    State& set_new_state(Args&&... args) {
        static_assert(std::is_base_of_v<NetDeltaBaseState, State>);
        REPLAYOUT_ASSERT(is_saving());
        void* memory = resource_->allocate(sizeof(State), alignof(State));
        auto* state = ::new (memory) State(std::forward<Args>(args)...);
        NetDeltaBaseState& base = *state;
        base.resource_ = resource_;
        base.memory_ = memory;
        base.size_ = sizeof(State);
        base.alignment_ = alignof(State);
        new_state_ = NetDeltaStatePtr(&base);
        return *state;
    }

    /// Writing: for what a state holds; a pool of the SendScratch, so what is made anew with each
    /// change takes no memory once it is warm. Lives as long as every state.
    [[nodiscard]] MemoryResource* resource() const noexcept { return resource_; }

    /// What was made, for the engine.
    [[nodiscard]] const NetDeltaStatePtr& new_state() const noexcept { return new_state_; }

  private:
    NetArchive& archive_;
    PackageMap& map_;
    const NetDeltaBaseState* old_state_ = nullptr;
    MemoryResource* resource_ = nullptr;
    NetDeltaStatePtr new_state_;
};

}  // namespace replayout
