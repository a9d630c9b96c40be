// SPDX-License-Identifier: MIT
//
// Runs a fuzz target without libFuzzer: over its seeds, over so many damaged copies of them, and
// over the files and folders that are named. What does not hold ends the process.
//
//     replay_bit_streams [--damage COUNT] [FILE | FOLDER]...
//     replay_bit_streams --write-seeds FOLDER
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

/// On the heap, without a byte to spare, as libFuzzer gives it.
void run(std::span<const std::byte> bytes) {
    std::vector<std::uint8_t> copy(bytes.size());
    std::transform(bytes.begin(), bytes.end(), copy.begin(),
                   [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    copy.shrink_to_fit();
    (void)LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

void run_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
        std::exit(2);
    }
    std::fprintf(stderr, "%s\n", path.c_str());
    run(std::as_bytes(std::span(text)));
}

std::size_t run_path(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) {
        run_file(path);
        return 1;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::size_t count = 0;
    for (const auto& file : files) {
        count += run_path(file);
    }
    return count;
}

/// Cut, flipped, spliced of two, or with a small number somewhere.
[[nodiscard]] Bytes damage(const std::vector<Bytes>& seeds, SeededRandom& random) {
    Bytes bytes = random.pick(seeds);
    for (std::uint32_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
        const std::size_t place = random.below(static_cast<std::uint32_t>(bytes.size()));
        switch (random.below(4)) {
            case 0:
                bytes.resize(place);
                break;
            case 1: {
                const Bytes& other = random.pick(seeds);
                const std::size_t from = random.below(static_cast<std::uint32_t>(other.size() + 1));
                bytes.resize(place);
                bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(from),
                             other.end());
                break;
            }
            case 2:
                bytes[place] = static_cast<std::byte>(random.bits() & random.bits());
                break;
            default:
                flip_bit(bytes, place * 8 + random.below(8));
                break;
        }
    }
    return bytes;
}

void write_seeds(const std::vector<Bytes>& seeds, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        std::ofstream file(folder / ("seed_" + std::to_string(i)), std::ios::binary);
        file.write(reinterpret_cast<const char*>(seeds[i].data()),
                   static_cast<std::streamsize>(seeds[i].size()));
    }
}

int replay(int argument_count, char** arguments) {
    const std::vector<Bytes> seeds = fuzz_seeds();
    std::uint32_t damage_count = 0;
    std::size_t file_count = 0;
    for (int i = 1; i < argument_count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--write-seeds" && i + 1 < argument_count) {
            write_seeds(seeds, arguments[i + 1]);
            return 0;
        }
        if (argument == "--damage" && i + 1 < argument_count) {
            damage_count = static_cast<std::uint32_t>(std::strtoul(arguments[++i], nullptr, 10));
            continue;
        }
        file_count += run_path(argument);
    }
    for (const Bytes& seed : seeds) {
        run(seed);
    }
    SeededRandom random(1);
    for (std::uint32_t i = 0; i < damage_count; ++i) {
        run(damage(seeds, random));
    }
    std::printf("%zu seeds, %u damaged, %zu files\n", seeds.size(), damage_count, file_count);
    return 0;
}

}  // namespace
}  // namespace replayout::test

int main(int argument_count, char** arguments) {
    return replayout::test::replay(argument_count, arguments);
}
