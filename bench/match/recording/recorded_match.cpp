// SPDX-License-Identifier: MIT
#include "match/recording/recorded_match.h"

#include <string>
#include <utility>

namespace replayout::match {

namespace {

constexpr std::uint64_t version = 1;

class Writer {
  public:
    void number(std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
    }
    void text(const std::string& text) {
        number(text.size(), 4);
        const auto view = std::as_bytes(std::span(text));
        bytes.insert(bytes.end(), view.begin(), view.end());
    }

    std::vector<std::byte> bytes;
};

/// After a failure everything is 0 and empty.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t number(std::size_t size) {
        const std::span<const std::byte> taken = take(size);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            value |= std::to_integer<std::uint64_t>(taken[i]) << (8 * i);
        }
        return value;
    }
    [[nodiscard]] std::string text() {
        const std::span<const std::byte> taken = take(number(4));
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    /// So many that need a byte each at least.
    [[nodiscard]] std::uint64_t count() {
        const std::uint64_t value = number(4);
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
    Writer writer;
    writer.number(version, 1);
    writer.number(options.traces.empty() ? 1 : 0, 1);
    writer.number(options.is_push_based ? 1 : 0, 1);
    writer.number(options.is_quantised ? 1 : 0, 1);
    writer.number(options.seed, 8);
    writer.number(ticks, 8);
    writer.number(recordings.size(), 4);
    for (const Recording& recording : recordings) {
        writer.text(recording.name);
        writer.number(recording.object_count, 4);
        writer.number(recording.classes.size(), 4);
        for (const ClassInfo& info : recording.classes) {
            writer.text(info.name);
            writer.number(info.fields.size(), 4);
            for (const FieldInfo& field : info.fields) {
                writer.number(static_cast<std::uint64_t>(field.type), 1);
                writer.text(field.name);
            }
        }
    }
    return std::move(writer.bytes);
}

bool decode_recorded_match(std::span<const std::byte> bytes, RecordedMatch& match) {
    Reader reader(bytes);
    if (reader.number(1) != version) {
        return false;
    }
    match.is_battle = reader.number(1) != 0;
    match.is_push_based = reader.number(1) != 0;
    match.is_quantised = reader.number(1) != 0;
    match.seed = reader.number(8);
    match.ticks = reader.number(8);
    match.recordings.resize(reader.count());
    for (Recording& recording : match.recordings) {
        recording.name = reader.text();
        recording.object_count = static_cast<std::uint32_t>(reader.number(4));
        recording.classes.resize(reader.count());
        for (ClassInfo& info : recording.classes) {
            info.name = reader.text();
            info.fields.resize(reader.count());
            for (FieldInfo& field : info.fields) {
                const std::uint64_t type = reader.number(1);
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
