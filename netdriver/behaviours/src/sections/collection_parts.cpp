// SPDX-License-Identifier: MIT
#include "collection_parts.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/type_builder.h>

#include "behaviour_section.h"

namespace replayout::detail {

bool PartBytes::net_serialize(NetArchive& archive, PackageMap* /*map*/, bool& ok) {
    serialize_counted_bytes(archive, bytes, bytes_max, ok);
    return true;
}

// The names in quotes are part of what both ends compare.
void add_collection_part_types(TypeRegistry& registry) {
    const bool are_added =
        struct_builder<CollectionPath>(registry, "CollectionPlace")
            .property<&CollectionPath::object>("object")
            .property<&CollectionPath::component>("component")
            .property<&CollectionPath::collection>("collection")
            .build()
            .has_value() &&
        struct_builder<CollectionsWanted>(registry, "CollectionsWanted")
            .property<&CollectionsWanted::paths>("places")
            .build()
            .has_value() &&
        struct_builder<PartBytes>(registry, "CollectionPartBytes").build().has_value() &&
        struct_builder<CollectionPart>(registry, "CollectionPart")
            .property<&CollectionPart::path>("place")
            .property<&CollectionPart::operations>("operations")
            .property<&CollectionPart::is_last>("is_last")
            .build()
            .has_value();
    REPLAYOUT_ASSERT(are_added);
    (void)are_added;
}

}  // namespace replayout::detail
