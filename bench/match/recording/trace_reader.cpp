// SPDX-License-Identifier: MIT
#include "match/recording/trace_reader.h"

#include "match/battle/printable.h"
#include "match/recording/gzip_stream.h"
#include "match/recording/trace_cursor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

namespace replayout::match {

namespace {

constexpr std::string_view header_magic = "RTR1";
constexpr std::string_view trailer_magic = "1RTR";
constexpr std::uint16_t supported_version = 1;

// A clock in microseconds has 64 bits. 31,000 years in them leave room for whatever is added.
constexpr double time_magnitude_max_s = 1e12;

[[nodiscard]] bool is_text(std::span<const std::byte> bytes, std::string_view text) noexcept {
    return std::equal(bytes.begin(), bytes.end(), text.begin(), text.end(),
                      [](std::byte byte, char letter) {
                          return byte == static_cast<std::byte>(static_cast<unsigned char>(letter));
                      });
}

// One decoder reads one trace: each step checks what it reads and fails the cursor, the next steps
// then find it failed and do nothing.
class TraceDecoder {
  public:
    TraceDecoder(TraceCursor& in, const TraceLimits& limits) : in_(&in), limits_(limits) {}

    /// Reads to the end of the stream; afterwards the cursor has failed or the recording is whole.
    void decode();

    [[nodiscard]] Recording& recording() noexcept { return recording_; }
    [[nodiscard]] std::optional<std::uint32_t> tick() const noexcept { return tick_; }

  private:
    void header();
    void classes();
    void fields(ClassInfo& class_info);
    void ticks();
    void tick_head(double& time_s, std::uint32_t& op_count);
    void op();
    [[nodiscard]] std::string spawn_fault(std::uint32_t object, std::uint16_t class_index) const;
    void spawn(std::uint32_t object);
    void set(std::uint32_t object);
    void destroy(std::uint32_t object);
    void trailer();

    [[nodiscard]] std::string text();
    [[nodiscard]] bool expect_live(std::string_view what, std::uint32_t object);

