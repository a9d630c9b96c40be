// SPDX-License-Identifier: MIT
#include "match/session/replay_play.h"

#include "match/battle/battle.h"
#include "match/battle/match_world.h"
#include "match/battle/printable.h"
#include "match/judge/truth_server.h"
#include "match/recording/recorded_match.h"
#include "match/recording/replay_file.h"
#include "match/session/match_drivers.h"
#include "support/report/report_text.h"

#include <replayout/netdriver/replay_player.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

namespace replayout::match {

using bench::hex;
using bench::print;

namespace {

[[nodiscard]] NetTime time_of(std::uint64_t tick) noexcept {
    return {static_cast<std::int64_t>(tick + 1) * match_tick_us};
}

[[nodiscard]] double seconds(NetTime time) noexcept {
    return static_cast<double>(time.microseconds) / 1e6;
}

[[nodiscard]] NetDriverSettings player_settings() {
    NetDriverSettings settings;
    settings.config = match_config();
    return settings;
}

void check_replay(const std::string& path, ReplayError error) {
    if (error != ReplayError::None) {
        throw std::runtime_error(path + ": " + std::string(to_string(error)));
    }
}

/// A file, and a world that it is played into.
class Screen {
  public:
    Screen(std::string path, ReplaySource& source, const MatchSchema& schema)
        : path_(std::move(path)), world(schema), player(player_settings(), source, world) {
        check(add_match_layouts(schema, player.driver()));
        check_replay(path_, player.open());
    }

    void seek(NetTime place) { check_replay(path_, player.seek(place)); }

  private:
    std::string path_;

