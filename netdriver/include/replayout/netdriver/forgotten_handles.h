// SPDX-License-Identifier: MIT
//
// A set of handles whose ids were forgotten. A value may still hold such a handle. If the handle is
// then given to another object, the value means that object, so it must be compared again.
//
//     forgotten.add(handle);                          its id is forgotten
//     if (forgotten.may_contain(handle)) { ... }      an object gets it: values are compared again
//
// A Bloom filter of 8 KiB, two bits for each handle. It contains every handle that was added. It
// may also report a handle that was not; then values that did not change are compared once more.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>

namespace replayout {

class ForgottenHandles {
  public:
    /// After so many add() the set is full: about 5 % of all other handles seem to be in it.
    static constexpr std::uint32_t count_max = 8'192;

    explicit ForgottenHandles(MemoryResource* resource) noexcept : resource_(resource) {}
    ~ForgottenHandles() {
        if (words_ != nullptr) {
            resource_->deallocate(words_, sizeof(Words), alignof(Words));
        }
    }
    ForgottenHandles(const ForgottenHandles&) = delete;
    ForgottenHandles& operator=(const ForgottenHandles&) = delete;

    /// Adds a handle and counts it. The first call allocates 8 KiB. Not thread-safe.
    void add(ObjectHandle handle) {
        if (words_ == nullptr) {
            words_ = new (resource_->allocate(sizeof(Words), alignof(Words))) Words();
        }
        ++count_;
        keep(handle);
    }
    /// Adds a handle that a value still holds, so that it outlasts clear(). Not counted: many such
    /// handles raise the share of wrong answers. Thread-safe against keep() and may_contain().
    void keep(ObjectHandle handle) noexcept {
        if (words_ == nullptr) {
            return;
        }
        for (const std::uint32_t bit : bits_of(handle)) {
            (*words_)[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
        }
    }
    /// False: the handle was not added since clear(). True: it probably was.
    [[nodiscard]] bool may_contain(ObjectHandle handle) const noexcept {
        if (words_ == nullptr) {
            return false;
        }
        for (const std::uint32_t bit : bits_of(handle)) {
            if (((*words_)[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) == 0) {
                return false;
            }
        }
        return true;
    }
    /// count_max handles were added since clear().
    [[nodiscard]] bool is_full() const noexcept { return count_ >= count_max; }
    /// Empties the set and keeps its memory. Not thread-safe.
    void clear() noexcept {
        if (words_ != nullptr) {
            for (std::atomic<std::uint64_t>& word : *words_) {
                word.store(0, std::memory_order_relaxed);
            }
        }
        count_ = 0;
    }

  private:
    static constexpr std::uint32_t bit_count = 1u << 16;  // bits_of() takes 16 bits for each
    using Words = std::array<std::atomic<std::uint64_t>, bit_count / 64>;
    static_assert(std::is_trivially_destructible_v<Words>);

    /// Mixes all bits by the golden ratio: handles may be addresses, or count up.
    [[nodiscard]] static std::array<std::uint32_t, 2> bits_of(ObjectHandle handle) noexcept {
        const std::uint64_t mixed = (handle.value ^ (handle.value >> 32)) * 0x9E37'79B9'7F4A'7C15;
        return {static_cast<std::uint32_t>(mixed >> 48),
                static_cast<std::uint32_t>(mixed >> 32) & 0xFFFFu};
    }

    MemoryResource* resource_;
    Words* words_ = nullptr;
    std::uint32_t count_ = 0;
};

}  // namespace replayout
