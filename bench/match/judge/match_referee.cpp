// SPDX-License-Identifier: MIT
#include "match/judge/match_referee.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/type_builder.h>

namespace replayout::match {

namespace {

[[nodiscard]] Result<const Type*> declare(TypeRegistry& registry) {
    using F = FunctionFlags;
    const auto names = struct_builder<RefereeNames>(registry, "RefereeNames")
                           .property<&RefereeNames::first>()
                           .property<&RefereeNames::handles>()
                           .build();
    const auto end = struct_builder<RefereeEnd>(registry, "RefereeEnd")
                         .property<&RefereeEnd::ticks>()
                         .property<&RefereeEnd::crc32>()
                         .property<&RefereeEnd::object_count>()
                         .build();
    const auto report = struct_builder<RefereeReport>(registry, "RefereeReport")
                            .property<&RefereeReport::crc32>()
                            .property<&RefereeReport::is_equal>()
                            .property<&RefereeReport::difference>()
                            .build();
    for (const auto* declared : {&names, &end, &report}) {
        if (!*declared) {
            return *declared;
        }
    }
    return class_builder<MatchReferee>(registry, "MatchReferee")
        .property<&MatchReferee::number>()
        .function<&MatchReferee::client_names>(F::Client | F::Reliable)
        .function<&MatchReferee::client_end>(F::Client | F::Reliable)
        .function<&MatchReferee::server_report>(F::Server | F::Reliable)
        .build();
}

}  // namespace

RefereeClass::RefereeClass() : class_(declare) {
    REPLAYOUT_ASSERT(class_.error().empty());
}

}  // namespace replayout::match
