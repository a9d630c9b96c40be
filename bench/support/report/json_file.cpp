// SPDX-License-Identifier: MIT
#include "support/report/json_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace replayout::bench {

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
    if (!path_.empty()) {
        // Nobody appends; but "w" would empty it before there is anything to write.
        file_ = path_ == "-" ? stdout : std::fopen(path_.c_str(), "a");
        complain(file_ != nullptr, "cannot be written");
    }
}

JsonFile::~JsonFile() {
    if (file_ != nullptr && file_ != stdout) {
        std::fclose(file_);
    }
}

void JsonFile::write(const std::string& json) {
    if (file_ == nullptr) {
        return;
    }
    if (file_ != stdout) {
        file_ = std::freopen(path_.c_str(), "w", file_);
    }
    const bool is_written =
        file_ != nullptr && std::fwrite(json.data(), 1, json.size(), file_) == json.size();
    complain(is_written && std::fflush(file_) == 0, "could not be written whole");
}

void JsonFile::complain(bool is_good, const char* what) {
    if (!is_good) {
        std::fprintf(stderr, "%s: %s (%s)\n", path_ == "-" ? "stdout" : path_.c_str(), what,
                     std::strerror(errno));
        is_good_ = false;
    }
}

}  // namespace replayout::bench
