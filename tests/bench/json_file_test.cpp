// SPDX-License-Identifier: MIT
#include "support/report/json_file.h"

#include "bench/temporary_file.h"
#include "support/checks/catch.h"

#include <fstream>
#include <iterator>
#include <string>

using namespace replayout::bench;
using replayout::test::TemporaryFile;

namespace {

[[nodiscard]] std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("JsonFile: what was there stays until there are new figures", "[bench][json_file]") {
    const TemporaryFile temporary("figures.json");
    const std::string& path = temporary.path;
    std::ofstream(path) << "the figures of yesterday, which are long";
    {
        JsonFile none(path);
        CHECK(none.is_good());
    }
    CHECK(content_of(path) == "the figures of yesterday, which are long");
    {
        JsonFile file(path);
        file.write("{}");
        CHECK(file.is_good());
    }
    CHECK(content_of(path) == "{}");
}

TEST_CASE("JsonFile: where none can be, that is known before anything is measured",
          "[bench][json_file]") {
    JsonFile file("no/such/folder/figures.json");
    CHECK_FALSE(file.is_good());
}
