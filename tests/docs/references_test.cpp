// SPDX-License-Identifier: MIT
//
// What the documents refer to: files, and tests by their names.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/tests_dir.h"

namespace fs = std::filesystem;

namespace {

const fs::path tests_dir(replayout::test::tests_dir());
const fs::path root = tests_dir.parent_path();

std::string read_file(const fs::path& path) {
    std::ifstream file(path);
    REQUIRE(file.is_open());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> documents() {
    std::vector<fs::path> paths{root / "README.md", root / "CHANGELOG.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs")) {
        if (entry.path().extension() == ".md") {
            paths.push_back(entry.path());
        }
    }
    return paths;
}

/// What stands between each `open` and the next `close`, without blocks of code.
std::vector<std::string> find_between(const std::string& text, std::string_view open,
                                      std::string_view close) {
    std::vector<std::string> found;
    std::size_t end = 0;
    for (std::size_t begin = text.find(open); begin != std::string::npos;
         begin = text.find(open, end)) {
        begin += open.size();
        end = text.find(close, begin);
        if (end == std::string::npos) {
            break;
        }
        found.push_back(text.substr(begin, end - begin));
        end += close.size();
    }
    return found;
}

std::string without_code_blocks(const std::string& text) {
    std::string prose;
    bool is_code = false;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        const std::string line = text.substr(begin, end - begin);
        is_code = line.starts_with("```") ? !is_code : is_code;
        if (!is_code && !line.starts_with("```") && !line.starts_with("    ")) {
            prose += line;
        }
        begin = end;
    }
    return prose;
}

/// Text in code font that looks like the path of a file of ours.
bool is_path(const std::string& text) {
    return text.find('/') != std::string::npos &&
           text.find_first_of(" <>:*$()") == std::string::npos && !text.starts_with("./") &&
           !text.starts_with('-');
}

bool exists(const std::string& path) {
    // The glossary writes the floors of public headers short.
    const auto floor = path.substr(0, path.find('/'));
    const auto rest = path.substr(path.find('/') + 1);
    const std::string folder = floor == "replayout" ? "replayout" : "replayout/" + floor;
    return fs::exists(root / path) || fs::exists(root / floor / "include" / folder / rest) ||
           fs::exists(root / "netdriver" / floor / "include" / folder / rest) ||
           fs::exists(root / "netdriver" / "unet" / "include" / folder / rest);
}

/// Source of all tests, with literals that go on over lines put together.
std::string test_sources() {
    std::string sources;
    for (const auto& entry : fs::recursive_directory_iterator(tests_dir)) {
        if (entry.path().extension() == ".cpp") {
            sources += read_file(entry.path());
        }
    }
    std::string joined;
    for (const char character : sources) {
        joined += character;
        if (character != '"') {
            continue;
        }
        std::size_t blank = joined.size() - 1;
        while (blank > 0 && std::isspace(static_cast<unsigned char>(joined[blank - 1])) != 0) {
            --blank;
        }
        const bool continues = blank > 0 && joined[blank - 1] == '"' && blank < joined.size() - 1;
        if (continues) {
            joined.resize(blank - 1);
        }
    }
    return joined;
}

}  // namespace

TEST_CASE("Docs: every relative link leads to a file", "[docs][references]") {
    for (const fs::path& document : documents()) {
        for (std::string target :
             find_between(without_code_blocks(read_file(document)), "](", ")")) {
            target = target.substr(0, target.find('#'));
            if (target.empty() || target.starts_with("http")) {
                continue;
            }
            INFO(document << " links to " << target);
            CHECK(fs::exists(document.parent_path() / target));
        }
    }
}

TEST_CASE("Docs: every path in code font is that of a file", "[docs][references]") {
    for (const fs::path& document : documents()) {
        for (const std::string& text :
             find_between(without_code_blocks(read_file(document)), "`", "`")) {
            if (is_path(text)) {
                INFO(document << " names " << text);
                CHECK(exists(text));
            }
        }
    }
}

TEST_CASE("Docs: every test that the features and the pages on Unreal and Unity name exists",
          "[docs][references]") {
    const std::string sources = test_sources();
    for (const char* document : {"features.md", "unreal.md", "unity.md"}) {
        const std::string text = without_code_blocks(read_file(root / "docs" / document));
        for (const std::string& name : find_between(text, "\"", "\"")) {
            if (name.find(": ") != std::string::npos) {
                INFO(document << " names test " << name);
                CHECK(sources.find('"' + name + '"') != std::string::npos);
            }
        }
    }
}

