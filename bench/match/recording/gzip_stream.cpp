// SPDX-License-Identifier: MIT
#include "match/recording/gzip_stream.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <utility>

namespace replayout::match {

namespace {

constexpr std::size_t chunk_size = std::size_t{64} << 10;

// zlib counts in uInt; our chunks and buffers are far smaller than what fits, whatever it is.
constexpr std::size_t zlib_span_max = std::size_t{1} << 30;

// zlib's window size for deflate's largest window, plus 16 to ask for gzip headers and nothing
// else.
constexpr int gzip_window_bits = 15 + 16;

}  // namespace

std::span<const std::byte> MemorySource::next_chunk() {
    const std::span<const std::byte> chunk = rest_.first(std::min(rest_.size(), chunk_size));
    rest_ = rest_.subspan(chunk.size());
    return chunk;
}

FileSource::FileSource(std::ifstream& file) : file_(&file), chunk_(chunk_size) {}

std::span<const std::byte> FileSource::next_chunk() {
    file_->read(reinterpret_cast<char*>(chunk_.data()), std::streamsize{chunk_size});
    const auto size = static_cast<std::size_t>(file_->gcount());
    return std::span<const std::byte>(chunk_).first(failed() ? 0 : size);
}

GzipStream::GzipStream(ByteSource& source, const GzipLimits& limits)
    : source_(&source), limits_(limits) {
    if (inflateInit2(&zlib_, gzip_window_bits) != Z_OK) {
        fail("zlib cannot be set up");
    }
}

GzipStream::~GzipStream() {
    inflateEnd(&zlib_);
}

std::size_t GzipStream::read(std::span<std::byte> out) {
    REPLAYOUT_ASSERT(!out.empty() && out.size() <= zlib_span_max);
    std::size_t size = 0;
    while (size == 0 && (state_ == State::InMember || state_ == State::BetweenMembers)) {
        if (state_ == State::BetweenMembers) {
            find_next_member();
        } else {
            size = inflate_into(out);
        }
    }
    return state_ == State::Failed ? 0 : size;
}

// False at the end of the source and after a failure; otherwise zlib has input.
bool GzipStream::refill() {
    if (zlib_.avail_in != 0) {
        return true;
    }
    const std::span<const std::byte> chunk = source_->next_chunk();
    if (source_->failed()) {
        fail("cannot be read: input error");
        return false;
    }
    compressed_bytes_ += chunk.size();
    if (compressed_bytes_ > limits_.bytes_max) {
        fail("is longer than " + std::to_string(limits_.bytes_max) + " bytes");
        return false;
    }
    // zlib's pointer is to non-const bytes for historic reasons; it does not write to its input.
    zlib_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(chunk.data()));
    zlib_.avail_in = static_cast<uInt>(chunk.size());
    return !chunk.empty();
}

void GzipStream::find_next_member() {
    if (!refill()) {
        if (state_ != State::Failed) {
            state_ = State::Ended;
        }
        return;
    }
    if (*zlib_.next_in == 0) {
        ++zlib_.next_in;
        --zlib_.avail_in;
        return;
    }
    is_first_member_ = false;
    if (inflateReset(&zlib_) != Z_OK) {
        fail("zlib cannot be set up");
        return;
    }
    state_ = State::InMember;
}

std::size_t GzipStream::inflate_into(std::span<std::byte> out) {
    if (!refill()) {
        if (state_ != State::Failed) {
            fail(compressed_bytes_ == 0 ? "is empty" : "is truncated: the gzip stream has no end");
        }
        return 0;
    }
    zlib_.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib_.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    const std::size_t size = out.size() - zlib_.avail_out;
    decompressed_bytes_ += size;
    check_inflate_result(result);
    check_limits();
    return size;
}

// Input and room were there, so inflate either made progress or met something that it cannot read.
void GzipStream::check_inflate_result(int result) {
    if (result == Z_STREAM_END) {
        state_ = State::BetweenMembers;
        return;
    }
    if (result == Z_OK) {
        return;
    }
    // total_in is counted per member; while it is that small the fault is in the two magic bytes.
    const bool is_header = zlib_.total_out == 0 && zlib_.total_in <= 2;
    if (is_header && is_first_member_) {
        fail("is not a gzip file");
    } else if (is_header) {
        fail("has bytes after the end of the gzip stream that are no gzip stream");
    } else {
        fail(std::string("is a damaged gzip file: ") +
             (zlib_.msg != nullptr ? zlib_.msg : "it makes no progress"));
    }
}

void GzipStream::check_limits() {
    if (decompressed_bytes_ > limits_.bytes_max) {
        fail("decompresses to more than " + std::to_string(limits_.bytes_max) + " bytes");
        return;
    }
    const std::uint64_t used = std::max<std::uint64_t>(compressed_bytes_ - zlib_.avail_in, 1);
    if (decompressed_bytes_ > limits_.ratio_free_size &&
        decompressed_bytes_ / used > limits_.ratio_max) {
        fail("decompresses to more than " + std::to_string(limits_.ratio_max) +
             " times its size, as no recording does");
    }
}

void GzipStream::fail(std::string message) {
    if (state_ != State::Failed) {
        state_ = State::Failed;
        error_ = std::move(message);
    }
}

}  // namespace replayout::match
