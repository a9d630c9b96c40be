// SPDX-License-Identifier: MIT
#include "report/measurements.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace replayout::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view left_out_prefix = "left_out/";

/// Google Benchmark writes NaN and Infinity as they are, where JSON knows neither: null for both.
/// It does so for the deviation of counters that are 0.
[[nodiscard]] std::string with_null_for_nan(std::string_view text) {
    constexpr std::string_view words[] = {"-NaN", "NaN", "-Infinity", "Infinity"};
    std::string json;
    json.reserve(text.size());
    bool is_in_string = false;
    while (!text.empty()) {
        const auto* word = std::find_if(std::begin(words), std::end(words), [text](auto candidate) {
            return text.starts_with(candidate);
        });
        if (!is_in_string && word != std::end(words)) {
            json += "null";
            text.remove_prefix(word->size());
            continue;
        }
        const bool is_escape = is_in_string && text.front() == '\\' && text.size() > 1;
        is_in_string = is_in_string != (text.front() == '"');
        json += text.substr(0, is_escape ? 2 : 1);
        text.remove_prefix(is_escape ? 2 : 1);
    }
    return json;
}

/// BM_Join/clients:16/objects:5000/iterations:1/manual_time: the last two say how, not what.
void read_name(const std::string& name, Measurement& measurement) {
    std::istringstream parts(name);
    for (std::string part; std::getline(parts, part, '/');) {
        const std::size_t colon = part.find(':');
        if (colon == std::string::npos) {
            if (part != "manual_time" && part != "real_time" && part != "process_time") {
                measurement.family += measurement.family.empty() ? "" : "/";
                measurement.family += part;
            }
            continue;
        }
        const std::string key = part.substr(0, colon);
        const std::string text = part.substr(colon + 1);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool is_number = error == std::errc() && end == text.data() + text.size();
        if (is_number && key != "iterations" && key != "repeats") {
            measurement.argument_names.emplace_back(key);
            measurement.arguments.push_back(value);
        }
    }
}

[[nodiscard]] std::string text_of(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

[[nodiscard]] double number_of(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_number() ? found->get<double>() : 0.0;
}

[[nodiscard]] double ns_of_unit(const std::string& unit) noexcept {
    return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1.0;
}

/// What Google Benchmark writes of its own; the other numbers are our counters.
[[nodiscard]] bool is_counter(const std::string& key) noexcept {
    for (const char* own :
         {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads",
          "iterations", "real_time", "cpu_time", "cv", "rms"}) {
        if (key == own) {
            return false;
        }
    }
    return true;
}

[[nodiscard]] Measurement read_entry(const Json& entry) {
    Measurement measurement;
    read_name(text_of(entry, "run_name"), measurement);
    measurement.error = text_of(entry, "error_message");
    measurement.mean_ns = number_of(entry, "real_time") * ns_of_unit(text_of(entry, "time_unit"));
    for (const auto& [key, value] : entry.items()) {
        if (value.is_number() && is_counter(key)) {
            measurement.counters[key] = value.get<double>();
        }
    }
    const auto median_us = measurement.counters.extract("median_us");
    measurement.ns = median_us ? median_us.mapped() * 1e3 : measurement.mean_ns;
    return measurement;
}

/// Repeated, it fails as often: once is enough.
[[nodiscard]] bool is_known_failure(const Measurement& measurement,
                                    const std::vector<Measurement>& measurements) {
    return !measurement.error.empty() &&
           std::any_of(measurements.begin(), measurements.end(), [&](const Measurement& known) {
               return known.family == measurement.family &&
                      known.arguments == measurement.arguments && known.error == measurement.error;
           });
}

void read_left_out(const Json& context, std::vector<Measurement>& measurements) {
    for (const auto& [key, value] : context.items()) {
        if (key.starts_with(left_out_prefix) && value.is_string()) {
            Measurement measurement;
            read_name(key.substr(left_out_prefix.size()), measurement);
            measurement.left_out = value.get<std::string>();
            measurements.push_back(std::move(measurement));
        }
    }
}

}  // namespace

std::optional<std::int64_t> Measurement::argument(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < argument_names.size(); ++i) {
        if (argument_names[i] == name) {
            return arguments[i];
        }
    }
    return std::nullopt;
}

bool read_measurements(std::string_view text, std::vector<Measurement>& measurements) {
    const Json json = Json::parse(with_null_for_nan(text), nullptr, false);
    if (!json.is_object() || !json.contains("benchmarks") || !json["benchmarks"].is_array()) {
        return false;
    }
    for (const Json& entry : json["benchmarks"]) {
        if (!entry.is_object()) {
            return false;
        }
    }
    for (const Json& entry : json["benchmarks"]) {
        const bool is_aggregate = text_of(entry, "run_type") == "aggregate";
        const bool is_repeated = number_of(entry, "repetitions") > 1;
        const bool is_failed = !text_of(entry, "error_message").empty();
        if (is_aggregate ? text_of(entry, "aggregate_name") == "median"
                         : !is_repeated || is_failed) {
            Measurement measurement = read_entry(entry);
            if (!is_known_failure(measurement, measurements)) {
                measurements.push_back(std::move(measurement));
            }
        }
    }
    if (json.contains("context") && json["context"].is_object()) {
        read_left_out(json["context"], measurements);
    }
    return true;
}

std::string argument_text(const Measurement& measurement) {
    std::string text;
    for (std::size_t i = 0; i < measurement.arguments.size(); ++i) {
        text += (i == 0 ? "" : " ") + measurement.argument_names[i] + ":" +
                std::to_string(measurement.arguments[i]);
    }
    return text;
}

std::string to_json(const std::vector<Measurement>& measurements) {
    Json json = Json::array();
    for (const Measurement& measurement : measurements) {
        Json entry;
        entry["benchmark"] = measurement.family;
        for (std::size_t i = 0; i < measurement.arguments.size(); ++i) {
            entry["arguments"][measurement.argument_names[i]] = measurement.arguments[i];
        }
        if (measurement.has_time()) {
            entry["ns"] = measurement.ns;
            entry["mean_ns"] = measurement.mean_ns;
            for (const auto& [name, value] : measurement.counters) {
                entry["counters"][name] = value;
            }
        } else if (measurement.left_out.empty()) {
            entry["error"] = measurement.error;
        } else {
            entry["left_out"] = measurement.left_out;
        }
        json.push_back(std::move(entry));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace replayout::bench