    TraceCursor* in_;
    TraceLimits limits_;
    Recording recording_;
    std::uint32_t announced_tick_count_ = 0;
    std::uint32_t announced_object_count_ = 0;
    std::uint32_t declared_field_count_ = 0;
    std::uint64_t live_field_count_ = 0;
    std::uint32_t live_object_count_ = 0;
    std::vector<std::uint32_t> class_of_object_;  // by id - 1; no_class once destroyed
    std::optional<std::uint32_t> tick_;
};

void TraceDecoder::decode() {
    in_->enter("the header");
    header();
    in_->enter("the class table");
    classes();
    in_->enter("the ticks");
    ticks();
    in_->enter("the trailer");
    trailer();
    in_->expect_end();
}

std::string TraceDecoder::text() {
    in_->begin_item();
    const std::span<const std::byte> bytes = in_->read_string_bytes();
    if (!is_utf8(bytes)) {
        in_->fail("has a name that is not valid UTF-8");
        return {};
    }
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void TraceDecoder::header() {
    in_->begin_item();
    if (!is_text(in_->read_bytes(header_magic.size()), header_magic)) {
        in_->fail("is not a trace: it does not begin with \"RTR1\"");
        return;
    }
    in_->begin_item();
    const auto version = in_->read<std::uint16_t>();
    const auto flags = in_->read<std::uint16_t>();
    recording_.tick_rate_hz = in_->read<float>();
    announced_tick_count_ = in_->read<std::uint32_t>();
    if (!in_->failed() && announced_tick_count_ > limits_.tick_count_max) {
        in_->fail("it announces more than " + std::to_string(limits_.tick_count_max) + " ticks");
        return;
    }
    announced_object_count_ = in_->read<std::uint32_t>();
    if (in_->failed()) {
        return;
    }
    if (version != supported_version) {
        in_->fail("has version " + std::to_string(version) + "; only version 1 is known");
    } else if (flags != 0) {
        in_->fail("has flags " + std::to_string(flags) + "; none are known");
    } else if (!std::isfinite(recording_.tick_rate_hz) || recording_.tick_rate_hz <= 0.0F) {
        in_->fail("has a tick rate that is not a finite number above 0");
    }
    recording_.name = text();
    recording_.source = text();
}

void TraceDecoder::classes() {
    in_->begin_item();
    const auto class_count = in_->read<std::uint16_t>();
    for (std::uint32_t i = 0; i < class_count && !in_->failed(); ++i) {
        ClassInfo class_info;
        class_info.name = text();
        fields(class_info);
        recording_.classes.push_back(std::move(class_info));
    }
}

void TraceDecoder::fields(ClassInfo& class_info) {
    in_->begin_item();
    const auto field_count = in_->read<std::uint16_t>();
    if (field_count > limits_.declared_fields_max - declared_field_count_) {
        in_->fail("declares more than " + std::to_string(limits_.declared_fields_max) + " fields");
        return;
    }
    declared_field_count_ += field_count;
    for (std::uint32_t i = 0; i < field_count; ++i) {
        std::string name = text();
        const auto type = in_->read<std::uint8_t>();
        if (in_->failed()) {
            return;
        }
        if (type >= field_type_count) {
            in_->fail("has a field of the unknown type " + std::to_string(type));
            return;
        }
        class_info.fields.push_back({std::move(name), static_cast<FieldType>(type)});
    }
}

void TraceDecoder::ticks() {
    for (std::uint32_t tick = 0; tick < announced_tick_count_ && !in_->failed(); ++tick) {
        tick_ = tick;
        double time_s = 0.0;
        std::uint32_t op_count = 0;
        tick_head(time_s, op_count);
        if (in_->failed()) {
            return;
        }
        recording_.begin_tick(time_s);
        for (std::uint32_t i = 0; i < op_count && !in_->failed(); ++i) {
            op();
        }
    }
    if (!in_->failed()) {
        tick_.reset();
    }
}

void TraceDecoder::tick_head(double& time_s, std::uint32_t& op_count) {
    in_->begin_item();
    time_s = in_->read<double>();
    op_count = in_->read<std::uint32_t>();
    if (in_->failed()) {
        return;
    }
    if (!std::isfinite(time_s) || std::abs(time_s) > time_magnitude_max_s) {
        in_->fail("has a time that is not finite or beyond all reason");
    } else if (!recording_.tick_times_s.empty() && time_s < recording_.tick_times_s.back()) {
        in_->fail("has a time that goes back");
    }
}

void TraceDecoder::op() {
    in_->begin_item();
    const auto kind = in_->read<std::uint8_t>();
    const auto object = in_->read<std::uint32_t>();
    if (in_->failed()) {
        return;
    }
    switch (kind) {
        case static_cast<std::uint8_t>(OpKind::Spawn):
            spawn(object);
            break;
        case static_cast<std::uint8_t>(OpKind::Set):
            set(object);
            break;
        case static_cast<std::uint8_t>(OpKind::Destroy):
            destroy(object);
            break;
        default:
            in_->fail("has an unknown op " + std::to_string(kind));
            break;
    }
}

// Why this spawn is none, as a sentence without its subject, or empty.
std::string TraceDecoder::spawn_fault(std::uint32_t object, std::uint16_t class_index) const {
    if (object != recording_.object_count + 1) {
        return "where object " + std::to_string(recording_.object_count + 1) + " comes next";
    }
    if (object > announced_object_count_) {
        return "but announces only " + std::to_string(announced_object_count_);
    }
    if (class_index >= recording_.classes.size()) {
        return "of class " + std::to_string(class_index) + ", but has only " +
               std::to_string(recording_.classes.size()) + " classes";
    }
    if (live_object_count_ >= limits_.live_objects_max) {
        return "when more than " + std::to_string(limits_.live_objects_max) +
               " objects would be live";
    }
    if (recording_.classes[class_index].fields.size() >
        limits_.live_fields_max - live_field_count_) {
        return "when all live objects together would have more than " +
               std::to_string(limits_.live_fields_max) + " fields";
    }
    return {};
}

void TraceDecoder::spawn(std::uint32_t object) {
    const auto class_index = in_->read<std::uint16_t>();
    if (in_->failed()) {
        return;
    }
    const std::string fault = spawn_fault(object, class_index);
    if (!fault.empty()) {
        in_->fail("spawns object " + std::to_string(object) + ' ' + fault);
        return;
    }
    ++live_object_count_;
    live_field_count_ += recording_.classes[class_index].fields.size();
    class_of_object_.push_back(class_index);
    recording_.append_spawn(object, class_index);
}

bool TraceDecoder::expect_live(std::string_view what, std::uint32_t object) {
    if (object != 0 && object <= class_of_object_.size() &&
        class_of_object_[object - 1] != no_class) {
        return true;
    }
    in_->fail(std::string(what) + " object " + std::to_string(object) + ", which is not live");
    return false;
}

void TraceDecoder::set(std::uint32_t object) {
    const auto field = in_->read<std::uint16_t>();
    if (in_->failed() || !expect_live("sets a field of", object)) {
        return;
    }
    const ClassInfo& class_info = recording_.classes[class_of_object_[object - 1]];
    if (field >= class_info.fields.size()) {
        in_->fail("sets field " + std::to_string(field) + " of object " + std::to_string(object) +
                  ", whose class has " + std::to_string(class_info.fields.size()) + " fields");
        return;
    }
    const FieldType type = class_info.fields[field].type;
    const std::span<const std::byte> value =
        type == FieldType::String ? in_->read_string_bytes() : in_->read_bytes(fixed_size(type));
    if (in_->failed()) {
        return;
    }
    const std::string_view fault = value_fault(type, value, announced_object_count_);
    if (!fault.empty()) {
        in_->fail("sets field " + std::to_string(field) + " (" + std::string(to_string(type)) +
                  ") of object " + std::to_string(object) + " to a value that " +
                  std::string(fault));
        return;
    }
    recording_.append_set(object, field, value);
}

void TraceDecoder::destroy(std::uint32_t object) {
    if (!expect_live("destroys", object)) {
        return;
    }
    std::uint32_t& class_index = class_of_object_[object - 1];
    --live_object_count_;
    live_field_count_ -= recording_.classes[class_index].fields.size();
    class_index = no_class;
    recording_.append_destroy(object);
}

void TraceDecoder::trailer() {
    in_->begin_item();
    const bool has_magic = is_text(in_->read_bytes(trailer_magic.size()), trailer_magic);
    const auto set_count = in_->read<std::uint64_t>();
    const auto spawn_count = in_->read<std::uint32_t>();
    const auto destroy_count = in_->read<std::uint32_t>();
    if (in_->failed()) {
        return;
    }
    if (!has_magic) {
        in_->fail("has no \"1RTR\" after the last tick");
    } else if (set_count != recording_.set_count || spawn_count != recording_.object_count ||
               destroy_count != recording_.destroy_count) {
        in_->fail("has a trailer whose totals are not those of the ops");
    } else if (announced_object_count_ != recording_.object_count) {
        in_->fail("announces " + std::to_string(announced_object_count_) + " objects and spawns " +
                  std::to_string(recording_.object_count));
    }
}

[[nodiscard]] TraceError make_file_error(std::string_view name, std::string_view what) {
    TraceError error;
    error.message = printable(name) + ": " + std::string(what);
    return error;
}

[[nodiscard]] ReadTraceResult decode(ByteSource& source, std::string_view name,
                                     const TraceLimits& limits) {
    const std::uint64_t bytes_max = std::min<std::uint64_t>(
        limits.decompressed_bytes_max, std::numeric_limits<std::uint32_t>::max());
    GzipStream stream(source, {.bytes_max = bytes_max,
                               .ratio_max = limits.ratio_max,
                               .ratio_free_size = limits.ratio_free_bytes});
    TraceCursor cursor(stream);
    TraceDecoder decoder(cursor, limits);
    decoder.decode();
    if (!cursor.failed()) {
        return std::move(decoder.recording());
    }
    TraceError error;
    error.byte_offset = cursor.error_offset();
    error.tick = decoder.tick();
    error.message = printable(name) + ": ";
    if (error.tick) {
        error.message += "tick " + std::to_string(*error.tick) + ", ";
    }
    if (error.byte_offset != 0) {
        error.message += "byte " + std::to_string(error.byte_offset) + ": ";
    }
    error.message += cursor.error();
    return error;
}

// Why the path is not to be opened, or empty. A directory opens but does not read, a pipe without a
// writer does not even open, and /dev/zero never ends.
[[nodiscard]] std::string path_fault(const std::string& path) {
    std::error_code code;
    const std::filesystem::file_status status = std::filesystem::status(path, code);
    if (status.type() == std::filesystem::file_type::not_found) {
        return "no such file";
    }
    if (code) {
        return "cannot be read: " + code.message();
    }
    if (std::filesystem::is_directory(status)) {
        return "is a directory, not a trace";
    }
    return std::filesystem::is_regular_file(status) ? "" : "is not a regular file";
}

}  // namespace

ReadTraceResult read_trace(const std::string& path, const TraceLimits& limits) {
    const std::string fault = path_fault(path);
    if (!fault.empty()) {
        return make_file_error(path, fault);
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return make_file_error(path, "cannot be opened; is reading it permitted?");
    }
    FileSource source(file);
    return decode(source, path, limits);
}

ReadTraceResult read_trace_bytes(std::span<const std::byte> file, std::string_view name,
                                 const TraceLimits& limits) {
    MemorySource source(file);
    return decode(source, name, limits);
}

}  // namespace replayout::match