  public:
    MatchWorld world;
    ReplayPlayer player;
};

/// Of a recording of so many bytes, that lasts as long: no more than it can have, whatever it says.
[[nodiscard]] std::uint64_t ticks_that_fit(std::uint64_t ticks, std::uint64_t byte_count,
                                           std::int64_t length_us) {
    // A battle moves something in nearly every tick, and each frame has two digests at least.
    constexpr std::uint64_t frame_bytes = 32;
    const auto by_time = static_cast<std::uint64_t>(std::max<std::int64_t>(length_us, 0)) /
                             static_cast<std::uint64_t>(match_tick_us) +
                         2;
    return std::max<std::uint64_t>(std::min({ticks, by_time, byte_count / frame_bytes}), 1);
}

/// What the file says of its match, before its classes are known; with no more ticks than it has.
[[nodiscard]] RecordedMatch read_match(const std::string& path, ReplaySource& source) {
    NetDriverSettings settings = player_settings();
    settings.layout_policy = LayoutPolicy::SkipUnknown;  // all of them
    settings.config.described_layouts_max = 65'535;
    settings.config.described_bytes_max = 64u << 20;
    const auto no_classes = MatchSchema::create({});
    if (!no_classes) {
        throw std::runtime_error(no_classes.error().message);
    }
    MatchWorld nothing(**no_classes);
    ReplayPlayer player(settings, source, nothing);
    check_replay(path, player.open());
    RecordedMatch match;
    if (!decode_recorded_match(player.game_data(), match)) {
        throw std::runtime_error(path + ": it is not the recording of a match");
    }
    match.ticks = ticks_that_fit(match.ticks, source.size(),
                                 player.end_time().microseconds - player.start_time().microseconds);
    return match;
}

/// `is_begun`: what was played is the beginning of what was recorded, and may lack its last
/// objects.
[[nodiscard]] bool is_same_match(const std::vector<Recording>& played,
                                 const std::vector<Recording>& recorded, bool is_begun) {
    return std::equal(played.begin(), played.end(), recorded.begin(), recorded.end(),
                      [is_begun](const Recording& a, const Recording& b) {
                          return a.name == b.name && a.classes == b.classes &&
                                 (a.object_count == b.object_count ||
                                  (is_begun && a.object_count < b.object_count));
                      });
}

/// What was played; empty: only the file knows.
[[nodiscard]] std::vector<Recording> recordings_of(const MatchOptions& options,
                                                   const RecordedMatch& match,
                                                   const std::vector<Recording>& traces) {
    std::vector<Recording> recordings = traces;
    if (traces.empty() && match.is_battle) {
        BattleSettings settings;
        settings.seed = match.seed;
        settings.tick_count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(match.ticks, 1'000'000));
        recordings.push_back(make_battle(settings));
    }
    const bool is_begun = traces.empty() && match.is_battle;  // it was cut off
    if (!recordings.empty() && !is_same_match(recordings, match.recordings, is_begun)) {
        throw std::runtime_error(options.play_path + ": it is the recording of another match");
    }
    return recordings;
}

/// Of all that is shown, in the order of network ids, by which references are named, too.
[[nodiscard]] std::uint32_t world_crc32(const Screen& screen) {
    const NetGUIDCache& guids = screen.player.driver().guids();
    std::vector<std::pair<NetGUID, ObjectHandle>> objects;
    screen.world.for_each([&](ObjectHandle handle, const MatchObject&) {
        objects.emplace_back(guids.find_guid(handle), handle);
    });
    std::sort(objects.begin(), objects.end());
    EndStateCrc crc;
    for (const auto& [guid, handle] : objects) {
        const MatchObject& object = *screen.world.find(handle);
        crc.object(static_cast<std::uint32_t>(guid.value), object.match_class().class_index);
        for (std::size_t i = 0; i < object.match_class().fields.size(); ++i) {
            const MatchClass::Field& field = object.match_class().fields[i];
            const auto index = static_cast<std::uint16_t>(i);
            if (field.type != FieldType::ObjectRef) {
                crc.field(index, field.type, object.encode(field));
                continue;
            }
            RepPath path;
            path.handles[0] = field.handle;
            const auto named = static_cast<std::uint32_t>(
                screen.player.driver().find_reference(handle, path).value);
            crc.field(index, field.type, std::as_bytes(std::span(&named, 1)));
        }
    }
    return crc.value();
}

[[nodiscard]] ReplayVerdict judge(TruthServer& truth, const Screen& screen,
                                  std::uint64_t tick_count) {
    const std::int64_t shown = screen.player.time().microseconds;
    const auto ticks = static_cast<std::uint64_t>(std::max<std::int64_t>(shown / match_tick_us, 1));
    truth.play_through(std::min(ticks, tick_count) - 1);
    const ClientVerdict verdict = truth.judge(screen.world, screen.player.driver());
    return {verdict.crc32, verdict.server_crc32, verdict.difference};
}

/// Places in the order of time, as the truth knows no way back; each from another one at random.
void seek_at_random(const MatchOptions& options, TruthServer& truth, Screen& screen,
                    std::uint64_t tick_count, ReplayResult& result) {
    std::mt19937_64 random(options.seed);
    std::vector<std::uint64_t> ticks(options.seeks);
    for (std::uint64_t& tick : ticks) {
        tick = random() % tick_count;
    }
    std::sort(ticks.begin(), ticks.end());
    for (const std::uint64_t tick : ticks) {
        screen.seek(time_of(random() % tick_count));
        screen.seek(time_of(tick));
        const ReplayVerdict verdict = judge(truth, screen, tick_count);
        ++result.seeks;
        result.seeks_equal += verdict.is_equal() ? 1u : 0u;
        if (!verdict.is_equal() && result.first_difference.empty()) {
            result.first_difference =
                "tick " + std::to_string(tick) + ": " +
                (verdict.difference.empty() ? "the checksum differs" : verdict.difference);
        }
    }
}

/// What is to be shown. Throws where the recording has ended before; what is told of its length, in
/// milliseconds, is its end.
[[nodiscard]] NetTime place_of(const MatchOptions& options, const ReplayPlayer& player) {
    if (!options.seek_s.has_value()) {
        return player.end_time();
    }
    constexpr std::int64_t half_a_millisecond_us = 500;
    NetTime place = player.start_time();
    place.microseconds += static_cast<std::int64_t>(*options.seek_s * 1e6);
    if (place.microseconds > player.end_time().microseconds + half_a_millisecond_us) {
        std::string text = options.play_path;
        print(text, ": --seek %.10g is beyond its end, %.3f s from its start%s", *options.seek_s,
              seconds(player.end_time()) - seconds(player.start_time()),
              player.is_whole() ? "" : ", where it is cut off");
        throw std::runtime_error(text);
    }
    return place;
}

}  // namespace

