// SPDX-License-Identifier: MIT
//
// Handles that had an id which is forgotten: if such a handle is given to an object once more, a
// value that still holds it means another object than it did. A Bloom filter of 8 KiB (two bits for
// each handle): it knows every handle that was added, and may take another one for one of these,
// which costs its user a look at values that did not change.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace replayout {

class ForgottenHandles {
  public:
    /// So many handles may be added before it is full: then one handle in twenty that was never
    /// added seems to be in it.
    static constexpr std::uint32_t count_max = 8'192;

    explicit ForgottenHandles(MemoryResource* resource) noexcept : resource_(resource) {}
    ~ForgottenHandles() {
        if (words_ != nullptr) {
            resource_->deallocate(words_, sizeof(Words), alignof(Words));
        }
    }
    ForgottenHandles(const ForgottenHandles&) = delete;
    ForgottenHandles& operator=(const ForgottenHandles&) = delete;

    /// Takes memory at the first one. Not beside other calls.
    void add(ObjectHandle handle) {
        if (words_ == nullptr) {
            words_ = new (resource_->allocate(sizeof(Words), alignof(Words))) Words();
        }
        ++count_;
        keep(handle);
    }
    /// The same of one that was added before clear(), and is still in use. Does not count. Any
    /// thread, beside others that keep handles.
    void keep(ObjectHandle handle) noexcept {
        if (words_ == nullptr) {
            return;
        }
        for (const std::uint32_t bit : bits_of(handle)) {
            (*words_)[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
        }
    }
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
    [[nodiscard]] bool is_full() const noexcept { return count_ >= count_max; }
    /// Not beside other calls.
    void clear() noexcept {
        if (words_ != nullptr) {
            for (std::atomic<std::uint64_t>& word : *words_) {
                word.store(0, std::memory_order_relaxed);
            }
        }
        count_ = 0;
    }

  private:
    using Words = std::array<std::atomic<std::uint64_t>, 1'024>;
    static_assert(std::is_trivially_destructible_v<Words>);

    /// Handles may be addresses or count up, so all their bits are mixed (by the golden ratio).
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
