// SPDX-License-Identifier: MIT
#include "out_bunches.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kept_room.h"

namespace replayout {

void OutBunch::drop_payload() noexcept {
    // Emptied it would keep its memory.
    const Payload::allocator_type allocator = payload.get_stored_allocator();
    std::destroy_at(&payload);
    std::construct_at(&payload, allocator);
}

BunchPool::~BunchPool() {
    for (Chunk* chunk : chunks_) {
        if (chunk != nullptr) {
            std::destroy_at(chunk);
            resource_->deallocate(chunk, sizeof(Chunk), alignof(Chunk));
        }
    }
}

void BunchPool::add_chunk() {
    const auto unused = std::find(chunks_.begin(), chunks_.end(), nullptr);
    const auto number = static_cast<std::size_t>(unused - chunks_.begin());
    if (unused == chunks_.end()) {
        chunks_.push_back(nullptr);
    }
    void* const memory = resource_->allocate(sizeof(Chunk), alignof(Chunk));
    Chunk* const chunk = std::construct_at(static_cast<Chunk*>(memory), resource_);
    chunks_[number] = chunk;
    ++chunk_count_;
    for (std::size_t i = chunk_nodes; i > 0; --i) {
        chunk->nodes[i - 1].next = first_free_;
        first_free_ = static_cast<BunchSlot>(number * chunk_nodes + i - 1);
    }
}

BunchSlot BunchPool::take() {
    if (first_free_ == no_bunch) {
        add_chunk();
    }
    const BunchSlot slot = first_free_;
    Chunk& chunk = *chunks_[slot / chunk_nodes];
    first_free_ = chunk.nodes[slot % chunk_nodes].next;
    ++chunk.used_count;
    most_used_ = std::max(most_used_, ++used_count_);
    return slot;
}

void BunchPool::give_back(BunchSlot slot) noexcept {
    Chunk& chunk = *chunks_[slot / chunk_nodes];
    BunchNode& node = chunk.nodes[slot % chunk_nodes];
    REPLAYOUT_ASSERT(node.place != BunchPlace::Free);
    node.place = BunchPlace::Free;
    node.order = 0;
    if (node.bunch.payload.capacity() > kept_bytes_max) {
        node.bunch.drop_payload();
    }
    node.next = first_free_;
    first_free_ = slot;
    --chunk.used_count;
    --used_count_;
}

void BunchPool::trim() noexcept {
    const std::size_t most = std::exchange(most_used_, used_count_);
    if (!KeptRoom::is_too_large(most, chunk_count_ * chunk_nodes, sizeof(BunchNode))) {
        return;
    }
    const std::size_t to_keep = 2 * most / chunk_nodes + 1;
    first_free_ = no_bunch;
    // From the last one: what is taken next lies in front.
    for (std::size_t number = chunks_.size(); number > 0; --number) {
        Chunk*& chunk = chunks_[number - 1];
        if (chunk == nullptr) {
            continue;
        }
        if (chunk->used_count == 0 && chunk_count_ > to_keep) {
            std::destroy_at(chunk);
            resource_->deallocate(std::exchange(chunk, nullptr), sizeof(Chunk), alignof(Chunk));
            --chunk_count_;
            continue;
        }
        for (std::size_t i = chunk_nodes; i > 0; --i) {
            BunchNode& node = chunk->nodes[i - 1];
            if (node.place == BunchPlace::Free) {
                node.next = first_free_;
                first_free_ = static_cast<BunchSlot>((number - 1) * chunk_nodes + i - 1);
            }
        }
    }
    while (!chunks_.empty() && chunks_.back() == nullptr) {
        chunks_.pop_back();
    }
    chunks_.shrink_to_fit();
}

void BunchList::insert(BunchPool& pool, BunchSlot slot, BunchSlot before) noexcept {
    BunchNode& node = pool[slot];
    node.place = place_;
    node.previous = before;
    node.next = before == no_bunch ? first_ : pool[before].next;
    (before == no_bunch ? first_ : pool[before].next) = slot;
    (node.next == no_bunch ? last_ : pool[node.next].previous) = slot;
    ++count_;
}

void BunchList::insert_by_order(BunchPool& pool, BunchSlot slot) noexcept {
    const std::uint64_t order = pool[slot].order;
    BunchSlot before = last_;
    if (before != no_bunch && pool[before].order > order) {
        before = last_inserted_;
        while (before != no_bunch && pool[before].order > order) {
            before = pool[before].previous;
        }
        BunchSlot next = before == no_bunch ? first_ : pool[before].next;
        while (next != no_bunch && pool[next].order < order) {
            before = std::exchange(next, pool[next].next);
        }
    }
    insert(pool, slot, before);
    last_inserted_ = slot;
}

void BunchList::erase(BunchPool& pool, BunchSlot slot) noexcept {
    const BunchNode& node = pool[slot];
    REPLAYOUT_ASSERT(node.place == place_);
    (node.previous == no_bunch ? first_ : pool[node.previous].next) = node.next;
    (node.next == no_bunch ? last_ : pool[node.next].previous) = node.previous;
    if (last_inserted_ == slot) {
        last_inserted_ = node.previous;
    }
    --count_;
}

}  // namespace replayout
