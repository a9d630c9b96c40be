// SPDX-License-Identifier: MIT
#include "report/curves.h"

#include "report/fan_out.h"
#include "report/floors.h"
#include "report/measurements.h"
#include "report/tables.h"
#include "support/report/percentile.h"
#include "support/report/report_columns.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"

namespace replayout::bench {
namespace {

using test::contains;

[[nodiscard]] std::string entry(const std::string& name, double us, const std::string& more = "") {
    return R"({"name": ")" + name + R"(", "run_name": ")" + name +
           R"(", "run_type": "iteration", "repetitions": 1, "iterations": 20, "real_time": )" +
           std::to_string(us) + R"(, "cpu_time": 1.0, "time_unit": "us")" + more + "}";
}

[[nodiscard]] std::string failed_entry(const std::string& name, const std::string& error) {
    return R"({"run_name": ")" + name + R"(", "run_type": "iteration", "error_occurred": true,)" +
           R"( "error_message": ")" + error + R"("})";
}

[[nodiscard]] std::string file(const std::vector<std::string>& entries,
                               const std::string& more_context = "") {
    std::string text =
        R"({"context": {"host_name": "cabbage", "executable": "/home/cabbage/send_bench")" +
        more_context + R"(}, "benchmarks": [)";
    for (std::size_t i = 0; i < entries.size(); ++i) {
        text += (i == 0 ? "" : ", ") + entries[i];
    }
    return text + "]}";
}

[[nodiscard]] std::vector<Measurement> read(const std::string& text) {
    std::vector<Measurement> measurements;
    REQUIRE(read_measurements(text, measurements));
    return measurements;
}

/// 1,000 objects, 20 % of which move: by connections, each level and each yardstick.
[[nodiscard]] std::vector<Measurement> small_fan_out() {
    std::vector<std::string> entries;
    for (const int connections : {1, 64}) {
        const std::string cell =
            "/connections:" + std::to_string(connections) + "/objects:1000/permille:200";
        for (int sharing = 0; sharing < 4; ++sharing) {
            entries.push_back(entry("BM_FanOut" + cell + "/sharing:" + std::to_string(sharing) +
                                        "/iterations:20/manual_time",
                                    400.0 / (sharing + 1) * connections, R"(, "marking_us": 7.5)"));
        }
        for (const char* subject : {"NaivePoll", "NaiveDirty", "SharedOnce", "Memcpy"}) {
            // Of a few ticks the median counts, where there is one.
            entries.push_back(entry(std::string("BM_FanOut") + subject + cell + "/manual_time", 9,
                                    R"(, "median_us": 5)"));
        }
    }
    return read(file(entries));
}

}  // namespace

TEST_CASE("Columns: as wide as what is in them, by characters", "[bench][bench_report]") {
    Columns columns;
    columns.add({"name", "n", ""});
    columns.add({"K\xc3\xa4mpfer", "12", "last"});
    columns.add({"\xc3\xa4", "1,234", ""});
    CHECK(columns.text() ==
          "  name         n\n"
          "  K\xc3\xa4mpfer     12  last\n"
          "  \xc3\xa4        1,234\n");
    CHECK(bar(1, 2).size() == 15);
    CHECK(bar(0, 2) == "#");
}

TEST_CASE("Percentiles: a share of all is not above, in whatever order they come",
          "[bench][bench_report]") {
    std::vector<double> none;
    CHECK(percentile(none, 50) == 0);
    std::vector<double> three{3, 1, 2};
    CHECK(percentile(three, 50) == 2);
    CHECK(percentile(three, 100) == 3);
    CHECK(percentile(three, 0) == 1);
    std::vector<std::uint64_t> hundred;
    for (std::uint64_t i = 100; i > 0; --i) {
        hundred.push_back(i);
    }
    CHECK(percentile(hundred, 50) == 51);
    CHECK(percentile(hundred, 99) == 100);
    CHECK(percentile_place(200, 99) == 198);
}

