// SPDX-License-Identifier: MIT
//
// What the benchmarks measured, read from the files of Google Benchmark (--benchmark_out).
//
//     "context": { "left_out/BM_A/x:9": "needs too much memory" }      is to be told as well
//     "benchmarks": [ { "run_name": "BM_A/x:1/manual_time", "real_time": 3, ... } ]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::bench {

struct Measurement {
    std::string family;  ///< the name in front of its arguments
    std::vector<std::string> argument_names;
    std::vector<std::int64_t> arguments;
    /// Of an iteration. Where iterations are ticks, and it has a counter median_us, their median;
    /// else the mean.
    double ns = 0;
    double mean_ns = 0;  ///< by its own clock, where it has one
    std::map<std::string, double> counters;
    std::string error;     ///< why there is no time; empty where there is one
    std::string left_out;  ///< why it was not even tried; else empty

    [[nodiscard]] std::optional<std::int64_t> argument(std::string_view name) const noexcept;
    [[nodiscard]] bool has_time() const noexcept { return error.empty() && left_out.empty(); }
};

/// Adds what `text` holds, in its order; of repetitions the median alone, and what failed once.
/// Numbers that are none (NaN) are left out. False where that is no file of Google Benchmark: then
/// nothing was added.
[[nodiscard]] bool read_measurements(std::string_view text, std::vector<Measurement>& measurements);

/// connections:16 objects:1000, for people.
[[nodiscard]] std::string argument_text(const Measurement& measurement);

/// All of it in one piece: names, times, counters, what failed or was left out and why, and nothing
/// that names a machine.
[[nodiscard]] std::string to_json(const std::vector<Measurement>& measurements);

}  // namespace replayout::bench
