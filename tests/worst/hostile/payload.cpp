// SPDX-License-Identifier: MIT
#include "worst/hostile/payload.h"

#include <algorithm>

namespace replayout::worst {

namespace {

using bench::write_set;

constexpr std::size_t payload_bytes_max = 64 * 1'024;
constexpr std::uint32_t elements_max = 2'100;  // a little more than a layout takes

template <typename Write>
[[nodiscard]] Bytes written(const Write& write) {
    thread_local Bytes room(payload_bytes_max);  // too large to be made for each
    BitWriter writer(room);
    write(writer);
    writer.finish_byte();
    const auto size = static_cast<std::ptrdiff_t>(std::min(writer.byte_count(), payload_bytes_max));
    return {room.begin(), room.begin() + size};
}

/// A part of `count` elements, cut where they end.
struct Range {
    Range(const Shape& shape, std::uint32_t count)
        : begin(count == 0 ? 0 : shape.begin % count),
          length(std::min(shape.length, count - begin)) {}
    std::uint32_t begin;
    std::uint32_t length;
};

[[nodiscard]] std::uint32_t count_of(const Shape& shape) {
    return std::min(shape.count, elements_max);
}

void write_text(BitWriter& writer, const Shape& shape) {
    bench::write_text(writer, std::min(shape.count, 1'100u));
}

void write_cells(BitWriter& writer, const Shape& shape) {
    const std::uint32_t count = count_of(shape);
    writer.write_packed_uint(count);
    if (count == 0) {
        return;
    }
    const Range set(shape, count * 8);
    write_set(writer, count * 8, set.begin, set.length, EmptySet::Possible);
    for (std::uint32_t i = 0; i < set.length; ++i) {
        writer.write_bits(i, 64);
    }
}

void write_names(BitWriter& writer, const Shape& shape) {
    const std::uint32_t count = count_of(shape);
    writer.write_packed_uint(count);
    if (count == 0) {
        return;
    }
    const Range set(shape, count);
    write_set(writer, count, set.begin, set.length, EmptySet::Possible);
    for (std::uint32_t i = 0; i < set.length; ++i) {
        writer.write_packed_uint(shape.object + ((shape.form & 1) != 0 ? i : 0));
    }
}

void write_footprints(BitWriter& writer, const Shape& shape) {
    const std::uint32_t count = std::min(shape.count, 1'030u);
    writer.write_packed_uint(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        writer.write_packed_uint(shape.object + ((shape.form & 1) != 0 ? i : 0));
    }
}

/// Ascending keys: the first, and then so far apart.
class Keys {
  public:
    Keys(BitWriter& writer, const Shape& shape)
        : writer_(writer), next_(shape.begin & 0xffff), distance_(shape.length % 64) {}
    void write() {
        writer_.write_packed_uint(is_first_ ? next_ : distance_);
        is_first_ = false;
    }

  private:
    BitWriter& writer_;
    std::uint32_t next_;
    std::uint32_t distance_;
    bool is_first_ = true;
};

/// Bits of the form: 0 the full set, 1 it began anew, 2 a lower bound, 3 an upper one, 4 half of
/// the keys are those of removed elements, 5 elements have values, 6 they have ranks that descend.
void write_stones(BitWriter& writer, const Shape& shape, bool is_kept) {
    const std::uint32_t count = count_of(shape);
    const bool is_full = (shape.form & 1) != 0;
    writer.write_bool(is_full);
    if (is_full) {
        writer.write_bool((shape.form & 2) != 0);
        if ((shape.form & 2) != 0) {
            writer.write_packed_uint(shape.object + 1);
        }
        writer.write_bool((shape.form & 4) != 0);
        if ((shape.form & 4) != 0) {
            writer.write_packed_uint(shape.begin & 0xffff);
        }
        writer.write_bool((shape.form & 8) != 0);
        if ((shape.form & 8) != 0) {
            writer.write_packed_uint(60'000);
        }
    } else {
        const std::uint32_t removed = (shape.form & 16) != 0 ? count / 2 : 0;
        writer.write_packed_uint(removed);
        Keys keys(writer, shape);
        for (std::uint32_t i = 0; i < removed; ++i) {
            keys.write();
        }
    }
    const std::uint32_t elements = !is_full && (shape.form & 16) != 0 ? count - count / 2 : count;
    writer.write_packed_uint(elements);
    Shape moved = shape;
    moved.begin += (shape.form & 16) != 0 ? 1 : 0;
    Keys keys(writer, moved);
    for (std::uint32_t i = 0; i < elements; ++i) {
        keys.write();
        if (is_kept) {
            writer.write_bool((shape.form & 64) != 0);
            if ((shape.form & 64) != 0) {
                writer.write_packed_uint(2 * (elements - i));
            }
        }
        write_set(writer, 1, 0, (shape.form & 32) != 0 ? 1 : 0, EmptySet::Possible);
        if ((shape.form & 32) != 0) {
            writer.write_bits(i, 8);
        }
    }
}

void write_body(BitWriter& writer, const Shape& shape) {
    const Range set(shape, 6);
    const std::uint32_t length = std::max(set.length, 1u);
    write_set(writer, 6, set.begin, length, EmptySet::Impossible);
    for (std::uint32_t i = 0; i < length; ++i) {
        writer.write_bits(shape.object + i, 32);
    }
}

/// One property of two, or both.
template <typename First, typename Second>
void write_two(BitWriter& writer, std::uint32_t which, const First& first, const Second& second) {
    const bool has_first = which % 3 != 1;
    const bool has_second = which % 3 != 0;
    write_set(writer, 2, has_first ? 0 : 1, has_first && has_second ? 2 : 1, EmptySet::Impossible);
    if (has_first) {
        first();
    }
    if (has_second) {
        second();
    }
}

void write_lines(BitWriter& writer, const Shape& shape) {
    const std::uint32_t count = count_of(shape);
    writer.write_packed_uint(count);
    if (count > 0) {
        const Range set(shape, count);
        write_set(writer, count, set.begin, set.length, EmptySet::Possible);
        for (std::uint32_t i = 0; i < set.length; ++i) {
            bench::write_text(writer, shape.object % 32);
        }
    }
}

void write_block(BitWriter& writer, ClassNumber number, const Shape& shape) {
    const std::uint32_t which = shape.form / 128;
    const auto one = [&] { write_set(writer, 1, 0, 1, EmptySet::Impossible); };
    switch (number) {
        case ClassNumber::Body:
            write_body(writer, shape);
            break;
        case ClassNumber::Crate:
            one();
            write_cells(writer, shape);
            break;
        case ClassNumber::Flag:
            one();
            writer.write_bool((shape.form & 1) != 0);
            break;
        case ClassNumber::Links:
            write_two(
                writer, which, [&] { write_names(writer, shape); },
                [&] { write_names(writer, shape); });
            break;
        case ClassNumber::Quarry:
            write_two(
                writer, which, [&] { write_stones(writer, shape, false); },
                [&] { write_stones(writer, shape, true); });
            break;
        case ClassNumber::Sign:
            write_two(
                writer, which, [&] { write_text(writer, shape); },
                [&] { write_lines(writer, shape); });
            break;
        case ClassNumber::Slot:
            write_two(
                writer, which, [&] { writer.write_bool((shape.form & 1) != 0); },
                [&] { write_stones(writer, shape, true); });
            break;
        case ClassNumber::Trail:
            one();
            write_footprints(writer, shape);
            break;
    }
}

}  // namespace

Bytes block_bytes(ClassNumber number, const Shape& shape) {
    return written([&](BitWriter& writer) { write_block(writer, number, shape); });
}

Bytes call_bytes(std::uint32_t function, const Shape& shape) {
    return written([&](BitWriter& writer) {
        writer.write_packed_uint(function);
        if (function <= 1 || function >= function_count) {
            return;
        }
        const bool differs = (shape.form & 256) == 0;
        writer.write_bool(differs);
        if (!differs) {
            return;
        }
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        switch (function) {
            case 2:
                write_text(writer, shape);
                break;
            case 3:
                write_cells(writer, shape);
                break;
            case 4:
                write_names(writer, shape);
                break;
            case 7:
                write_stones(writer, shape, true);
                break;
            case 8:
                write_footprints(writer, shape);
                break;
            default:
                write_stones(writer, shape, false);
                break;
        }
    });
}

}  // namespace replayout::worst
