// SPDX-License-Identifier: MIT
//
// A collection that is larger than a message, on its way to one client.
//
//     first block of the object   has no items, and is_partial (CollectionState)
//     client                      collections_wanted ---->   asks by the object of its connection
//     server                      <---- collection_part      clear, and all items as operations,
//                                 <---- collection_part      in parts; the last one says so
//
// What is sent are the operations of CollectionChanges that make the items, as bytes, with numbers
// that end at that of the collection. Operations that the server does meanwhile go to everybody, as
// always; a client keeps those until it has all parts, and then drops the ones that these contain.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/struct_traits.h>
#include <replayout/reflection/type_registry.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace replayout {

class NetworkIdentity;

namespace detail {

/// Parameters of ConnectionChannel::spawn_batch().
struct SpawnBatch {
    static constexpr std::size_t objects_max = 256;  // of which many fit into a packet

    std::vector<NetworkIdentity*> objects;
};

/// Names one collection of an object.
struct CollectionPath {
    NetworkIdentity* object = nullptr;
    std::uint8_t component = 0;
    std::uint8_t collection = 0;

    friend bool operator==(const CollectionPath&, const CollectionPath&) = default;
};

/// Parameters of ConnectionChannel::collections_wanted().
struct CollectionsWanted {
    static constexpr std::size_t paths_max = 128;

    std::vector<CollectionPath> paths;
};

/// Operations as bytes.
struct PartBytes {
    static constexpr std::size_t bytes_max = 1024 * 1024;  // as of a call

    std::vector<std::byte> bytes;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
    friend bool operator==(const PartBytes&, const PartBytes&) = default;
};

/// Parameters of ConnectionChannel::collection_part().
struct CollectionPart {
    CollectionPath path;
    PartBytes operations;
    bool is_last = false;
};

void add_collection_part_types(TypeRegistry& registry);

}  // namespace detail

}  // namespace replayout

template <>
struct replayout::StructTraitsOf<replayout::detail::PartBytes> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
