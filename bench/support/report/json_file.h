// SPDX-License-Identifier: MIT
//
// The file for the figures, opened before they are measured: who cannot have it should learn that
// at once. What is in it stays until there are new ones.
#pragma once

#include <cstdio>
#include <string>

namespace replayout::bench {

/// What goes wrong is said on stderr.
class JsonFile {
  public:
    /// No path: no file. "-": stdout.
    explicit JsonFile(std::string path);
    ~JsonFile();
    JsonFile(const JsonFile&) = delete;
    JsonFile& operator=(const JsonFile&) = delete;

    [[nodiscard]] bool is_good() const noexcept { return is_good_; }
    /// Where people are to read meanwhile.
    [[nodiscard]] std::FILE* screen() const noexcept { return file_ == stdout ? stderr : stdout; }

    /// Once, in place of what is in the file.
    void write(const std::string& json);

  private:
    void complain(bool is_good, const char* what);

    std::string path_;
    std::FILE* file_ = nullptr;
    bool is_good_ = true;
};

}  // namespace replayout::bench