ReplayResult play_replay(const MatchOptions& options, const std::vector<Recording>& traces) {
    ReplayFileSource file(options.play_path);
    if (!file.is_open()) {
        throw std::runtime_error("cannot read " + options.play_path);
    }
    const RecordedMatch match = read_match(options.play_path, file);
    const std::vector<Recording> recordings = recordings_of(options, match, traces);
    const auto schema = MatchSchema::create(recordings.empty() ? match.recordings : recordings,
                                            {match.is_push_based, match.is_quantised});
    if (!schema) {
        throw std::runtime_error(options.play_path + ": " + schema.error().message);
    }
    if (recordings.empty() && options.seeks > 0) {
        throw std::runtime_error("--seeks needs the traces that were recorded");
    }
    Screen screen(options.play_path, file, **schema);
    ReplayResult result;
    const ReplayPlayer& player = screen.player;
    const NetTime place = place_of(options, player);
    result.is_whole = player.is_whole();
    result.start_s = seconds(player.start_time());
    result.end_s = seconds(player.end_time());
    result.checkpoints = player.checkpoint_count();
    std::unique_ptr<TruthServer> truth;
    if (!recordings.empty()) {
        truth = std::make_unique<TruthServer>(recordings, **schema);
    }
    // Of a recording that was cut off there are fewer.
    std::uint64_t tick_count = std::max<std::uint64_t>(match.ticks, 1);
    if (!recordings.empty()) {  // else only the file says so
        std::size_t longest = 1;
        for (const Recording& recording : recordings) {
            longest = std::max(longest, recording.tick_count());
        }
        tick_count = std::min<std::uint64_t>(tick_count, longest);
    }
    const auto recorded_ticks = static_cast<std::uint64_t>(
        std::max<std::int64_t>(player.end_time().microseconds, 0) / match_tick_us);
    if (options.seeks > 0) {
        seek_at_random(options, *truth, screen,
                       std::clamp<std::uint64_t>(recorded_ticks, 1, tick_count), result);
    }
    screen.seek(place);
    result.shown_s = seconds(player.time()) - result.start_s;
    result.objects = screen.world.object_count();
    result.world_crc32 = world_crc32(screen);
    if (truth != nullptr) {
        result.verdict = judge(*truth, screen, tick_count);
    }
    return result;
}

std::string report(const MatchOptions& options, const ReplayResult& result) {
    std::string text = "  " + printable(options.play_path) + "\n";
    print(text, "  %.3f s recorded, %s checkpoints%s; shown at %.3f s: %s objects, checksum %s\n",
          result.end_s - result.start_s, std::to_string(result.checkpoints).c_str(),
          result.is_whole ? "" : ", cut off", result.shown_s,
          std::to_string(result.objects).c_str(), hex(result.world_crc32, 8).c_str());
    if (result.verdict.has_value()) {
        text += "  as a match: " + hex(result.verdict->crc32, 8) + ", the server had " +
                hex(result.verdict->server_crc32, 8) + "\n";
    }
    if (result.seeks > 0) {
        text += "  " + std::to_string(result.seeks_equal) + " of " + std::to_string(result.seeks) +
                " places at random are equal\n";
    }
    if (!result.is_good()) {
        text += "\n  NOT EQUAL. First difference: " +
                printable(result.first_difference.empty() ? result.verdict->difference
                                                          : result.first_difference) +
                "\n";
    } else if (result.verdict.has_value()) {
        text += "\n  What is shown equals what the server had.\n";
    }
    return text;
}

std::string to_json(const MatchOptions& options, const ReplayResult& result) {
    nlohmann::ordered_json json;
    json["play"] = options.play_path;
    json["whole"] = result.is_whole;
    json["start_s"] = result.start_s;
    json["end_s"] = result.end_s;
    json["checkpoints"] = result.checkpoints;
    json["seek_s"] = result.shown_s;
    json["objects"] = result.objects;
    json["world_crc32"] = hex(result.world_crc32, 8);
    if (result.verdict.has_value()) {
        json["crc32"] = hex(result.verdict->crc32, 8);
        json["server_crc32"] = hex(result.verdict->server_crc32, 8);
    }
    json["seeks"] = result.seeks;
    json["seeks_equal"] = result.seeks_equal;
    json["equal"] = result.is_good();
    json["first_difference"] = !result.first_difference.empty() ? result.first_difference
                               : result.verdict.has_value()     ? result.verdict->difference
                                                                : std::string();
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace replayout::match
