// SPDX-License-Identifier: MIT
#include "match/judge/truth_server.h"

#include "match/session/match_drivers.h"

#include <optional>

namespace replayout::match {

TruthServer::TruthServer(std::span<const Recording> recordings, const MatchSchema& schema)
    : recorded_(recordings, schema),
      transport_(NetConfig().packet_bytes_max),
      driver_(match_driver_settings(), transport_, recorded_.world()) {
    check(add_match_layouts(schema, driver_));
    check(driver_.listen());
}

void TruthServer::play_through(std::uint64_t tick) {
    while (tick_count_ <= tick) {
        recorded_.apply_tick(tick_count_++, [this](const RecordedChange& change) { tell(change); });
        driver_.tick_flush(NetTime::from_milliseconds(static_cast<std::int64_t>(tick_count_)));
    }
}

void TruthServer::tell(const RecordedChange& change) {
    const MatchClass& match_class = change.object.match_class();
    switch (change.kind) {
        case OpKind::Spawn:
            ids_[change.handle.value] = driver_.add_object(*match_class.layout, change.handle);
            return;
        case OpKind::Destroy:
            driver_.remove_object(ids_.at(change.handle.value));
            ids_.erase(change.handle.value);
            return;
        case OpKind::Set:
            driver_.mark_property_dirty(ids_.at(change.handle.value),
                                        match_class.fields[change.field].parent);
            return;
    }
}

ClientVerdict TruthServer::judge(const MatchWorld& world, const NetDriver& driver) const {
    return ClientJudge(recorded_.schema(), recorded_.end_states(), recorded_.world(), driver_)
        .judge(world, driver, true, std::nullopt);
}

}  // namespace replayout::match
