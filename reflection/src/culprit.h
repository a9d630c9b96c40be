// SPDX-License-Identifier: MIT
//
// Whom an error of a description names.
#pragma once

#include <replayout/reflection/error.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace replayout::detail {

[[nodiscard]] inline std::string join(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        text += part;
    }
    return text;
}

[[nodiscard]] inline std::string number(std::uint64_t value) {
    return std::to_string(value);
}

/// Whom an error names: the type, and in it a property, a function, or nothing more.
class Culprit {
  public:
    explicit Culprit(std::string_view type) : text_(join({"type \"", type, "\": "})) {}

    [[nodiscard]] Culprit member(std::string_view what, std::string_view name) const {
        Culprit culprit(*this);
        culprit.text_ += join({what, " \"", name, "\": "});
        return culprit;
    }

    [[nodiscard]] Culprit element() const {
        Culprit culprit(*this);
        culprit.text_ += "element: ";
        return culprit;
    }

    [[nodiscard]] Error refuse(ErrorCode code, std::initializer_list<std::string_view> why) const {
        return {code, text_ + join(why)};
    }

  private:
    std::string text_;
};

/// The first of these checks that fails. Those after it are not made.
template <typename... Checks>
[[nodiscard]] Status check_in_turn(const Checks&... checks) {
    Status checked;
    (void)((checked = checks()).has_value() && ...);
    return checked;
}

}  // namespace replayout::detail
