// SPDX-License-Identifier: MIT
#include "unmapped_values.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout {

namespace {

constexpr std::size_t object_heads_min = 8;

}  // namespace

void UnmappedValues::add(const Entry& entry) {
    const std::size_t object_hash = hash(value_of(entry.index));
    for (std::uint32_t at = first(by_object_, object_hash); at != none;
         at = nodes_[at].of_object.next) {
        if (nodes_[at].entry == entry) {
            return;
        }
    }
    if (count_ >= by_object_.size()) {
        grow_heads();
    }
    const std::uint32_t at = take_slot();
    ++count_;
    nodes_[at].entry = entry;
    link(at, by_object_, object_hash, &Node::of_object);
    link(at, by_guid_, hash(entry.guid.value), &Node::of_guid);
}

bool UnmappedValues::is_waiting(ObjectIndex index) const noexcept {
    std::uint32_t at = first(by_object_, hash(value_of(index)));
    while (at != none && nodes_[at].entry.index != index) {
        at = nodes_[at].of_object.next;
    }
    return at != none;
}

bool UnmappedValues::mark(ObjectIndex index, ChangeMask& handles) const noexcept {
    bool is_any = false;
    for (std::uint32_t at = first(by_object_, hash(value_of(index))); at != none;
         at = nodes_[at].of_object.next) {
        if (nodes_[at].entry.index == index) {
            handles.set(nodes_[at].entry.handle.value - 1);
            is_any = true;
        }
    }
    return is_any;
}

std::uint32_t UnmappedValues::take_slot() {
    if (first_free_ == none) {
        nodes_.push_back(Node());
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t at = first_free_;
    first_free_ = nodes_[at].of_object.next;
    return at;
}

void UnmappedValues::release(std::uint32_t at) noexcept {
    const Entry& entry = nodes_[at].entry;
    unlink(at, by_object_, hash(value_of(entry.index)), &Node::of_object);
    unlink(at, by_guid_, hash(entry.guid.value), &Node::of_guid);
    --count_;
    nodes_[at].of_object.next = first_free_;
    first_free_ = at;
}

void UnmappedValues::link(std::uint32_t at, Heads& heads, std::size_t hash,
                          Links Node::*links) noexcept {
    std::uint32_t& head = heads[hash & (heads.size() - 1)];
    nodes_[at].*links = {head, none};
    if (head != none) {
        (nodes_[head].*links).previous = at;
    }
    head = at;
}

void UnmappedValues::unlink(std::uint32_t at, Heads& heads, std::size_t hash,
                            Links Node::*links) noexcept {
    const Links leaving = nodes_[at].*links;
    if (leaving.next != none) {
        (nodes_[leaving.next].*links).previous = leaving.previous;
    }
    if (leaving.previous != none) {
        (nodes_[leaving.previous].*links).next = leaving.next;
    } else {
        heads[hash & (heads.size() - 1)] = leaving.next;
    }
}

void UnmappedValues::grow_heads() {
    // There is an entry for each slot, and no more of them than there ever were at once: so none
    // is free.
    REPLAYOUT_ASSERT(first_free_ == none && count_ == nodes_.size());
    const std::size_t head_count = std::max(object_heads_min, by_object_.size() * 2);
    by_object_.assign(head_count, none);
    by_guid_.assign(head_count, none);
    for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
        const Entry& entry = nodes_[at].entry;
        link(at, by_object_, hash(value_of(entry.index)), &Node::of_object);
        link(at, by_guid_, hash(entry.guid.value), &Node::of_guid);
    }
}

}  // namespace replayout
