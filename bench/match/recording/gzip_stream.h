// SPDX-License-Identifier: MIT
//
// The bytes inside a gzip file, piece by piece, from a file or from memory, with an end to what a
// small file can blow up to.
//
//     ByteSource --compressed chunks--> GzipStream --bytes--> whoever parses them
//
// A gzip file is one or more members, each with a header, deflated data and a checksum, read as one
// stream; zero bytes after a member are padding and skipped, as gzip itself does. Anything else
// after a member is an error, as are a missing end and a wrong checksum. Note that the checksum
// stands behind the data: bytes have been handed out before it is known to be wrong, so a parser
// believes nothing until it has seen the end.
//
// Failure is sticky: after it read() gives nothing more and error() says why.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace replayout::match {

/// Where compressed bytes come from.
class ByteSource {
  public:
    ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    virtual ~ByteSource() = default;

    /// The next bytes, valid until the next call; empty at the end and after a failure.
    [[nodiscard]] virtual std::span<const std::byte> next_chunk() = 0;

    /// Whether the end was not the end but a read error.
    [[nodiscard]] virtual bool failed() const noexcept = 0;
};

class MemorySource final : public ByteSource {
  public:
    /// The bytes are a loan for the life of this object.
    explicit MemorySource(std::span<const std::byte> bytes) : rest_(bytes) {}

    [[nodiscard]] std::span<const std::byte> next_chunk() override;
    [[nodiscard]] bool failed() const noexcept override { return false; }

  private:
    std::span<const std::byte> rest_;
};

class FileSource final : public ByteSource {
  public:
    /// A file that is open for binary reading; a loan for the life of this object.
    explicit FileSource(std::ifstream& file);

    [[nodiscard]] std::span<const std::byte> next_chunk() override;
    [[nodiscard]] bool failed() const noexcept override { return file_->bad(); }

  private:
    std::ifstream* file_;
    std::vector<std::byte> chunk_;
};

/// What a gzip file may cost.
struct GzipLimits {
    std::uint64_t bytes_max = 0;        ///< decompressed, and compressed
    std::uint64_t ratio_max = 0;        ///< decompressed per compressed byte ...
    std::uint64_t ratio_free_size = 0;  ///< ... beyond this many decompressed bytes
};

class GzipStream {
  public:
    /// The source is a loan for the life of this object.
    GzipStream(ByteSource& source, const GzipLimits& limits);
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    ~GzipStream();

    /// Fills the front of `out`, which is not empty, and returns with how many bytes, at least one;
    /// 0 at the end of the last member and after a failure.
    [[nodiscard]] std::size_t read(std::span<std::byte> out);

    /// Why it failed, empty if it did not.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

  private:
    enum class State : std::uint8_t { InMember, BetweenMembers, Ended, Failed };

    [[nodiscard]] bool refill();
    void find_next_member();
    [[nodiscard]] std::size_t inflate_into(std::span<std::byte> out);
    void check_inflate_result(int result);
    void check_limits();
    void fail(std::string message);

    ByteSource* source_;
    GzipLimits limits_;
    z_stream zlib_{};
    State state_ = State::InMember;
    bool is_first_member_ = true;
    std::uint64_t compressed_bytes_ = 0;    // taken from the source
    std::uint64_t decompressed_bytes_ = 0;  // handed out
    std::string error_;
};

}  // namespace replayout::match
