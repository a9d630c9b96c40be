// SPDX-License-Identifier: MIT
#include "support/checks/heap_count.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocation_count{0};
std::atomic<std::uint64_t> bytes_taken{0};

void* try_take(std::size_t size, std::size_t alignment) noexcept {
    allocation_count.fetch_add(1, std::memory_order_relaxed);
    bytes_taken.fetch_add(size, std::memory_order_relaxed);
    const std::size_t bytes = size == 0 ? 1 : size;
    return alignment <= alignof(std::max_align_t)
               ? std::malloc(bytes)
               : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* take(std::size_t size, std::size_t alignment) {
    void* memory = try_take(size, alignment);
    if (memory == nullptr) {
        std::abort();
    }
    return memory;
}

}  // namespace

namespace replayout {

std::uint64_t heap_allocation_count() noexcept {
    return allocation_count.load(std::memory_order_relaxed);
}

std::uint64_t heap_bytes_taken() noexcept {
    return bytes_taken.load(std::memory_order_relaxed);
}

}  // namespace replayout

void* operator new(std::size_t size) {
    return take(size, 1);
}
void* operator new[](std::size_t size) {
    return take(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return take(size, static_cast<std::size_t>(alignment));
}
// std::stable_sort asks for its buffer this way and gives it back the other.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return try_take(size, 1);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
