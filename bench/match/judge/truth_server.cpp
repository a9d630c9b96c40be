// SPDX-License-Identifier: MIT
#include "match/judge/truth_server.h"

#include <optional>
#include <stdexcept>

namespace replayout::match {

namespace {

[[nodiscard]] NetDriverSettings truth_settings() {
    NetDriverSettings settings;
    settings.is_keeping_names = true;  // for the judge
    settings.config.bunch_bytes_max = 128 * 1024;
    settings.config.references_per_object_max = 65'536;
    return settings;
}

void check(const Status& status) {
    if (!status) {
        throw std::runtime_error(status.error().message);
    }
}

}  // namespace

TruthServer::TruthServer(const std::vector<Recording>& recordings, const MatchSchema& schema)
    : recordings_(recordings),
      schema_(schema),
      transport_(NetConfig().packet_bytes_max),
      world_(schema),
      driver_(truth_settings(), transport_, world_) {
    for (const auto& match_class : schema_.classes()) {
        check(driver_.add_layout(*match_class->layout));
    }
    check(driver_.listen());
    for (const Recording& recording : recordings_) {
        end_states_.emplace_back(recording);
    }
}

void TruthServer::play_through(std::uint64_t tick) {
    while (tick_count_ <= tick) {
        play_tick();
    }
}

void TruthServer::play_tick() {
    for (std::uint32_t index = 0; index < recordings_.size(); ++index) {
        if (tick_count_ < recordings_[index].tick_count()) {
            for (const Op& op : recordings_[index].ops_of_tick(tick_count_)) {
                apply(index, op);
                end_states_[index].apply(op);
            }
        }
    }
    ++tick_count_;
    driver_.tick_flush(NetTime::from_milliseconds(static_cast<std::int64_t>(tick_count_)));
}

void TruthServer::apply(std::uint32_t recording_index, const Op& op) {
    const ObjectHandle handle = schema_.server_handle(recording_index, op.object);
    if (op.kind == OpKind::Spawn) {
        const MatchClass& match_class = schema_.find(recording_index, op.class_or_field);
        world_.add(handle, match_class);
        ids_[handle.value] = driver_.add_object(*match_class.layout, handle);
        return;
    }
    if (op.kind == OpKind::Destroy) {
        driver_.remove_object(ids_.at(handle.value));
        ids_.erase(handle.value);
        world_.remove(handle);
        return;
    }
    const MatchClass::Field& field =
        world_.set(schema_, recording_index, recordings_[recording_index], op);
    driver_.mark_property_dirty(ids_.at(handle.value), field.parent);
}

ClientVerdict TruthServer::judge(const MatchWorld& world, const NetDriver& driver) const {
    return ClientJudge(schema_, end_states_, world_, driver_)
        .judge(world, driver, true, std::nullopt);
}

}  // namespace replayout::match
