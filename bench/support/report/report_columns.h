// SPDX-License-Identifier: MIT
//
// Tables of reports for people: columns as wide as what is in them, and bars.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace replayout::bench {

/// Rows of texts, all of the same length. The first column begins at the left, the last one has no
/// end, the others end at the right.
class Columns {
  public:
    using Row = std::vector<std::string>;

    void add(Row row);

    /// Lines, each begun with two spaces, with none at its end.
    [[nodiscard]] std::string text() const;

  private:
    std::vector<Row> rows_;
    std::vector<std::size_t> widths_;
};

/// Thirty characters for the whole, one at least.
[[nodiscard]] std::string bar(double part, double whole);

}  // namespace replayout::bench
