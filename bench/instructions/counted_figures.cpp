// SPDX-License-Identifier: MIT
#include "instructions/counted_figures.h"

#include <nlohmann/json.hpp>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace replayout::bench {

namespace {

/// What the instructions depend on besides the source.
[[nodiscard]] std::string build_name() {
#if defined(__clang__)
    std::string name = "clang " + std::to_string(__clang_major__) + "." +
                       std::to_string(__clang_minor__) + "." + std::to_string(__clang_patchlevel__);
#else
    std::string name = "gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) +
                       "." + std::to_string(__GNUC_PATCHLEVEL__);
#endif
#if defined(__GLIBC__)
    name += std::string(", glibc ") + gnu_get_libc_version();
#else
    name += ", another libc";
#endif
#if defined(__x86_64__)
    name += ", x86_64";
#elif defined(__aarch64__)
    name += ", aarch64";
#else
    name += ", another processor";
#endif
    return name;
}

}  // namespace

std::string to_json(const CountedRunSettings& settings, const CountedRunResult& result) {
    nlohmann::ordered_json json;
    json["build"] = build_name();
    json["clients"] = settings.clients;
    for (const CountedPhase& phase : result.phases) {
        json["phases"].push_back({{"name", phase.name},
                                  {"ticks", phase.ticks},
                                  {"objects_compared", phase.objects_compared},
                                  {"channels_opened", phase.channels_opened},
                                  {"records_sent", phase.records_sent},
                                  {"records_lost", phase.records_lost},
                                  {"bytes_sent", phase.bytes_sent}});
    }
    return json.dump(2) + "\n";
}

}  // namespace replayout::bench
