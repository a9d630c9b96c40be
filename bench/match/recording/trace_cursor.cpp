// SPDX-License-Identifier: MIT
#include "match/recording/trace_cursor.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <array>
#include <utility>

namespace replayout::match {

namespace {

// Four times the longest item: the unread rest that has to move is then rare and short.
constexpr std::size_t buffer_size = std::size_t{256} << 10;

}  // namespace

TraceCursor::TraceCursor(GzipStream& stream) : stream_(&stream), buffer_(buffer_size) {}

bool TraceCursor::fill(std::size_t size) {
    REPLAYOUT_ASSERT(size <= read_size_max);
    if (failed_) {
        return false;
    }
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    buffer_offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
    while (end_ < size) {
        const std::size_t added = stream_->read(std::span(buffer_).subspan(end_));
        if (added == 0) {
            fail(!stream_->error().empty()
                     ? stream_->error()
                     : std::string("is truncated: it ends inside ") + std::string(part_));
            return false;
        }
        end_ += added;
    }
    return true;
}

void TraceCursor::expect_end() {
    begin_item();
    if (failed_) {
        return;
    }
    std::array<std::byte, 1> extra{};
    if (begin_ != end_ || stream_->read(extra) != 0) {
        fail("goes on after the trailer");
    } else if (!stream_->error().empty()) {
        fail(stream_->error());
    }
}

void TraceCursor::fail(std::string message) {
    if (failed_) {
        return;
    }
    failed_ = true;
    error_ = std::move(message);
    // Nothing more is to be had: the unread bytes are given up, so that the fast path fails as
    // well.
    end_ = begin_;
}

}  // namespace replayout::match
