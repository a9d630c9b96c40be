// SPDX-License-Identifier: MIT
//
// A memory resource that counts, for the two promises about memory: what was taken is given back,
// and a steady tick takes nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

namespace replayout {

class CountingResource final : public std::pmr::memory_resource {
  public:
    /// Calls of allocate() so far.
    [[nodiscard]] std::uint64_t allocation_count() const noexcept { return allocation_count_; }
    /// Blocks taken and not given back.
    [[nodiscard]] std::int64_t blocks_in_use() const noexcept { return blocks_in_use_; }
    [[nodiscard]] std::int64_t bytes_in_use() const noexcept { return bytes_in_use_; }
    /// The most bytes that were ever in use.
    [[nodiscard]] std::int64_t bytes_in_use_max() const noexcept { return bytes_in_use_max_; }

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        ++allocation_count_;
        ++blocks_in_use_;
        bytes_in_use_ += static_cast<std::int64_t>(bytes);
        bytes_in_use_max_ = std::max(bytes_in_use_max_, bytes_in_use_);
        return memory;
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
        --blocks_in_use_;
        bytes_in_use_ -= static_cast<std::int64_t>(bytes);
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::uint64_t allocation_count_ = 0;
    std::int64_t blocks_in_use_ = 0;
    std::int64_t bytes_in_use_ = 0;
    std::int64_t bytes_in_use_max_ = 0;
};

/// Makes a resource the default one while it lives, to catch those who reach for it.
class DefaultResourceScope {
  public:
    explicit DefaultResourceScope(std::pmr::memory_resource& resource) noexcept
        : previous_(std::pmr::set_default_resource(&resource)) {}
    ~DefaultResourceScope() { std::pmr::set_default_resource(previous_); }
    DefaultResourceScope(const DefaultResourceScope&) = delete;
    DefaultResourceScope& operator=(const DefaultResourceScope&) = delete;

  private:
    std::pmr::memory_resource* previous_;
};

}  // namespace replayout
