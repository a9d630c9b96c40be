// SPDX-License-Identifier: MIT
#include <replayout/netdriver/datagram_pool.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <utility>

namespace replayout {

DatagramPool::DatagramPool(std::size_t datagram_bytes_max, MemoryResource* memory)
    : datagram_bytes_max_(datagram_bytes_max), entries_(Allocator<Entry>(memory)) {
    REPLAYOUT_ASSERT(datagram_bytes_max > 0);
    REPLAYOUT_ASSERT(memory != nullptr);
}

DatagramPool::Entry& DatagramPool::entry(DatagramSlot slot) noexcept {
    REPLAYOUT_ASSERT(static_cast<std::size_t>(slot) < entries_.size());
    return entries_[static_cast<std::size_t>(slot)];
}

const DatagramPool::Entry& DatagramPool::entry(DatagramSlot slot) const noexcept {
    REPLAYOUT_ASSERT(static_cast<std::size_t>(slot) < entries_.size());
    return entries_[static_cast<std::size_t>(slot)];
}

DatagramSlot DatagramPool::take(PeerId sender, std::span<const std::byte> bytes) {
    REPLAYOUT_ASSERT(bytes.size() <= datagram_bytes_max_);
    DatagramSlot slot = free_front_;
    if (slot != DatagramSlot::None) {
        free_front_ = entry(slot).next;
    } else {
        slot = static_cast<DatagramSlot>(entries_.size());
        REPLAYOUT_ASSERT(slot != DatagramSlot::None);
        const Allocator<std::byte> allocator(entries_.get_allocator().resource());
        entries_.push_back(Entry{{},
                                 0,
                                 DatagramSlot::None,
                                 Vector<std::byte>(datagram_bytes_max_, std::byte{}, allocator)});
    }
    Entry& target = entry(slot);
    std::copy(bytes.begin(), bytes.end(), target.bytes.data());
    target.sender = sender;
    target.bytes_size = bytes.size();
    target.next = DatagramSlot::None;
    used_count_ += 1;
    used_max_ = std::max(used_max_, used_count_);
    return slot;
}

void DatagramPool::give_back(DatagramSlot slot) noexcept {
    REPLAYOUT_ASSERT(used_count_ > 0);
    entry(slot).next = free_front_;
    free_front_ = slot;
    used_count_ -= 1;
    if (used_count_ == 0) {
        trim();
    }
}

// Each time that no slot is used, the count of needed slots shrinks by an eighth. So a few dozen
// rounds after a flood its slots are gone, and equal rounds never give anything back.
void DatagramPool::trim() noexcept {
    constexpr std::size_t kept_in_any_case = 64;
    kept_count_ = std::max(std::exchange(used_max_, 0), kept_count_ - (kept_count_ + 7) / 8);
    if (entries_.size() <= 2 * kept_count_ + kept_in_any_case) {
        return;
    }
    entries_.resize(kept_count_ + kept_in_any_case);
    entries_.shrink_to_fit();
    free_front_ = DatagramSlot::None;
    for (std::size_t i = entries_.size(); i > 0; --i) {
        entries_[i - 1].next = free_front_;
        free_front_ = static_cast<DatagramSlot>(i - 1);
    }
}

PeerId DatagramPool::sender(DatagramSlot slot) const noexcept {
    return entry(slot).sender;
}

std::span<const std::byte> DatagramPool::bytes(DatagramSlot slot) const noexcept {
    const Entry& source = entry(slot);
    return {source.bytes.data(), source.bytes_size};
}

void DatagramQueue::push(DatagramPool& pool, DatagramSlot slot) noexcept {
    REPLAYOUT_ASSERT(pool.entry(slot).next == DatagramSlot::None);
    if (count_ == 0) {
        front_ = slot;
    } else {
        pool.entry(back_).next = slot;
    }
    back_ = slot;
    count_ += 1;
}

DatagramSlot DatagramQueue::pop(DatagramPool& pool) noexcept {
    REPLAYOUT_ASSERT(count_ > 0);
    const DatagramSlot slot = front_;
    front_ = pool.entry(slot).next;
    count_ -= 1;
    return slot;
}

std::size_t DatagramQueue::receive(DatagramPool& pool, PeerId& sender,
                                   std::span<std::byte> buffer) noexcept {
    if (count_ == 0) {
        return Transport::nothing_received;
    }
    const DatagramSlot slot = pop(pool);
    const std::span<const std::byte> bytes = pool.bytes(slot);
    const std::size_t size = std::min(bytes.size(), buffer.size());
    std::copy_n(bytes.begin(), size, buffer.begin());
    sender = pool.sender(slot);
    pool.give_back(slot);
    return size;
}

void DatagramQueue::clear(DatagramPool& pool) noexcept {
    while (count_ > 0) {
        pool.give_back(pop(pool));
    }
}

}  // namespace replayout
