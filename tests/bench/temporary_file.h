// SPDX-License-Identifier: MIT
//
// A file that goes with the test.
#pragma once

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

namespace replayout::test {

struct TemporaryFile {
    /// Of this name, with something before it that no other one has. It is not there yet.
    explicit TemporaryFile(const std::string& name = "file")
        : path((std::filesystem::temp_directory_path() /
                ("replayout_" + std::to_string(::getpid()) + "_" +
                 std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_" + name))
                   .string()) {}
    TemporaryFile(const std::string& name, std::span<const std::byte> bytes) : TemporaryFile(name) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    std::string path;
};

}  // namespace replayout::test
