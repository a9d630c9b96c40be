// SPDX-License-Identifier: MIT
#include "match/recording/match_recorder.h"

#include "match/recording/recorded_match.h"

#include <stdexcept>

namespace replayout::match {

namespace {

[[nodiscard]] ReplayRecorderSettings recorder_settings(const MatchOptions& options,
                                                       std::span<const std::byte> game_data) {
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = static_cast<std::uint32_t>(options.checkpoints_s * 1'000);
    settings.game_data = game_data;
    return settings;
}

}  // namespace

MatchRecorder::MatchRecorder(const MatchOptions& options, std::span<const Recording> recordings,
                             std::uint64_t ticks, NetDriver& server)
    : server_(server),
      path_(options.record_path),
      sink_(path_),
      game_data_(encode_recorded_match(options, recordings, ticks)),
      recorder_(sink_, recorder_settings(options, game_data_)) {
    if (!sink_.is_open()) {
        throw std::runtime_error(path_ + ": cannot be written (" + sink_.complaint() + ")");
    }
    if (const Status status = server_.start_recording(recorder_); !status) {
        throw std::runtime_error(path_ + ": " + status.error().message);
    }
}

RecordResult MatchRecorder::stop() {
    server_.stop_recording();
    RecordResult result;
    result.stats = recorder_.stats();
    if (!sink_.close()) {
        result.error = "could not be written whole (" + sink_.complaint() + ")";
    } else if (recorder_.error() != ReplayError::None) {
        result.error = "the recording failed: " + std::string(to_string(recorder_.error()));
    }
    return result;
}

}  // namespace replayout::match
