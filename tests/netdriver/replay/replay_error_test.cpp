// SPDX-License-Identifier: MIT
#include <replayout/netdriver/replay_error.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "support/checks/catch.h"

namespace replayout::test {

TEST_CASE("ReplayError: every error has its phrase, and so has a number that is none",
          "[netdriver][replay]") {
    struct Row {
        ReplayError error;
        std::string_view phrase;
    };
    const std::array<Row, 15> rows{{
        {ReplayError::None, "none"},
        {ReplayError::WriteFailed, "write failed"},
        {ReplayError::ConnectionEnded, "connection ended"},
        {ReplayError::ReadFailed, "read failed"},
        {ReplayError::NotAReplay, "not a replay"},
        {ReplayError::UnknownVersion, "unknown version"},
        {ReplayError::WireVersion, "wire version"},
        {ReplayError::LayoutMismatch, "layout mismatch"},
        {ReplayError::Empty, "empty"},
        {ReplayError::Corrupt, "corrupt"},
        {ReplayError::Refused, "refused"},
        {ReplayError::TooLong, "too long"},
        {ReplayError::Misused, "misused"},
        {static_cast<ReplayError>(static_cast<std::uint8_t>(ReplayError::Misused) + 1), "unknown"},
        {static_cast<ReplayError>(255), "unknown"},
    }};
    for (const Row& row : rows) {
        INFO("error " << static_cast<int>(row.error));
        CHECK(to_string(row.error) == row.phrase);
    }
}

}  // namespace replayout::test