namespace {

/// Words in small letters, each without the `s` of a plural.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    for (const char character : text + ' ') {
        if (std::isalpha(static_cast<unsigned char>(character)) != 0) {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
            continue;
        }
        if (word.ends_with('s')) {
            word.pop_back();
        }
        if (!word.empty()) {
            words.push_back(word);
        }
        word.clear();
    }
    return words;
}

/// What the tests that prove a feature are about, where that is one word: "Replay: ...".
std::vector<std::string> proved_subjects() {
    std::vector<std::string> subjects{"recording", "handshake"};
    const std::string features = without_code_blocks(read_file(root / "docs" / "features.md"));
    for (const std::string& name : find_between(features, "\"", "\"")) {
        const std::vector<std::string> words = words_of(name.substr(0, name.find(": ")));
        if (name.find(": ") != std::string::npos && words.size() == 1) {
            subjects.push_back(words.front());
        }
    }
    return subjects;
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

/// Without what stands in code font, such as the names of functions.
std::string without_code(std::string text) {
    for (const std::string& code : find_between(text, "`", "`")) {
        const std::size_t begin = text.find('`' + code + '`');
        text.erase(begin, code.size() + 2);
    }
    return text;
}

}  // namespace

TEST_CASE("Docs: what the pages on Unreal and Unity call not yet is not what the features prove",
          "[docs][references]") {
    const std::vector<std::string> subjects = proved_subjects();
    REQUIRE(subjects.size() > 50);
    std::size_t row_count = 0;
    for (const char* document : {"unreal.md", "unity.md"}) {
        const std::string text = without_code_blocks(read_file(root / "docs" / document));
        for (const std::string& line : parts_of(text, '\n')) {
            if (!line.starts_with('|')) {
                continue;
            }
            const std::vector<std::string> cells = parts_of(line, '|');
            for (const std::string& cell : cells) {
                if (cell.find("not yet") == std::string::npos) {
                    continue;
                }
                ++row_count;
                const std::string& first = cells[1];
                for (const std::string& word : words_of(without_code(first + ' ' + cell))) {
                    INFO(document << " calls not yet: " << first);
                    INFO("and tests prove: " << word);
                    CHECK(std::find(subjects.begin(), subjects.end(), word) == subjects.end());
                }
            }
        }
    }
    CHECK(row_count > 0);
}

namespace {

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? std::string()
                                      : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// The cells of each row of the tables of a text, those of their heads left out.
std::vector<std::vector<std::string>> table_rows(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    bool is_head = true;
    for (const std::string& line : parts_of(text, '\n')) {
        if (!line.starts_with("| ")) {
            is_head = is_head || !line.starts_with("|-");
            continue;
        }
        if (std::exchange(is_head, false)) {
            continue;
        }
        rows.emplace_back();
        for (const std::string& cell : parts_of(line.substr(1), '|')) {
            rows.back().push_back(trimmed(cell));
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("Docs: the glossary leads from each name of another library to ours",
          "[docs][references]") {
    const std::string glossary = read_file(root / "docs" / "glossary.md");
    const std::size_t theirs_begin = glossary.find("## By their names");
    REQUIRE(theirs_begin != std::string::npos);
    const auto by_ours = table_rows(glossary.substr(0, theirs_begin));
    const auto by_theirs = table_rows(glossary.substr(theirs_begin));
    REQUIRE(by_ours.size() > 200);
    REQUIRE(by_theirs.size() > 200);

    std::set<std::string> ours;
    std::set<std::string> theirs;
    for (const std::vector<std::string>& row : by_ours) {
        REQUIRE(row.size() == 5);
        ours.insert(row[0]);
    }
    for (const std::vector<std::string>& row : by_theirs) {
        REQUIRE(row.size() == 3);
        theirs.insert(row[0]);
        for (const std::string& name : parts_of(row[2], ';')) {
            INFO(row[0] << " leads to " << name);
            CHECK(ours.contains(trimmed(name)));
        }
    }
    for (const std::vector<std::string>& row : by_ours) {
        for (const std::string& cell : {row[1], row[2]}) {
            for (const std::string& name : find_between(cell, "`", "`")) {
                INFO(row[0] << " is their " << name);
                CHECK(theirs.contains('`' + name + '`'));
            }
        }
    }
}
