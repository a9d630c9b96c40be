// SPDX-License-Identifier: MIT
//
// A recording in a file.
#pragma once

#include <replayout/netdriver/replay_stream.h>

#include <cstdio>
#include <memory>
#include <string>

namespace replayout::match {

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

class ReplayFileSink final : public ReplaySink {
  public:
    explicit ReplayFileSink(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}

    [[nodiscard]] bool is_open() const noexcept { return file_ != nullptr; }
    [[nodiscard]] bool write(std::span<const std::byte> bytes) override {
        return is_open() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
    }
    /// Whether all of it is there.
    [[nodiscard]] bool close() {
        std::FILE* file = file_.release();
        return file != nullptr && std::fclose(file) == 0;
    }

  private:
    FilePtr file_;
};

class ReplayFileSource final : public ReplaySource {
  public:
    explicit ReplayFileSource(const std::string& path) : file_(std::fopen(path.c_str(), "rb")) {
        if (file_ != nullptr && std::fseek(file_.get(), 0, SEEK_END) == 0) {
            const long size = std::ftell(file_.get());
            size_ = size < 0 ? 0 : static_cast<std::uint64_t>(size);
        }
    }

    [[nodiscard]] bool is_open() const noexcept { return file_ != nullptr; }
    [[nodiscard]] std::uint64_t size() override { return size_; }
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> target) override {
        return offset <= size_ && target.size() <= size_ - offset &&
               std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) == 0 &&
               std::fread(target.data(), 1, target.size(), file_.get()) == target.size();
    }

  private:
    FilePtr file_;
    std::uint64_t size_ = 0;
};

}  // namespace replayout::match
