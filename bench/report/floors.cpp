// SPDX-License-Identifier: MIT
#include "report/floors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace replayout::bench {

namespace {

/// The floor is of this family, and agrees with the subject in all arguments that both have, but
/// for one that it has a value of its own for.
struct FloorRule {
    std::string_view family;
    std::string_view floor_family;
    bool is_yardstick = false;  ///< somebody may be below it
    std::string_view argument = {};
    std::int64_t value = 0;
};

constexpr FloorRule rules[] = {
    {"BM_CompareProperties", "BM_Memcmp"},
    {"BM_EncodeProperties", "BM_WriteBits", true},
    {"BM_BuildPieces", "BM_WriteBits", true},
    {"BM_CopyPieces", "BM_WriteBits", true},
    {"BM_TickServer", "BM_Memcpy"},
    {"BM_TickNaiveReplicator", "BM_Memcpy"},
    {"BM_TickNaiveDirty", "BM_Memcpy"},
    {"BM_TickSharedOnce", "BM_Memcpy"},
    {"BM_IdleWorld", "BM_IdleWorld", false, "objects", 1'000},
    {"BM_TickLoss", "BM_TickLoss", false, "percent", 0},
    {"BM_TickConditions", "BM_TickConditions", true, "conditions", 0},
    {"BM_TickArrays", "BM_TickArrays", false, "array", 3},
    {"BM_TickStrings", "BM_MemcpyStrings"},
    {"BM_TickReferences", "BM_TickNumbers", true},
    {"Interest/Flat", "Interest/ScanOfAllPairs", true},
    {"Interest/Space", "Interest/ScanOfAllPairs", true},
    {"Interest/SetLocationOfAll", "Interest/ScanOfAllPairs", true},
};

[[nodiscard]] bool is_floor(const FloorRule& rule, const Measurement& subject,
                            const Measurement& candidate) noexcept {
    if (candidate.family != rule.floor_family || &candidate == &subject || !candidate.has_time() ||
        candidate.ns <= 0) {
        return false;
    }
    for (std::size_t i = 0; i < candidate.arguments.size(); ++i) {
        const std::string& name = candidate.argument_names[i];
        const auto wanted = name == rule.argument ? rule.value : subject.argument(name);
        if (wanted && *wanted != candidate.arguments[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace

const char* floor_name(const Measurement& measurement) noexcept {
    return std::any_of(std::begin(rules), std::end(rules),
                       [&](const FloorRule& rule) {
                           return rule.family == measurement.family && rule.is_yardstick;
                       })
               ? "yardstick"
               : "floor";
}

const Measurement* floor_of(const Measurement& measurement,
                            const std::vector<Measurement>& measurements) noexcept {
    for (const FloorRule& rule : rules) {
        if (measurement.family != rule.family) {
            continue;
        }
        for (const Measurement& candidate : measurements) {
            if (is_floor(rule, measurement, candidate)) {
                return &candidate;
            }
        }
    }
    return nullptr;
}

}  // namespace replayout::bench
