// SPDX-License-Identifier: MIT
//
// Containers over a memory resource. The library takes a std::pmr::memory_resource where an object
// is created and everything beneath inherits it. Only set-up that happens once, types and their
// names, takes the global heap.
//
// Boost.Container's vector takes a polymorphic allocator as it is. Its bounds errors throw, or
// abort without exceptions: a count that comes from a peer is therefore checked before a container
// grows.
#pragma once

#include <boost/container/container_fwd.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/container/vector.hpp>

#include <cstddef>
#include <functional>
#include <memory_resource>
#include <string>
#include <utility>

namespace replayout {

using MemoryResource = std::pmr::memory_resource;

template <typename T>
using Allocator = std::pmr::polymorphic_allocator<T>;

template <typename T>
using Vector = boost::container::vector<T, Allocator<T>>;

template <typename T, std::size_t InlineCount>
using SmallVector = boost::container::small_vector<T, InlineCount, Allocator<T>>;

template <typename Key, typename Value, typename Compare = std::less<Key>>
using FlatMap = boost::container::flat_map<Key, Value, Compare, Allocator<std::pair<Key, Value>>>;
template <typename Key, typename Compare = std::less<Key>>
using FlatSet = boost::container::flat_set<Key, Compare, Allocator<Key>>;

using PmrString = std::pmr::string;

}  // namespace replayout
