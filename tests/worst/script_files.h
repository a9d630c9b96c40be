// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worst/search.h"

namespace replayout::worst {

[[nodiscard]] std::optional<Script> read_script_file(const std::string& path);

/// The scripts of a folder, by name. Nothing: there is no such folder, or a file is no script;
/// `wrong` is which.
[[nodiscard]] std::optional<std::vector<Script>> read_script_folder(const std::string& folder,
                                                                    std::string& wrong);

/// Writes a find, with what it costs in its first line. False: it cannot.
[[nodiscard]] bool write_find(const std::string& path, Score score, const Find& find);

}  // namespace replayout::worst
