// SPDX-License-Identifier: MIT
#include "worst/mutator.h"

#include <algorithm>
#include <utility>

namespace replayout::worst {

namespace {

// Where limits, widths and windows end.
constexpr std::uint32_t special_numbers[] = {
    0,     1,     2,     3,     7,     8,     16,    31,    32,    63,    64,    100,    120,
    127,   128,   200,   223,   224,   240,   255,   256,   400,   511,   512,   600,    1'000,
    1'023, 1'024, 1'136, 1'200, 1'818, 2'000, 2'047, 2'048, 4'000, 4'095, 4'096, 60'000, 65'535};

}  // namespace

std::uint32_t Mutator::random_number() {
    switch (random_.below(4)) {
        case 0:
            return random_.below(8);
        case 1:
            return random_.below(256);
        case 2:
            return random_.below(1u << 16);
        default:
            return random_.pick(special_numbers);
    }
}

Step Mutator::random_step() {
    Step step;
    step.kind = random_.pick(kinds_of(side_));
    for (std::uint32_t& number : step.numbers) {
        number = random_number();
    }
    return step;
}

Steps Mutator::random_steps() {
    Steps steps(random_.between(2, 16));
    std::generate(steps.begin(), steps.end(), [&] { return random_step(); });
    return steps;
}

void Mutator::change_number(Step& step) {
    std::uint32_t& number =
        step.numbers[random_.below(static_cast<std::uint32_t>(step_number_count))];
    switch (random_.below(5)) {
        case 0:
            number = random_number();
            break;
        case 1:
            number += random_.between(1, 8);
            break;
        case 2:
            number -= std::min(number, random_.between(1, 8));
            break;
        case 3:
            number ^= 1u << random_.below(17);
            break;
        default:
            number = random_.percent(50) ? number * 2 : number / 2;
            break;
    }
    number &= 0x1'ffff;
}

void Mutator::repeat_range(Steps& steps) {
    const std::uint32_t size = static_cast<std::uint32_t>(steps.size());
    const std::uint32_t begin = random_.below(size);
    const std::uint32_t length = random_.between(1, std::min(size - begin, 8u));
    const Steps range(steps.begin() + begin, steps.begin() + begin + length);
    steps.insert(steps.begin() + begin + length, range.begin(), range.end());
}

void Mutator::change(Steps& steps, const Steps& other) {
    const auto place = [&] { return random_.below(static_cast<std::uint32_t>(steps.size())); };
    if (steps.empty()) {
        steps.push_back(random_step());
        return;
    }
    switch (random_.below(10)) {
        case 0:
            steps.insert(steps.begin() + place(), random_step());
            break;
        case 1:
            steps.erase(steps.begin() + place());
            break;
        case 2:
            repeat_range(steps);
            break;
        case 3:
            std::swap(steps[place()], steps[place()]);
            break;
        case 4:
            if (!other.empty()) {
                const Step step = random_.pick(other);
                steps.insert(steps.begin() + place(), step);
            }
            break;
        case 5:
            steps[place()] = random_step();
            break;
        default:
            change_number(steps[place()]);
            break;
    }
}

Steps Mutator::child(const Steps& first, const Steps& second) {
    Steps steps = first;
    if (random_.percent(20) && !first.empty() && !second.empty()) {
        steps.resize(random_.below(static_cast<std::uint32_t>(first.size())));
        const std::uint32_t begin = random_.below(static_cast<std::uint32_t>(second.size()));
        steps.insert(steps.end(), second.begin() + begin, second.end());
    }
    const std::uint32_t changes = random_.between(1, 4);
    for (std::uint32_t i = 0; i < changes; ++i) {
        change(steps, second);
    }
    if (steps.size() > steps_max) {
        steps.resize(steps_max);
    }
    return steps;
}

}  // namespace replayout::worst
