// SPDX-License-Identifier: MIT
//
// replayout_bench_report: tables, one file of figures, and curves, of what the benchmarks measured.
#include "report/curves.h"
#include "report/fan_out.h"
#include "report/measurements.h"
#include "report/tables.h"
#include "support/report/command_line.h"
#include "support/report/json_file.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace replayout::bench;

constexpr int exit_good = 0;
constexpr int exit_failed = 1;

[[nodiscard]] bool read_file(const std::string& path, std::vector<Measurement>& measurements) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || !read_measurements(text.str(), measurements)) {
        std::fprintf(stderr, "%s: no file of Google Benchmark\n", path.c_str());
        return false;
    }
    return true;
}

[[nodiscard]] bool write_curves(const std::string& directory, const FanOut& fan_out) {
    for (const Curve& curve : curves_of(fan_out)) {
        const std::string path = directory + "/" + curve.name + ".gnuplot";
        std::ofstream file(path, std::ios::binary);
        file << curve.program << std::flush;
        if (!file) {
            std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
            return false;
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Prints what the benchmarks measured as tables with bars, and writes it in one piece.\n"
        "Exit status: 0 good, 1 a benchmark failed, 2 bad arguments or files.",
        "replayout_bench_report"};
    std::vector<std::string> paths;
    std::string json_path;
    std::string curve_directory;
    std::vector<std::string> crashed;
    app.add_option("FILE", paths, "written by a benchmark with --benchmark_out");
    app.add_option("--json", json_path, "write the figures to this file; - is stdout");
    app.add_option("--curves", curve_directory,
                   "write programs for gnuplot into this directory, which draw what sharing saves");
    app.add_option("--crashed", crashed, "a benchmark that ended before it wrote its file")
        ->allow_extra_args(false);
    if (const int status = parse_command_line(app, argc, argv); status != go_on) {
        return status;
    }
    if (paths.empty() && crashed.empty()) {
        std::fprintf(stderr, "FILE is needed: what a benchmark wrote with --benchmark_out\n");
        return exit_unusable;
    }
    std::vector<Measurement> measurements;
    for (const std::string& path : paths) {
        if (!read_file(path, measurements)) {
            return exit_unusable;
        }
    }
    for (const std::string& name : crashed) {
        Measurement& measurement = measurements.emplace_back();
        measurement.family = name;
        measurement.error = "it ended before it had measured everything";
    }
    JsonFile json(json_path);
    json.write(to_json(measurements));
    const FanOut fan_out = fan_out_of(measurements);
    std::fputs(
        (tables(measurements) + fan_out_table(fan_out) + left_out_list(measurements)).c_str(),
        json.screen());
    if (!json.is_good() || (!curve_directory.empty() && !write_curves(curve_directory, fan_out))) {
        return exit_unusable;
    }
    for (const Measurement& measurement : measurements) {
        if (!measurement.error.empty()) {
            return exit_failed;
        }
    }
    return exit_good;
}
