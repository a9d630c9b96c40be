// SPDX-License-Identifier: MIT
//
// A recording in a file.
#pragma once

#include <replayout/netdriver/replay_stream.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <ios>
#include <memory>
#include <span>
#include <string>

namespace replayout::match {

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

class ReplayFileSink final : public ReplaySink {
  public:
    explicit ReplayFileSink(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
        note(is_open());
    }

    [[nodiscard]] bool is_open() const noexcept { return file_ != nullptr; }
    [[nodiscard]] bool write(std::span<const std::byte> bytes) override {
        return is_open() &&
               note(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size());
    }
    /// Whether all of it is there.
    [[nodiscard]] bool close() {
        std::FILE* file = file_.release();
        return file != nullptr && note(std::fclose(file) == 0) && error_ == 0;
    }
    /// What the system said when something went wrong first.
    [[nodiscard]] std::string complaint() const { return std::strerror(error_); }

  private:
    bool note(bool is_good) noexcept {
        if (!is_good && error_ == 0) {
            error_ = errno;
        }
        return is_good;
    }

    FilePtr file_;
    int error_ = 0;  // errno
};

/// By a stream: its places have 64 bits everywhere, those of std::ftell() have 32 on some systems.
class ReplayFileSource final : public ReplaySource {
  public:
    explicit ReplayFileSource(const std::string& path) : file_(path, std::ios::binary) {
        if (file_.is_open() && file_.seekg(0, std::ios::end)) {
            const std::streamoff size = file_.tellg();
            size_ = size < 0 ? 0 : static_cast<std::uint64_t>(size);
        }
    }

    [[nodiscard]] bool is_open() const { return file_.is_open(); }
    [[nodiscard]] std::uint64_t size() override { return size_; }
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> target) override {
        if (offset > size_ || target.size() > size_ - offset) {
            return false;
        }
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(offset));
        file_.read(reinterpret_cast<char*>(target.data()),
                   static_cast<std::streamsize>(target.size()));
        return file_.good();
    }

  private:
    std::ifstream file_;
    std::uint64_t size_ = 0;
};

}  // namespace replayout::match
