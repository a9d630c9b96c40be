// SPDX-License-Identifier: MIT
#include "worst/script_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace replayout::worst {

std::optional<Script> read_script_file(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return file ? read_script(text.str()) : std::nullopt;
}

std::optional<std::vector<Script>> read_script_folder(const std::string& folder,
                                                      std::string& wrong) {
    std::error_code error;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".txt") {
            paths.push_back(entry.path().string());
        }
    }
    if (error) {
        wrong = folder;
        return std::nullopt;
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Script> scripts;
    for (const std::string& path : paths) {
        std::optional<Script> script = read_script_file(path);
        if (!script) {
            wrong = path;
            return std::nullopt;
        }
        scripts.push_back(std::move(*script));
    }
    return scripts;
}

bool write_find(const std::string& path, Score score, const Find& find) {
    std::ofstream file(path, std::ios::binary);
    file << "# " << to_string(score) << ": " << find.cost << ' ' << unit_of(score) << ", place "
         << find.place << '\n'
         << to_text(find.script);
    return static_cast<bool>(file.flush());
}

}  // namespace replayout::worst
