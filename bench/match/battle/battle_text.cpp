// SPDX-License-Identifier: MIT
#include "match/battle/battle_text.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace replayout::match {

namespace {

// As bytes, so that neither the encoding of this file nor that of the compiler's output matters.
// Two, three and four bytes a character, a combining accent, right-to-left text, and an emoji of
// several.
constexpr std::array<std::string_view, 16> words{
    "rocket",
    "flag",
    "behind you",
    "medic!",
    "gg",
    "J\xC3\xBCrgen",                                  // Juergen with u umlaut
    "\xC5\x81ukasz",                                  // Lukasz with a stroked L
    "cafe\xCC\x81",                                   // combining acute
    "\xD0\x92\xD0\xB5\xD1\x80\xD0\xB0",               // Cyrillic
    "\xCE\xA9\xCE\xBC\xCE\xAD\xCE\xB3\xCE\xB1",       // Greek
    "\xE7\x8E\xA9\xE5\xAE\xB6",                       // Chinese
    "\xE3\x83\x97\xE3\x83\xAC\xE3\x82\xA4",           // Japanese
    "\xED\x99\x8D\xEA\xB8\xB8\xEB\x8F\x99",           // Korean
    "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",               // Hebrew
    "\xF0\x9F\x9A\x80",                               // rocket
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80"};  // woman astronaut, joined

[[nodiscard]] std::string_view word(BattleRandom& random) {
    return words[random.below(static_cast<std::uint32_t>(words.size()))];
}

void append_words(std::string& text, BattleRandom& random, std::size_t size_min) {
    while (text.size() < size_min) {
        if (!text.empty()) {
            text += ' ';
        }
        text += word(random);
    }
}

}  // namespace

std::string player_name(BattleRandom& random, std::uint32_t number) {
    std::string name(word(random));
    name += '#';
    name += std::to_string(number);
    if (number % 7 == 3) {
        append_words(name, random, 601 + random.below(400));
    }
    return name;
}

std::string chat_line(BattleRandom& random) {
    std::string line;
    append_words(line, random, random.below(60));
    return line;
}

std::string announcement(BattleRandom& random, bool is_long) {
    std::string text = is_long ? "Rules of the house:" : "Round";
    append_words(text, random, is_long ? 2001 + random.below(3000) : 20);
    return text;
}

std::string item_label(BattleRandom& random, std::uint8_t kind) {
    std::string label = "item " + std::to_string(kind) + ' ';
    label += word(random);
    return label;
}

}  // namespace replayout::match