TEST_CASE("Bench report: a measurement has a family, arguments, time and counters",
          "[bench][report]") {
    std::vector<Measurement> measurements;
    REQUIRE(read_measurements(
        file({entry("BM_TickServer/connections:16/sharing:3/iterations:20/manual_time", 12.5,
                    R"(, "allocs": 0, "ns/object": 7.5)"),
              entry("Interest/Flat", 3)}),
        measurements));
    REQUIRE(measurements.size() == 2);
    const Measurement& first = measurements.front();
    CHECK(first.family == "BM_TickServer");
    CHECK(first.argument_names == std::vector<std::string>{"connections", "sharing"});
    CHECK(first.argument("connections") == 16);
    CHECK(first.argument("sharing") == 3);
    CHECK_FALSE(first.argument("objects").has_value());
    CHECK(first.ns == 12'500);
    CHECK(first.counters.at("ns/object") == 7.5);
    CHECK(first.counters.count("real_time") == 0);
    CHECK(measurements.back().family == "Interest/Flat");
    CHECK(measurements.back().arguments.empty());
}

TEST_CASE("Bench report: of repetitions it takes the median, and whatever failed",
          "[bench][report]") {
    const std::string repeated = R"({"run_name": "BM_Memcpy", "run_type": "iteration",)"
                                 R"( "repetitions": 3, "real_time": 9, "time_unit": "ns"})";
    const std::string median = R"({"run_name": "BM_Memcpy", "run_type": "aggregate",)"
                               R"( "repetitions": 3, "aggregate_name": "median",)"
                               R"( "real_time": 7, "time_unit": "ns"})";
    const std::string mean = R"({"run_name": "BM_Memcpy", "run_type": "aggregate",)"
                             R"( "repetitions": 3, "aggregate_name": "mean",)"
                             R"( "real_time": 8, "time_unit": "ns"})";
    const std::string failed = R"({"run_name": "BM_Join", "run_type": "iteration",)"
                               R"( "repetitions": 3, "error_message": "not all have all"})";
    std::vector<Measurement> measurements;
    REQUIRE(read_measurements(file({repeated, repeated, mean, median, failed}), measurements));
    REQUIRE(measurements.size() == 2);
    CHECK(measurements[0].ns == 7);
    CHECK(measurements[1].error == "not all have all");
}

TEST_CASE("Bench report: what is no file of Google Benchmark is refused, and adds nothing",
          "[bench][report]") {
    std::vector<Measurement> measurements;
    for (const char* text :
         {"", "{", "[]", "{}", R"({"benchmarks": 3})",
          R"({"benchmarks": [{"run_name": "BM_A", "run_type": "iteration"}, 1]})"}) {
        CAPTURE(text);
        CHECK_FALSE(read_measurements(text, measurements));
        CHECK(measurements.empty());
    }
    // Odd, and readable: numbers that are texts, arguments that are none.
    CHECK(
        read_measurements(R"({"benchmarks": [{"run_name": "BM_A/x:/y:1z//k:99999999999999999999",)"
                          R"( "real_time": "1", "time_unit": 5}]})",
                          measurements));
    REQUIRE(measurements.size() == 1);
    CHECK(measurements[0].arguments.empty());
    CHECK(measurements[0].ns == 0);
}

TEST_CASE("Bench report: figures name no machine", "[bench][report]") {
    std::vector<Measurement> measurements;
    REQUIRE(read_measurements(
        file({entry("BM_TickServer/connections:16", 12.5, R"(, "allocs": 0)")}), measurements));
    const std::string text = to_json(measurements);
    CHECK(text.find("cabbage") == std::string::npos);
    const auto json = nlohmann::json::parse(text);
    CHECK(json[0]["benchmark"] == "BM_TickServer");
    CHECK(json[0]["arguments"]["connections"] == 16);
    CHECK(json[0]["ns"] == 12'500);
    CHECK(json[0]["counters"]["allocs"] == 0);
}

TEST_CASE("Bench report: numbers that are none are left out", "[bench][report]") {
    // As it writes the deviation of a counter that is 0 throughout.
    const std::string deviation =
        R"({"run_name": "BM_Memcpy", "run_type": "aggregate", "repetitions": 3,)"
        R"( "aggregate_name": "cv", "real_time": 0.1, "calls": NaN, "allocs": -NaN})";
    const std::vector<Measurement> measurements =
        read(file({deviation, entry("BM_Memcpy", 3, R"(, "calls": NaN, "ns/object": Infinity)"),
                   entry("BM_NaN", 5, R"(, "label": "\"NaN\\")")}));
    REQUIRE(measurements.size() == 2);
    CHECK(measurements[0].ns == 3'000);
    CHECK(measurements[0].counters.empty());
    CHECK(measurements[1].family == "BM_NaN");
}

TEST_CASE("Bench report: of ticks the median counts", "[bench][report]") {
    const std::vector<Measurement> measurements =
        read(file({entry("BM_TickServer", 9, R"(, "median_us": 5)")}));
    REQUIRE(measurements.size() == 1);
    CHECK(measurements[0].ns == 5'000);
    CHECK(measurements[0].mean_ns == 9'000);
    CHECK(measurements[0].counters.empty());
    const auto json = nlohmann::json::parse(to_json(measurements));
    CHECK(json[0]["ns"] == 5'000);
    CHECK(json[0]["mean_ns"] == 9'000);
}

TEST_CASE("Bench report: what failed as often as it was repeated is told once", "[bench][report]") {
    CHECK(read(file({failed_entry("BM_Join/clients:1", "late"),
                     failed_entry("BM_Join/clients:1", "late"),
                     failed_entry("BM_Join/clients:1", "later"),
                     failed_entry("BM_Join/clients:2", "late")}))
              .size() == 3);
}

TEST_CASE("Bench report: what was left out is told at the end, with why", "[bench][report]") {
    const std::vector<Measurement> measurements =
        read(file({entry("BM_Match", 3)},
                  R"(, "left_out/BM_FanOut/connections:1024/objects:50000": "too much memory",)"
                  R"( "left_out/BM_FanOut/connections:1024/objects:100": 3)"));
    REQUIRE(measurements.size() == 2);
    CHECK_FALSE(measurements[1].has_time());
    CHECK(left_out_list(measurements) ==
          "\nLeft out\n  BM_FanOut connections:1024 objects:50000  too much memory\n");
    CHECK(left_out_list({measurements[0]}).empty());
    CHECK(fan_out_of(measurements).empty());
    CHECK_FALSE(contains(tables(measurements), "1024"));
    const auto json = nlohmann::json::parse(to_json(measurements));
    CHECK(json[1]["benchmark"] == "BM_FanOut");
    CHECK(json[1]["arguments"]["objects"] == 50'000);
    CHECK(json[1]["left_out"] == "too much memory");
    CHECK_FALSE(json[1].contains("ns"));
    CHECK_FALSE(json[1].contains("error"));
}

TEST_CASE("Bench report: bars are of the longest time of a table, and what failed has none",
          "[bench][report]") {
    const std::vector<Measurement> measurements =
        read(file({entry("BM_TickSlow/connections:1", 10), entry("BM_TickSlow/connections:16", 40),
                   failed_entry("BM_Join", "not all")}));
    const std::string text = tables(measurements);
    CHECK(contains(text, "  connections:16  40.00 us  ##############################\n"));
    CHECK(contains(text, "  connections:1   10.00 us  ########\n"));
    CHECK(contains(text, "-  FAILED: not all\n"));
    CHECK(fan_out_table(fan_out_of(measurements)).empty());
}

TEST_CASE("Bench report: rows that come in random order stand in one table, by their arguments",
          "[bench][report]") {
    const std::string text =
        tables(read(file({entry("BM_B/x:16", 1), entry("BM_A/x:2", 1), entry("BM_B/x:2", 1),
                          entry("BM_A/x:16", 1), entry("BM_B/x:9", 1)})));
    CHECK(text.find("\nBM_B\n") == text.rfind("\nBM_B\n"));
    CHECK(text.find("\nBM_B\n") < text.find("\nBM_A\n"));
    const std::string first = text.substr(0, text.find("\nBM_A\n"));
    CHECK(first.find("x:2 ") < first.find("x:9 "));
    CHECK(first.find("x:9 ") < first.find("x:16 "));
}

TEST_CASE("Bench report: a table has the counters of its family, but for those that are 0",
          "[bench][report]") {
    const std::string text =
        tables(read(file({entry("BM_A/x:1", 1, R"(, "calls": 0, "bytes": 1234, "allocs": 0)"),
                          entry("BM_A/x:2", 2, R"(, "calls": 0, "bytes": 0.25, "allocs": 0)"),
                          entry("BM_B", 3, R"(, "hits": 12345678)")})));
    const std::string first = text.substr(0, text.find("BM_B"));
    CHECK_FALSE(contains(text, "calls"));
    CHECK_FALSE(contains(first, "hits"));
    CHECK(contains(first, "allocs"));
    CHECK(contains(first, "  x:1  1.00 us       0   1234  #"));
    CHECK(contains(first, "  x:2  2.00 us       0   0.25  #"));
    CHECK(contains(text, "12.3M"));
}

TEST_CASE("Bench report: the floor stands beside, with how many times it the subject is",
          "[bench][report]") {
    const std::vector<Measurement> measurements = read(file(
        {entry("BM_TickServer/connections:1/sharing:3", 10),
         entry("BM_TickServer/connections:64/sharing:3", 30), entry("BM_Memcpy/connections:1", 4),
         failed_entry("BM_Memcpy/connections:64", "nothing"), entry("BM_TickLoss/percent:0", 5),
         entry("BM_TickLoss/percent:9", 2), entry("BM_IdleWorld/objects:1000", 1),
         entry("BM_IdleWorld/objects:50000", 4)}));
    CHECK(floor_of(measurements[0], measurements) == &measurements[2]);
    CHECK(floor_of(measurements[1], measurements) == nullptr);  // it failed
    CHECK(floor_of(measurements[2], measurements) == nullptr);  // it is one
    CHECK(floor_of(measurements[4], measurements) == nullptr);  // likewise
    CHECK(floor_of(measurements[5], measurements) == &measurements[4]);
    CHECK(floor_of(measurements[7], measurements) == &measurements[6]);
    const std::string text = tables(measurements);
    CHECK(contains(text, "10.00 us  4.00 us      2.50  #"));
    CHECK(contains(text, "30.00 us        -         -  #"));
    CHECK(contains(text, "2.00 us  5.00 us      0.40  #"));
    const std::string conditions = tables(read(file(
        {entry("BM_TickConditions/conditions:0", 1), entry("BM_TickConditions/conditions:1", 2)})));
    CHECK(contains(conditions, "of yardstick"));
}

TEST_CASE("Bench report: the fan-out has a row for each cell, and a column for each subject",
          "[bench][report]") {
    const std::vector<Measurement> measurements = small_fan_out();
    const FanOut fan_out = fan_out_of(measurements);
    REQUIRE(fan_out.size() == 2);
    const FanOutRow& row = fan_out.at({64, 1'000, 200});
    CHECK(figure_of(row, FanOutSubject::Off).ns == 25'600'000);
    CHECK(figure_of(row, FanOutSubject::Bundles).ns == 6'400'000);
    CHECK(figure_of(row, FanOutSubject::Memcpy).ns == 5'000);
    CHECK(ratio_of(row, FanOutSubject::Bundles, FanOutSubject::Off) == 0.25);
    CHECK(tables(measurements).empty());
    const std::string text = fan_out_table(fan_out);
    CHECK(contains(text, "shared once"));
    CHECK(contains(text, "    5.00      7.5         0.25  ########\n"));  // memcpy, marking
}

TEST_CASE("Bench report: a cell in which something failed has a row, and says why",
          "[bench][report]") {
    const std::string cell = "/connections:1/objects:100/permille:0";
    const FanOut fan_out = fan_out_of(read(file(
        {failed_entry("BM_FanOut" + cell + "/sharing:0", "it must not allocate"),
         entry("BM_FanOut" + cell + "/sharing:3", 2),
         failed_entry("BM_FanOutMemcpy/connections:2/objects:100/permille:0", "nothing sent")})));
    REQUIRE(fan_out.size() == 2);
    const std::string text = fan_out_table(fan_out);
    CHECK(contains(text,
                   "  FAILED: connections:1 objects:100 permille:0 off: it must not allocate\n"));
    CHECK(contains(text, "  FAILED: connections:2 objects:100 permille:0 memcpy: nothing sent\n"));
    CHECK(contains(text, "  1                100               0  FAILED"));
    CHECK(ratio_of(fan_out.at({1, 100, 0}), FanOutSubject::Bundles, FanOutSubject::Off) == 0);
}

TEST_CASE("Bench report: where sharing costs, the ratio says so and the bar ends",
          "[bench][report]") {
    const std::string cell = "/connections:1/objects:100/permille:0";
    const std::string text =
        fan_out_table(fan_out_of(read(file({entry("BM_FanOut" + cell + "/sharing:0", 2),
                                            entry("BM_FanOut" + cell + "/sharing:3", 5)}))));
    CHECK(contains(text, "  2.50  ##############################\n"));
}

TEST_CASE("Bench report: curves hold their data, and need two points", "[bench][report]") {
    const std::vector<Curve> curves = curves_of(fan_out_of(small_fan_out()));
    REQUIRE(curves.size() == 2);  // by changes there is one point
    CHECK(curves[0].name == "tick_by_connections");
    CHECK(contains(curves[0].program, "set ylabel 'microseconds a tick and connection'"));
    CHECK(contains(curves[0].program, "\n64 400 200 133.3 100 0.07812 0.07812 0.07812 0.07812\n"));
    CHECK(curves[1].name == "savings_by_connections");
    CHECK(contains(curves[1].program, "set output 'savings_by_connections.svg'"));
    CHECK(contains(curves[1].program, "set ylabel 'time without sharing / time with it'"));
    CHECK(contains(curves[1].program, "\n64 2 3 4\n"));
    CHECK(curves_of({}).empty());
}

TEST_CASE("Bench report: curves by changes are of 64 connections, without what does not change",
          "[bench][report]") {
    FanOut fan_out;
    for (const std::int64_t permille : {0, 10, 200}) {
        FanOutRow& row = fan_out[{64, 1'000, permille}];
        row[static_cast<std::size_t>(FanOutSubject::Off)].ns = 640'000;
        row[static_cast<std::size_t>(FanOutSubject::Bundles)].ns = 64'000;
    }
    const std::vector<Curve> curves = curves_of(fan_out);
    REQUIRE(curves.size() == 2);
    CHECK(curves[0].name == "tick_by_changes");
    CHECK(contains(curves[0].program, "$points << END\n1 10 NaN NaN 1 NaN NaN NaN NaN\n20 10 "));
    CHECK(curves[1].name == "savings_by_changes");
    CHECK(contains(curves[1].program, "$points << END\n1 NaN NaN 10\n20 NaN NaN 10\nEND\n"));
}

}  // namespace replayout::bench
