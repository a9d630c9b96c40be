// SPDX-License-Identifier: MIT
#include "match/report/savings_report.h"

#include "match/battle/printable.h"
#include "match/judge/hit_rate.h"
#include "support/report/report_columns.h"
#include "support/report/report_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace replayout::match {

using bench::add_parts;
using bench::add_row;
using bench::Columns;
using bench::grouped;
using bench::print;

namespace {

constexpr std::size_t name_bytes_max = 64;

/// Of the two servers: the one that shares, and the other one.
[[nodiscard]] std::pair<const ServerTimes&, const ServerTimes&> times_of(
    const MatchOptions& options, const MatchResult& result) {
    if (options.sharing == SharingLevel::Off) {
        return {result.twin_times, result.times};
    }
    return {result.times, result.twin_times};
}

[[nodiscard]] std::string signed_grouped(std::int64_t number) {
    return grouped(static_cast<double>(number), 0);
}

/// 87.50, or - where there is no whole.
template <typename Number>
[[nodiscard]] std::string percent(Number part, Number whole) {
    if (whole <= Number{0}) {
        return "-";
    }
    std::string text;
    print(text, "%.2f", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return text;
}

[[nodiscard]] std::string milliseconds(std::uint64_t ns) {
    return grouped(static_cast<double>(ns) / 1e6, 1);
}

[[nodiscard]] std::string bytes_of(std::uint64_t bits) {
    return grouped((bits + 7) / 8);
}

/// "NotShared 3, Cut 1": in the order of the reasons, those that there are. Without those of a
/// value's first call where it `is_first_left_out`.
[[nodiscard]] std::string reasons_of(const SavingsCounts& counts, bool is_first_left_out) {
    std::string text;
    for (std::size_t i = 0; i < encode_reason_count; ++i) {
        const auto reason = static_cast<EncodeReason>(i);
        const bool is_first =
            reason == EncodeReason::FirstUse || reason == EncodeReason::ValueChanged;
        if (counts.encoded[i] > 0 && !(is_first && is_first_left_out)) {
            text += (text.empty() ? "" : ", ") + std::string(to_string(reason)) + " " +
                    grouped(counts.encoded[i]);
        }
    }
    return text;
}

void report_time(std::string& text, const MatchOptions& options, const MatchResult& result) {
    if (!result.has_twin) {
        add_row(text, "server time", "not known: --twin off, so nobody played without sharing");
        return;
    }
    const auto [shared, unshared] = times_of(options, result);
    const double saved =
        static_cast<double>(unshared.total_ns) - static_cast<double>(shared.total_ns);
    add_row(text, "server time", milliseconds(shared.total_ns), " ms instead of ",
            milliseconds(unshared.total_ns), " ms: ", grouped(std::abs(saved) / 1e6, 1), " ms ",
            saved < 0 ? "lost" : "saved", " (",
            percent(std::abs(saved), static_cast<double>(unshared.total_ns)), " %)");
    add_row(text, "", "measured: two servers take turns, tick by tick; the one ",
            options.sharing == SharingLevel::Off ? "without sharing goes" : "that shares goes");
    add_row(text, "", "first, and finds the objects out of the cache");
}

void report_call_time(std::string& text, const Savings& savings) {
    if (!savings.has_twin) {
        return;
    }
    const auto saved = static_cast<double>(savings.counts.ns_saved);
    add_row(text, "  serializing", "about ", grouped(std::abs(saved) / 1e6, 1), " ms ",
            saved < 0 ? "lost" : "saved",
            " by the calls saved: AN ESTIMATE, as below by class and");
    add_row(text, "", "property. The calls saved of each, times what one takes: measured behind");
    add_row(text, "", "the match with values of the recording, without the block around it.");
    add_row(text, "", "The rest of the time is what else a block costs, less what copying takes");
}

void report_calls(std::string& text, const Savings& savings) {
    const SavingsCounts& counts = savings.counts;
    if (savings.has_twin) {
        add_row(text, "values encoded", counts.calls(), " instead of ", counts.calls_unshared, ": ",
                signed_grouped(counts.calls_saved()), " saved (",
                percent(static_cast<double>(counts.calls_saved()),
                        static_cast<double>(counts.calls_unshared)),
                " %),");
        add_row(text, "", percent(counts.calls_saved(), counts.calls_saved_max()),
                " % of what can be: each value encoded once");
    } else {
        add_row(text, "values encoded", counts.calls(),
                "; how many without sharing is not known: --twin off");
    }
    add_row(text, "  why", reasons_of(counts, false));
}

void report_values(std::string& text, const Savings& savings) {
    const SavingsCounts& counts = savings.counts;
    add_row(text, "values", counts.values_sent, " sent; ", counts.payload_reuses,
            " copied within whole blocks, ", counts.values_reused, " alone");
    if (savings.has_twin) {
        add_row(text, "  bytes of these", bytes_of(counts.bits_sent), " sent; ",
                bytes_of(counts.bits_encoded()), " encoded, ",
                bytes_of(counts.bits_in_copied_blocks), " copied within whole blocks, ",
                bytes_of(counts.bits_copied_alone), " alone");
    } else {
        add_row(text, "  bytes of these", bytes_of(counts.bits_copied_alone),
                " copied alone; the others are told of blocks only: --twin off");
    }
}

void report_blocks(std::string& text, const MatchOptions& options, const Savings& savings) {
    const BlockSavings& blocks = savings.blocks;
    const std::uint64_t clients = options.clients;
    add_row(text, "blocks", blocks.sent, " sent; ", blocks.copied, " copied whole (",
            percent(blocks.copied, blocks.sent), " %), ",
            clients == 1 ? "of the only client's"
                         : percent(clients - 1, clients) + " % are all but the first");
    if (clients != 1) {
        add_row(text, "", "if each is owed to all of the ", clients, " clients, once");
    }
    add_row(text, "  why not", text_of(blocks.misses));
    add_row(text, "  bytes of these", blocks.bytes_sent, " sent with their heads; ",
            blocks.bytes_copied, " copied whole");
    if (savings.bundles_copied > 0) {
        add_row(text, "  in bundles", savings.bundles_built, " laid down, of which ",
                savings.bundles_copied, " times a packet was given blocks");
    }
}

void report_method(std::string& text, const Savings& savings) {
    if (!savings.is_same) {
        add_row(text, "counts", "of another playing, WHICH WAS NOT THE SAME");
        return;
    }
    add_row(text, "counts",
            "of a second playing, as counting takes time: to the same packets, with");
    add_row(text, "", "as many calls, blocks and bundles. Each value of plain memory counts as");
    add_row(text, "", "a call, though a row of them is written at once. Below: copied in");
    add_row(text, "", "blocks is within whole ones, alone is by itself");
}

void report_rest(std::string& text, std::size_t count, const char* what) {
    if (count > 0) {
        add_parts(text, "  and ", count, " more", what, "\n");
    }
}

[[nodiscard]] Columns::Row class_head(bool has_twin) {
    Columns::Row row{"class",  "blocks",      "bytes",        "built",
                     "copied", "of blocks %", "bytes copied", "calls"};
    if (has_twin) {
        row.insert(row.end(), {"saved", "about ms", "of all %", "of what can be %", ""});
    } else {
        row.insert(row.end(), {"values copied", ""});
    }
    return row;
}

template <typename Number>
[[nodiscard]] std::string bar_of(Number part, Number whole) {
    return part > 0 ? bench::bar(static_cast<double>(part), static_cast<double>(whole)) : "";
}

[[nodiscard]] Columns::Row class_row(const ClassSavings& savings, const Savings& whole) {
    const BlockSavings& blocks = savings.blocks;
    const SavingsCounts& counts = savings.counts;
    Columns::Row row{printable(savings.name, name_bytes_max),
                     grouped(blocks.sent),
                     grouped(blocks.bytes_sent),
                     grouped(blocks.built),
                     grouped(blocks.copied),
                     percent(blocks.copied, blocks.sent),
                     grouped(blocks.bytes_copied),
                     grouped(counts.calls())};
    if (whole.has_twin) {
        row.push_back(signed_grouped(counts.calls_saved()));
        row.push_back(grouped(static_cast<double>(counts.ns_saved) / 1e6, 2));
        row.push_back(percent(counts.calls_saved(), whole.counts.calls_saved()));
        row.push_back(percent(counts.calls_saved(), counts.calls_saved_max()));
        row.push_back(bar_of(counts.calls_saved(), whole.counts.calls_saved()));
    } else {
        row.push_back(grouped(counts.values_copied()));
        row.push_back(bar_of(counts.values_copied(), whole.counts.values_copied()));
    }
    return row;
}

[[nodiscard]] Columns::Row property_head(const std::string& name, bool has_twin) {
    Columns::Row row{name, "values", "in blocks", "alone", "calls"};
    if (has_twin) {
        row.insert(row.end(), {"saved", "ns a call", "about ms", "of what can be %", "bytes",
                               "encoded", "bytes in blocks", "bytes alone"});
    } else {
        row.emplace_back("bytes alone");
    }
    row.emplace_back("encoded again");
    return row;
}

[[nodiscard]] Columns::Row property_row(const PropertySavings& property, bool has_twin) {
    const SavingsCounts& counts = property.counts;
    Columns::Row row{printable(property.path, name_bytes_max), grouped(counts.values_sent),
                     grouped(counts.payload_reuses), grouped(counts.values_reused),
                     grouped(counts.calls())};
    if (has_twin) {
        row.insert(row.end(),
                   {signed_grouped(counts.calls_saved()), grouped(property.ns_per_call, 1),
                    grouped(static_cast<double>(counts.ns_saved) / 1e6, 2),
                    percent(counts.calls_saved(), counts.calls_saved_max()),
                    bytes_of(counts.bits_sent), bytes_of(counts.bits_encoded()),
                    bytes_of(counts.bits_in_copied_blocks), bytes_of(counts.bits_copied_alone)});
    } else {
        row.push_back(bytes_of(counts.bits_copied_alone));
    }
    row.push_back(reasons_of(counts, true));
    return row;
}

void report_properties(std::string& text, const ClassSavings& savings, std::size_t rows_max,
                       bool has_twin) {
    // Those that nobody was sent are the last, as nothing was saved of them.
    std::vector<const PropertySavings*> sent;
    for (const PropertySavings& property : savings.properties) {
        if (property.counts.values_sent > 0 || property.counts.calls() > 0) {
            sent.push_back(&property);
        }
    }
    if (sent.empty()) {
        return;
    }
    Columns columns;
    columns.add(property_head(printable(savings.name, name_bytes_max), has_twin));
    for (std::size_t i = 0; i < std::min(sent.size(), rows_max); ++i) {
        columns.add(property_row(*sent[i], has_twin));
    }
    text += "\n" + columns.text();
    add_parts(text, "  blocks of these: ", savings.blocks.copied,
              " copied whole; why not: ", text_of(savings.blocks.misses), "\n");
    report_rest(text, sent.size() - std::min(sent.size(), rows_max), "");
    report_rest(text, savings.properties.size() - sent.size(), ", never sent");
}

[[nodiscard]] nlohmann::ordered_json counts_json(const SavingsCounts& counts, bool has_twin) {
    nlohmann::ordered_json json{{"values_sent", counts.values_sent},
                                {"payload_reuses", counts.payload_reuses},
                                {"values_reused", counts.values_reused},
                                {"values_encoded", counts.calls()},
                                {"values_encoded_first", counts.calls_first()},
                                {"encoded", encoded_json(counts.encoded)},
                                {"bits_copied_alone", counts.bits_copied_alone}};
    if (has_twin) {
        json["values_encoded_without_sharing"] = counts.calls_unshared;
        json["values_encoded_saved"] = counts.calls_saved();
        json["serializer_ns_saved_estimated"] = counts.ns_saved;
        json["bits_sent"] = counts.bits_sent;
        json["bits_encoded"] = counts.bits_encoded();
        json["bits_in_copied_blocks"] = counts.bits_in_copied_blocks;
    }
    return json;
}

}  // namespace

nlohmann::ordered_json with_blocks(nlohmann::ordered_json json, const BlockSavings& blocks) {
    json["blocks_sent"] = blocks.sent;
    json["block_bytes_sent"] = blocks.bytes_sent;
    json["payloads_built"] = blocks.built;
    json["payloads_reused"] = blocks.copied;
    json["payload_bytes_reused"] = blocks.bytes_copied;
    json["block_misses"] = misses_json(blocks.misses);
    return json;
}

std::string report_savings(const MatchOptions& options, const MatchResult& result) {
    std::string text = "\n  What sharing saved\n\n";
    if (!result.savings) {
        return text + "  nothing was shared: --sharing off, --twin off\n";
    }
    const Savings& savings = *result.savings;
    report_time(text, options, result);
    report_call_time(text, savings);
    report_calls(text, savings);
    report_values(text, savings);
    report_blocks(text, options, savings);
    report_method(text, savings);
    const std::size_t rows = std::min<std::size_t>(savings.classes.size(), options.report_rows);
    Columns columns;
    columns.add(class_head(savings.has_twin));
    for (std::size_t i = 0; i < rows; ++i) {
        columns.add(class_row(savings.classes[i], savings));
    }
    text += "\n" + columns.text();
    report_rest(text, savings.classes.size() - rows, "");
    for (std::size_t i = 0; i < rows; ++i) {
        report_properties(text, savings.classes[i], options.report_rows, savings.has_twin);
    }
    return text;
}

nlohmann::ordered_json savings_json(const MatchOptions& options, const MatchResult& result) {
    const Savings& savings = *result.savings;
    nlohmann::ordered_json json;
    json["packets_equal"] = savings.is_same;
    if (savings.has_twin) {
        const auto [shared, unshared] = times_of(options, result);
        json["replication_ns_total"] = shared.total_ns;
        json["replication_ns_total_without_sharing"] = unshared.total_ns;
        json["replication_ns_saved"] =
            static_cast<std::int64_t>(unshared.total_ns - shared.total_ns);
    }
    json["bundles_built"] = savings.bundles_built;
    json["bundles_copied"] = savings.bundles_copied;
    json["whole"] = with_blocks(counts_json(savings.counts, savings.has_twin), savings.blocks);
    json["classes"] = nlohmann::json::array();
    for (const ClassSavings& type : savings.classes) {
        nlohmann::ordered_json entry{{"class", type.name}};
        entry.update(with_blocks(counts_json(type.counts, savings.has_twin), type.blocks));
        entry["properties"] = nlohmann::json::array();
        for (const PropertySavings& property : type.properties) {
            nlohmann::ordered_json row{{"property", property.path}};
            row.update(counts_json(property.counts, savings.has_twin));
            if (savings.has_twin) {
                row["ns_per_call_measured"] = property.ns_per_call;
            }
            entry["properties"].push_back(std::move(row));
        }
        json["classes"].push_back(std::move(entry));
    }
    return json;
}

}  // namespace replayout::match
