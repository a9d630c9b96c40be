// SPDX-License-Identifier: MIT
//
// Writes what happens as lines of JSON that check_history.py reads. Without a file it does nothing.
#pragma once

#include <cstdarg>
#include "support/checks/marked_bytes.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace replayout::test {

class HistoryTrace {
  public:
    explicit HistoryTrace(std::FILE* file = nullptr) : file_(file) {}

    /// Of a secret: rising, and no other's.
    [[nodiscard]] static std::uint64_t version_of(const MarkedValue& secret) noexcept {
        return (std::uint64_t{1} << 40) + secret.tick * std::uint64_t{16} + secret.object;
    }

    void begin_tick(std::uint32_t tick) noexcept { tick_ = tick; }

    void made(std::uint32_t object) { line("\"e\": \"made\", \"o\": %u", object); }
    void gone(std::uint32_t object) { line("\"e\": \"gone\", \"o\": %u", object); }
    void write(std::uint32_t object, const char* property, std::uint64_t version) {
        line("\"e\": \"write\", \"o\": %u, \"p\": \"%s\", \"v\": %llu", object, property,
             static_cast<unsigned long long>(version));
    }
    void owner(std::uint32_t object, std::uint32_t client) {
        line("\"e\": \"owner\", \"o\": %u, \"c\": %u", object, client);
    }
    void secret(const char* property) { line("\"e\": \"secret\", \"p\": \"%s\"", property); }
    void join(std::uint32_t client) { line("\"e\": \"join\", \"c\": %u", client); }
    void leave(std::uint32_t client) { line("\"e\": \"leave\", \"c\": %u", client); }
    void show(std::uint32_t client, std::uint32_t object) {
        line("\"e\": \"show\", \"c\": %u, \"o\": %u", client, object);
    }
    void hide(std::uint32_t client, std::uint32_t object) {
        line("\"e\": \"hide\", \"c\": %u, \"o\": %u", client, object);
    }
    void see(std::uint32_t client, std::uint32_t object, const char* property,
             std::uint64_t version) {
        line("\"e\": \"see\", \"c\": %u, \"o\": %u, \"p\": \"%s\", \"v\": %llu", client, object,
             property, static_cast<unsigned long long>(version));
    }
    void call(std::uint32_t object, std::uint32_t number) {
        line("\"e\": \"call\", \"o\": %u, \"n\": %u", object, number);
    }
    void ran(std::uint32_t client, std::uint32_t object, std::uint32_t number) {
        line("\"e\": \"ran\", \"c\": %u, \"o\": %u, \"n\": %u", client, object, number);
    }
    void relevant(std::uint32_t client, std::uint32_t object) {
        line("\"e\": \"relevant\", \"c\": %u, \"o\": %u", client, object);
    }
    void healed() { line("\"e\": \"healed\""); }

  private:
    [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) {
        if (file_ == nullptr) {
            return;
        }
        std::fprintf(file_, "{\"t\": %u, ", tick_);
        va_list arguments;
        va_start(arguments, format);
        std::vfprintf(file_, format, arguments);
        va_end(arguments);
        std::fputs("}\n", file_);
    }

    std::FILE* file_;
    std::uint32_t tick_ = 0;
};

}  // namespace replayout::test
