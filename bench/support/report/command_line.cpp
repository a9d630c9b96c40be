// SPDX-License-Identifier: MIT
#include "support/report/command_line.h"

#include "support/report/report_text.h"

#include <cmath>
#include <cstdio>

namespace replayout::bench {

namespace {

constexpr Choice<SharingLevel> sharing_levels[] = {{"off", SharingLevel::Off},
                                                   {"pieces", SharingLevel::Pieces},
                                                   {"payloads", SharingLevel::Payloads},
                                                   {"bundles", SharingLevel::Bundles},
                                                   {"on", SharingLevel::Bundles}};

[[nodiscard]] std::string whole_or_short(double number) {
    return number == std::floor(number) ? grouped(number, 0) : grouped_short(number);
}

}  // namespace

CLI::Validator number(double min, double max) {
    const auto check = [min, max](const std::string& text) {
        double value = 0;
        const bool is_octal = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
        const bool is_number = !is_octal && CLI::detail::lexical_cast(text, value);
        return is_number && value >= min && value <= max
                   ? std::string()
                   : text + " is not a number from " + whole_or_short(min) + " to " +
                         whole_or_short(max);
    };
    return CLI::Validator(check, "");
}

void add_switch(CLI::App& app, const char* name, bool& value, const char* help) {
    static constexpr Choice<bool> on_off[] = {{"on", true}, {"off", false}};
    add_choice(app, name, value, on_off, help);
}

const char* on_or_off(bool is_on) noexcept {
    return is_on ? "on" : "off";
}

void add_sharing(CLI::App& app, SharingLevel& value) {
    add_choice(app, "--sharing", value, sharing_levels,
               "what is computed once for all connections: nothing, values, the blocks of "
               "objects, or what many of them are sent at once; on: bundles");
}

const char* name_of(SharingLevel sharing) noexcept {
    return word_of<SharingLevel>(sharing_levels, sharing);
}

int parse_command_line(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_unusable;
    }
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& value : option->results()) {
            if (value.starts_with("--")) {
                std::fprintf(stderr, "%s lacks its value: %s is another option\n",
                             option->get_name().c_str(), value.c_str());
                return exit_unusable;
            }
        }
    }
    if (app.count("--json") > 0 && app["--json"]->as<std::string>().empty()) {
        std::fprintf(stderr, "--json needs the name of a file\n");
        return exit_unusable;
    }
    return go_on;
}

}  // namespace replayout::bench
