// SPDX-License-Identifier: MIT
#include "support/checks/trace_writer.h"

#include "match/recording/little_endian.h"

#include <replayout/reflection/diagnostics.h>

#include <zlib.h>

namespace replayout::testing {

TraceBytes& TraceBytes::u8(std::uint8_t value) {
    match::append_le(bytes_, value);
    return *this;
}

TraceBytes& TraceBytes::u16(std::uint16_t value) {
    match::append_le(bytes_, value);
    return *this;
}

TraceBytes& TraceBytes::u32(std::uint32_t value) {
    match::append_le(bytes_, value);
    return *this;
}

TraceBytes& TraceBytes::u64(std::uint64_t value) {
    match::append_le(bytes_, value);
    return *this;
}

TraceBytes& TraceBytes::f32(float value) {
    match::append_le(bytes_, value);
    return *this;
}

TraceBytes& TraceBytes::f64(double value) {
    match::append_le(bytes_, value);
    return *this;
}

TraceBytes& TraceBytes::raw(std::string_view text) {
    return raw(std::as_bytes(std::span(text)));
}

TraceBytes& TraceBytes::raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
}

TraceBytes& TraceBytes::str(std::string_view text) {
    REPLAYOUT_ASSERT(text.size() <= 0xFFFF);
    return u16(static_cast<std::uint16_t>(text.size())).raw(text);
}

TraceBytes& TraceBytes::header(std::uint32_t tick_count, std::uint32_t object_count) {
    return raw("RTR1").u16(1).u16(0).f32(30.0F).u32(tick_count).u32(object_count).str("n").str("s");
}

TraceBytes& TraceBytes::class_table(std::span<const match::ClassInfo> classes) {
    u16(static_cast<std::uint16_t>(classes.size()));
    for (const match::ClassInfo& class_info : classes) {
        str(class_info.name).u16(static_cast<std::uint16_t>(class_info.fields.size()));
        for (const match::FieldInfo& field : class_info.fields) {
            str(field.name).u8(static_cast<std::uint8_t>(field.type));
        }
    }
    return *this;
}

TraceBytes& TraceBytes::tick(double time_s, std::uint32_t op_count) {
    return f64(time_s).u32(op_count);
}

TraceBytes& TraceBytes::spawn(std::uint32_t object, std::uint16_t class_index) {
    return u8(1).u32(object).u16(class_index);
}

TraceBytes& TraceBytes::set(std::uint32_t object, std::uint16_t field) {
    return u8(2).u32(object).u16(field);
}

TraceBytes& TraceBytes::destroy(std::uint32_t object) {
    return u8(3).u32(object);
}

TraceBytes& TraceBytes::trailer(std::uint64_t sets, std::uint32_t spawns, std::uint32_t destroys) {
    return raw("1RTR").u64(sets).u32(spawns).u32(destroys);
}

namespace {

void append_op(TraceBytes& out, const match::Recording& recording, const match::Op& op,
               std::vector<std::uint16_t>& class_of_object) {
    switch (op.kind) {
        case match::OpKind::Spawn:
            out.spawn(op.object, op.class_or_field);
            class_of_object.push_back(op.class_or_field);
            break;
        case match::OpKind::Set: {
            out.set(op.object, op.class_or_field);
            const match::ClassInfo& class_info = recording.classes[class_of_object[op.object - 1]];
            if (class_info.fields[op.class_or_field].type == match::FieldType::String) {
                out.str(recording.text(op));
            } else {
                out.raw(recording.value(op));
            }
            break;
        }
        case match::OpKind::Destroy:
            out.destroy(op.object);
            break;
    }
}

}  // namespace

std::vector<std::byte> encode_trace(const match::Recording& recording) {
    TraceBytes out;
    out.raw("RTR1").u16(1).u16(0).f32(recording.tick_rate_hz);
    out.u32(static_cast<std::uint32_t>(recording.tick_count())).u32(recording.object_count);
    out.str(recording.name).str(recording.source);
    out.class_table(recording.classes);
    std::vector<std::uint16_t> class_of_object;
    for (std::size_t tick = 0; tick < recording.tick_count(); ++tick) {
        const std::span<const match::Op> ops = recording.ops_of_tick(tick);
        out.tick(recording.tick_times_s[tick], static_cast<std::uint32_t>(ops.size()));
        for (const match::Op& op : ops) {
            append_op(out, recording, op, class_of_object);
        }
    }
    out.trailer(recording.set_count, recording.object_count, recording.destroy_count);
    return out.bytes();
}

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::vector<std::byte> gzip(std::span<const std::byte> bytes, int level) {
    z_stream zlib{};
    const int window_bits_with_gzip_header = 15 + 16;
    const int ready =
        deflateInit2(&zlib, level, Z_DEFLATED, window_bits_with_gzip_header, 8, Z_DEFAULT_STRATEGY);
    REPLAYOUT_ASSERT(ready == Z_OK);
    // deflateBound does not count a gzip header in every zlib; 64 bytes are more than it takes.
    std::vector<std::byte> out(deflateBound(&zlib, static_cast<uLong>(bytes.size())) + 64);
    zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out.size());
    const int done = deflate(&zlib, Z_FINISH);
    REPLAYOUT_ASSERT(done == Z_STREAM_END);
    out.erase(out.end() - static_cast<std::ptrdiff_t>(zlib.avail_out), out.end());
    deflateEnd(&zlib);
    return out;
}

}  // namespace replayout::testing
