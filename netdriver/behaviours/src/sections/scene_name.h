// SPDX-License-Identifier: MIT
//
// The stable name that an object of a scene has on the wire: its scene id, as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace replayout {

class SceneName {
  public:
    /// 0: an object that lies in no scene, and has no name.
    explicit SceneName(std::uint64_t scene_id) noexcept {
        if (scene_id != 0) {
            size_ = static_cast<std::size_t>(
                std::to_chars(text_, text_ + sizeof(text_), scene_id, 16).ptr - text_);
        }
    }

    [[nodiscard]] std::string_view text() const noexcept { return {text_, size_}; }

    /// Of a name that a peer sent; 0: it is none.
    [[nodiscard]] static std::uint64_t parse(std::string_view text) noexcept {
        std::uint64_t scene_id = 0;
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, scene_id, 16);
        return error == std::errc() && stopped == end ? scene_id : 0;
    }

  private:
    char text_[16] = {};  // 64 bits
    std::size_t size_ = 0;
};

}  // namespace replayout
