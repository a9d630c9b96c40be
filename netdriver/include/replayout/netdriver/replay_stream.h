// SPDX-License-Identifier: MIT
//
// Where the bytes of a recording go, and where they come from: files, memory, or what the engine
// calls so. The library opens no file. docs/examples/13_replay.cpp has an adapter of one.
#pragma once

#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

namespace replayout {

/// Takes the bytes of a recording, in order. Called from tick_flush() and stop_recording(), on the
/// driver's thread; a sink that would block copies and returns.
class ReplaySink {
  public:
    /// `bytes` are on loan for the call. False: they could not be kept, which ends the recording.
    [[nodiscard]] virtual bool write(std::span<const std::byte> bytes) = 0;

  protected:
    ~ReplaySink() = default;
};

/// Gives them back, from anywhere.
class ReplaySource {
  public:
    [[nodiscard]] virtual std::uint64_t size() = 0;
    /// Fills `target` with the bytes from `offset` on. False: there are not so many, or they could
    /// not be read.
    [[nodiscard]] virtual bool read(std::uint64_t offset, std::span<std::byte> target) = 0;

  protected:
    ~ReplaySource() = default;
};

/// A recording in memory: for what the last seconds showed, and for tests.
class ReplayMemory final : public ReplaySink, public ReplaySource {
  public:
    explicit ReplayMemory(MemoryResource* resource = std::pmr::get_default_resource())
        : bytes_(Allocator<std::byte>(resource)) {}

    [[nodiscard]] bool write(std::span<const std::byte> bytes) override {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return true;
    }
    [[nodiscard]] std::uint64_t size() override { return bytes_.size(); }
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> target) override {
        if (offset > bytes_.size() || target.size() > bytes_.size() - offset) {
            return false;
        }
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), target.size(),
                    target.begin());
        return true;
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {bytes_.data(), bytes_.size()};
    }
    /// So that a tick takes no memory until there are so many.
    void reserve(std::size_t byte_count) { bytes_.reserve(byte_count); }

  private:
    Vector<std::byte> bytes_;
};

}  // namespace replayout
