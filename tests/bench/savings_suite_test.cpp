// SPDX-License-Identifier: MIT
//
// ./run savings: rows play and send the same at every level of sharing, and the table says from how
// many connections on sharing pays.
#include "savings/savings_options.h"
#include "savings/savings_report.h"
#include "savings/savings_rows.h"

#include <replayout/reflection/type_builder.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/parsed_words.h"
#include "support/checks/catch.h"
#include "support/report/command_line.h"

namespace replayout::bench {
namespace {

// How docs/performance.md measures a class of one's own.

struct Door {
    float angle = 0;
    bool is_locked = false;
    friend bool operator==(const Door&, const Door&) = default;
};

SavingsRow doors() {
    return make_row<Door>({
        .name = "doors",
        .changes = "a quarter of 400 turns",
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            return class_builder<Door>(registry, "Door")
                .property<&Door::angle>()
                .property<&Door::is_locked>()
                .build();
        },
        .change = [](Door& door, std::uint32_t,
                     std::uint64_t turn) { door.angle = static_cast<float>(turn % 360 + 1); },
        .write = [](const Door& now, const Door&, HandWriter& out) { out.number(now.angle); },
        .object_count = 400,
        .period_ticks = 4,
    });
}

[[nodiscard]] SavingsCellSettings short_settings(std::uint32_t connections) {
    SavingsCellSettings settings;
    settings.connections = connections;
    settings.ticks = 8;
    settings.turn = 3;
    settings.joins = 1;
    return settings;
}

[[nodiscard]] SavingsCell cell_of(std::uint32_t connections, double off, double bundles) {
    SavingsCell cell;
    cell.connections = connections;
    cell.times[static_cast<std::size_t>(SavingsSubject::Off)].median = off;
    cell.times[static_cast<std::size_t>(SavingsSubject::Bundles)].median = bundles;
    return cell;
}

}  // namespace

TEST_CASE("Savings: a class of one's own is a row, with all that stands beside it",
          "[bench][savings]") {
    const SavingsCell cell = measure_cell(doors(), short_settings(5));
    REQUIRE(cell.error.empty());
    for (const SavingsTime& time : cell.times) {
        CHECK(time.median > 0);
        CHECK(time.p10 <= time.median);
        CHECK(time.median <= time.p90);
    }
    // A quarter of 400 in each tick: a byte of step, a mask and four bytes each, and a few heads.
    CHECK(cell.bytes_per_connection > 100 * 5);
    CHECK(cell.bytes_per_connection < 100 * 8);
}

TEST_CASE("Savings: rows play, and every level of sharing sends the same packets",
          "[bench][savings]") {
    std::string error;
    const std::vector<SavingsRow> rows = savings_rows({}, error);
    REQUIRE(error.empty());
    CHECK(rows.size() >= 18);
    for (const SavingsRow& row : rows) {
        const bool is_long = row.name.starts_with("battle") || row.name == "walking viewers";
        if (is_long && row.name != "battle, cap 8,000") {
            continue;  // the same games by other settings
        }
        INFO(row.name);
        const SavingsCell cell = measure_cell(row, short_settings(3));
        CHECK(cell.error.empty());
        CHECK(cell.gain() > 0);
        CHECK(cell.bytes_per_connection > 0);
    }
}

TEST_CASE("Savings: sharing pays from the number on from which it saves with more, too",
          "[bench][savings]") {
    CHECK(pays_from({"", "", {cell_of(1, 10, 11), cell_of(4, 20, 10), cell_of(16, 40, 10)}}) == 4);
    CHECK(pays_from({"", "", {cell_of(1, 20, 10), cell_of(4, 10, 10), cell_of(16, 40, 10)}}) == 16);
    CHECK(pays_from({"", "", {cell_of(1, 20, 10), cell_of(4, 20, 10)}}) == 1);
    CHECK(pays_from({"", "", {cell_of(1, 20, 10), cell_of(4, 10.4, 10)}}) == 0);
    CHECK(pays_from({"", "", {}}) == 0);
}

TEST_CASE("Savings: tables and files have each row, and say what failed", "[bench][savings]") {
    std::vector<SavingsResult> results{
        {"good", "something", {cell_of(1, 1'000, 2'000), cell_of(64, 50'000, 10'000)}},
        {"bad", "something", {cell_of(1, 1'000, 2'000), cell_of(64, 0, 0)}}};
    results[1].cells[1].error = "a client was closed";
    const std::string text = savings_tables(results, 64);
    CHECK(text.find("good") != std::string::npos);
    CHECK(text.find("5.00") != std::string::npos);
    CHECK(text.find("bad, 64 connections: a client was closed") != std::string::npos);
    const std::string csv = savings_csv(results);
    CHECK(
        csv.starts_with("row,connections,subject,median_ns,p10_ns,p90_ns,bytes_per_connection\n"));
    CHECK(csv.find("\"good\",64,off,50000,") != std::string::npos);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 2 + 2 + 2);
    const std::string json = savings_json(results);
    CHECK(json.find("\"pays_from\": 64") != std::string::npos);
    CHECK(json.find("a client was closed") != std::string::npos);
}

TEST_CASE("Savings: a command line is read, or refused", "[bench][savings]") {
    const auto parsed = [](const std::vector<std::string>& words, SavingsOptions& options) {
        return test::parse_words(parse_savings_options, words, options);
    };
    SavingsOptions usual;
    CHECK(parsed({}, usual) == go_on);
    CHECK(usual.connections == std::vector<std::uint32_t>{1, 4, 16, 64, 256});
    SavingsOptions quick;
    CHECK(parsed({"--quick", "--rows", "battle,joins"}, quick) == go_on);
    CHECK(quick.connections == std::vector<std::uint32_t>{1, 16, 64});
    CHECK(quick.rows == std::vector<std::string>{"battle", "joins"});
    CHECK_FALSE(quick.cell.has_middle_levels);
    SavingsOptions own;
    CHECK(parsed({"--quick", "--connections", "2,8", "--ticks", "5"}, own) == go_on);
    CHECK(own.connections == std::vector<std::uint32_t>{2, 8});
    CHECK(own.cell.ticks == 5);
    SavingsOptions refused;
    CHECK(parsed({"--connections", "0"}, refused) == exit_unusable);
    CHECK(parsed({"--ticks", "-1"}, refused) == exit_unusable);
}

}  // namespace replayout::bench
