// SPDX-License-Identifier: MIT
//
// What the parser of a command line makes of words.
#pragma once

#include <string>
#include <vector>

namespace replayout::test {

template <typename Options>
[[nodiscard]] int parse_words(int (*parse)(int, char**, Options&), std::vector<std::string> words,
                              Options& options) {
    words.insert(words.begin(), "program");
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    return parse(static_cast<int>(pointers.size()), pointers.data(), options);
}

}  // namespace replayout::test
