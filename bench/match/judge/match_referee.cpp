// SPDX-License-Identifier: MIT
#include "match/judge/match_referee.h"

#include "match/session/match_server.h"

#include <replayout/reflection/type_builder.h>

#include <utility>

namespace replayout::match {

RefereeClass::RefereeClass() {
    using F = FunctionFlags;
    const auto names = struct_builder<RefereeNames>(registry_, "RefereeNames")
                           .property<&RefereeNames::first>()
                           .property<&RefereeNames::handles>()
                           .build();
    const auto end = struct_builder<RefereeEnd>(registry_, "RefereeEnd")
                         .property<&RefereeEnd::ticks>()
                         .property<&RefereeEnd::crc32>()
                         .property<&RefereeEnd::object_count>()
                         .build();
    const auto report = struct_builder<RefereeReport>(registry_, "RefereeReport")
                            .property<&RefereeReport::crc32>()
                            .property<&RefereeReport::is_equal>()
                            .property<&RefereeReport::difference>()
                            .build();
    const auto type = class_builder<MatchReferee>(registry_, "MatchReferee")
                          .property<&MatchReferee::number>()
                          .function<&MatchReferee::client_names>(F::Client | F::Reliable)
                          .function<&MatchReferee::client_end>(F::Client | F::Reliable)
                          .function<&MatchReferee::server_report>(F::Server | F::Reliable)
                          .build();
    require(names ? Status() : Status(names.error()));
    require(end ? Status() : Status(end.error()));
    require(report ? Status() : Status(report.error()));
    require(type ? Status() : Status(type.error()));
    require(registry_.freeze());
    auto layout = RepLayout::create(registry_, **type);
    require(layout ? Status() : Status(layout.error()));
    layout_ = *std::move(layout);
}

}  // namespace replayout::match
