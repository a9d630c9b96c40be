// SPDX-License-Identifier: MIT
//
// A place in the decompressed bytes of a trace that only moves forward. Reads past the end and
// explicit fail() calls are sticky: the first reason stays, every later read gives zero or nothing
// and moves no further. So a parser may read a few numbers in a row and look at failed() once,
// before it loops, indexes or allocates by any of them.
//
//     buffer_   | consumed | unread ............ | free |
//                          ^begin_               ^end_
//
// A read that does not fit into the unread part moves that part to the front and refills behind it.
#pragma once

#include "match/recording/gzip_stream.h"
#include "match/recording/little_endian.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::match {

class TraceCursor {
  public:
    /// The stream is a loan for the life of this object.
    explicit TraceCursor(GzipStream& stream);

    /// Names the part that is being read, for the message should the file end inside it.
    void enter(std::string_view part) noexcept { part_ = part; }

    /// An item begins here; a failure inside it is reported at this place.
    void begin_item() noexcept { item_offset_ = failed_ ? item_offset_ : offset(); }

    /// A number, or zero after a failure.
    template <typename T>
    [[nodiscard]] T read() {
        const std::span<const std::byte> bytes = read_bytes(sizeof(T));
        return bytes.empty() ? T{} : load_le<T>(bytes);
    }

    /// The next `size` bytes, at most read_size_max, valid until the next call; empty after a
    /// failure.
    [[nodiscard]] std::span<const std::byte> read_bytes(std::size_t size) {
        if (end_ - begin_ < size && !fill(size)) {
            return {};
        }
        const std::span<const std::byte> bytes(buffer_.data() + begin_, size);
        begin_ += size;
        return bytes;
    }

    /// Size and bytes of a string; its bytes are not looked at. Empty after a failure, too.
    [[nodiscard]] std::span<const std::byte> read_string_bytes() {
        return read_bytes(read<std::uint16_t>());
    }

    /// Fails if anything follows, or if the gzip stream does not end as it should.
    void expect_end();

    void fail(std::string message);
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] std::uint64_t error_offset() const noexcept { return item_offset_; }

    /// The longest item of the format is a string.
    static constexpr std::size_t read_size_max = 65'535;

  private:
    [[nodiscard]] std::uint64_t offset() const noexcept { return buffer_offset_ + begin_; }
    [[nodiscard]] bool fill(std::size_t size);

    GzipStream* stream_;
    std::vector<std::byte> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t buffer_offset_ = 0;  // of buffer_[0] in the stream
    std::uint64_t item_offset_ = 0;
    std::string_view part_ = "the header";
    bool failed_ = false;
    std::string error_;
};

}  // namespace replayout::match
