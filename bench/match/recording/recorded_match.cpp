// SPDX-License-Identifier: MIT
#include "match/recording/recorded_match.h"

#include "match/recording/little_endian.h"

#include <string>

namespace replayout::match {

namespace {

constexpr std::uint8_t version = 1;

void append_text(std::vector<std::byte>& bytes, const std::string& text) {
    append_le(bytes, static_cast<std::uint32_t>(text.size()));
    const auto view = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), view.begin(), view.end());
}

/// After a failure everything is 0 and empty.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    [[nodiscard]] T number() {
        const std::span<const std::byte> taken = take(sizeof(T));
        return taken.empty() ? T{} : load_le<T>(taken);
    }
    [[nodiscard]] bool flag() { return number<std::uint8_t>() != 0; }
    [[nodiscard]] std::string text() {
        const std::span<const std::byte> taken = take(number<std::uint32_t>());
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    /// So many that need a byte each at least.
    [[nodiscard]] std::uint32_t count() {
        const auto value = number<std::uint32_t>();
        failed_ = failed_ || value > bytes_.size();
        return failed_ ? 0 : value;
    }
    [[nodiscard]] bool is_done() const noexcept { return !failed_ && bytes_.empty(); }
    void fail() noexcept { failed_ = true; }

  private:
    [[nodiscard]] std::span<const std::byte> take(std::uint64_t size) {
        if (failed_ || size > bytes_.size()) {
            failed_ = true;
            return {};
        }
        const auto taken = bytes_.first(static_cast<std::size_t>(size));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

    std::span<const std::byte> bytes_;
    bool failed_ = false;
};

}  // namespace

std::vector<std::byte> encode_recorded_match(const MatchOptions& options,
                                             std::span<const Recording> recordings,
                                             std::uint64_t ticks) {
    std::vector<std::byte> bytes;
    const auto append_count = [&bytes](std::size_t count) {
        append_le(bytes, static_cast<std::uint32_t>(count));
    };
    append_le(bytes, version);
    append_le(bytes, static_cast<std::uint8_t>(options.traces.empty()));
    append_le(bytes, static_cast<std::uint8_t>(options.is_push_based));
    append_le(bytes, static_cast<std::uint8_t>(options.is_quantised));
    append_le(bytes, options.seed);
    append_le(bytes, ticks);
    append_count(recordings.size());
    for (const Recording& recording : recordings) {
        append_text(bytes, recording.name);
        append_le(bytes, recording.object_count);
        append_count(recording.classes.size());
        for (const ClassInfo& info : recording.classes) {
            append_text(bytes, info.name);
            append_count(info.fields.size());
            for (const FieldInfo& field : info.fields) {
                append_le(bytes, static_cast<std::uint8_t>(field.type));
                append_text(bytes, field.name);
            }
        }
    }
    return bytes;
}

bool decode_recorded_match(std::span<const std::byte> bytes, RecordedMatch& match) {
    Reader reader(bytes);
    if (reader.number<std::uint8_t>() != version) {
        return false;
    }
    match.is_battle = reader.flag();
    match.is_push_based = reader.flag();
    match.is_quantised = reader.flag();
    match.seed = reader.number<std::uint64_t>();
    match.ticks = reader.number<std::uint64_t>();
    match.recordings.resize(reader.count());
    for (Recording& recording : match.recordings) {
        recording.name = reader.text();
        recording.object_count = reader.number<std::uint32_t>();
        recording.classes.resize(reader.count());
        for (ClassInfo& info : recording.classes) {
            info.name = reader.text();
            info.fields.resize(reader.count());
            for (FieldInfo& field : info.fields) {
                const auto type = reader.number<std::uint8_t>();
                if (type >= field_type_count) {
                    reader.fail();
                    return false;
                }
                field.type = static_cast<FieldType>(type);
                field.name = reader.text();
            }
        }
    }
    return reader.is_done();
}

}  // namespace replayout::match
