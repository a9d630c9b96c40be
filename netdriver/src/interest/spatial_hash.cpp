// SPDX-License-Identifier: MIT
#include "spatial_hash.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace replayout {

namespace {

constexpr std::size_t cell_heads_min = 16;

}  // namespace

SpatialHash::SpatialHash(Vector<SpatialNode>& nodes, std::uint32_t reach, Blocks blocks,
                         bool is_flat, MemoryResource* resource)
    : nodes_(nodes),
      heads_(Allocator<std::uint32_t>(resource)),
      blocks_(blocks),
      is_flat_(is_flat),
      reach_(reach),
      shift_(shift_for(reach)) {}

std::uint32_t SpatialHash::shift_for(std::uint32_t reach) const noexcept {
    // As wide as the reach at least, so that it goes no farther than to the next one. A quarter of
    // that is some 30 blocks in the plane, and a half some 34 in space; finer ones cost more to
    // look up than what is in them.
    const auto wide = static_cast<std::uint32_t>(std::bit_width(reach));
    const std::uint32_t finer = blocks_ == Blocks::Few ? 0u : is_flat_ ? 2u : 1u;
    return wide > finer ? wide - finer : 0;
}

std::size_t SpatialHash::head_of(const LatticePoint& block) const noexcept {
    // Three odd constants, and the upper bits folded down: neighbouring blocks get heads far apart.
    std::uint64_t mixed =
        static_cast<std::uint32_t>(block.x) * std::uint64_t{0x9E37'79B9'7F4A'7C15} ^
        static_cast<std::uint32_t>(block.y) * std::uint64_t{0xC2B2'AE3D'27D4'EB4F} ^
        static_cast<std::uint32_t>(block.z) * std::uint64_t{0x1656'67B1'9E37'79F9};
    mixed ^= mixed >> 32;
    mixed *= std::uint64_t{0x9E37'79B9'7F4A'7C15};
    return static_cast<std::size_t>(mixed >> 32) & (heads_.size() - 1);
}

void SpatialHash::insert(std::uint32_t number, const LatticePoint& at) {
    REPLAYOUT_ASSERT(number < nodes_.size());
    if (count_ >= heads_.size()) {
        relink(std::max(cell_heads_min, heads_.size() * 2));
    }
    ++count_;
    nodes_[number].at = at;
    link(number);
}

void SpatialHash::erase(std::uint32_t number) noexcept {
    REPLAYOUT_ASSERT(count_ > 0);
    unlink(number);
    --count_;
}

void SpatialHash::move(std::uint32_t number, const LatticePoint& to) noexcept {
    if (block_of(nodes_[number].at) == block_of(to)) {
        nodes_[number].at = to;
        return;
    }
    unlink(number);
    nodes_[number].at = to;
    link(number);
}

void SpatialHash::clear() noexcept {
    std::fill(heads_.begin(), heads_.end(), SpatialNode::none);
    count_ = 0;
}

void SpatialHash::link(std::uint32_t number) noexcept {
    std::uint32_t& head = heads_[head_of(block_of(nodes_[number].at))];
    nodes_[number].previous = SpatialNode::none;
    nodes_[number].next = head;
    if (head != SpatialNode::none) {
        nodes_[head].previous = number;
    }
    head = number;
}

void SpatialHash::unlink(std::uint32_t number) noexcept {
    const SpatialNode& node = nodes_[number];
    if (node.next != SpatialNode::none) {
        nodes_[node.next].previous = node.previous;
    }
    if (node.previous != SpatialNode::none) {
        nodes_[node.previous].next = node.next;
    } else {
        heads_[head_of(block_of(node.at))] = node.next;
    }
}

void SpatialHash::relink(std::size_t head_count) {
    Vector<std::uint32_t> before(head_count, SpatialNode::none, heads_.get_allocator());
    std::swap(before, heads_);
    for (std::uint32_t number : before) {
        while (number != SpatialNode::none) {
            const std::uint32_t next = nodes_[number].next;
            link(number);
            number = next;
        }
    }
}

}  // namespace replayout
