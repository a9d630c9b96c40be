// SPDX-License-Identifier: MIT
#include "refusal_text.h"

#include "object_store.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace replayout {

namespace {

// Names that are compared letter by letter; longer ones are compared by their front.
constexpr std::size_t compared_letters_max = 32;

/// Letters to change, add or leave out so that one name becomes the other (Wagner, Fischer 1974).
[[nodiscard]] std::size_t distance(std::string_view left, std::string_view right) noexcept {
    left = left.substr(0, compared_letters_max);
    right = right.substr(0, compared_letters_max);
    std::array<std::size_t, compared_letters_max + 1> distances{};
    for (std::size_t i = 0; i <= right.size(); ++i) {
        distances[i] = i;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = distances[0];
        distances[0] = i + 1;
        for (std::size_t j = 0; j < right.size(); ++j) {
            const std::size_t changed = diagonal + (left[i] == right[j] ? 0u : 1u);
            diagonal = distances[j + 1];
            distances[j + 1] = std::min({changed, distances[j] + 1, distances[j + 1] + 1});
        }
    }
    return distances[right.size()];
}

/// `name_at(i)` for i below `count` are the names; empty ones are skipped.
template <typename NameAt>
void append_names(RefusalText& text, std::size_t count, std::string_view meant,
                  NameAt name_at) noexcept {
    constexpr std::size_t near_max = 3;
    constexpr std::size_t shown_max = 8;
    std::string_view nearest;
    std::size_t least = near_max + 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name = name_at(i);
        const std::size_t apart = name.empty() ? least : distance(name, meant);
        if (apart < least && apart < name.size()) {
            least = apart;
            nearest = name;
        }
    }
    if (!nearest.empty()) {
        text.append("; did you mean ");
        text.append_name(nearest);
        text.append("?");
        return;
    }
    std::size_t shown = 0;
    for (std::size_t i = 0; i < count && shown <= shown_max; ++i) {
        const std::string_view name = name_at(i);
        if (name.empty() || (i > 0 && name == name_at(i - 1))) {
            continue;  // of a C array each element is a property
        }
        text.append("%s", shown == 0 ? "; it has " : ", ");
        if (shown++ < shown_max) {
            text.append_name(name);
        } else {
            text.append("and others");
        }
    }
    if (shown == 0) {
        text.append("; it has none");
    }
}

}  // namespace

void RefusalText::append(const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    const int length =
        std::vsnprintf(text_.data() + size_, text_.size() - size_, format, arguments);
    va_end(arguments);
    size_ = std::min(text_.size() - 1, size_ + static_cast<std::size_t>(std::max(length, 0)));
}

void RefusalText::append_name(std::string_view name) noexcept {
    constexpr std::size_t shown_max = 64;
    append("\"");
    for (const char letter : name.substr(0, shown_max)) {
        const auto code = static_cast<unsigned char>(letter);
        append("%c", code >= 0x20 && code != 0x7F ? letter : '?');
    }
    append("%s\"", name.size() > shown_max ? "..." : "");
}

void append_object(RefusalText& text, const ObjectStore& objects, NetObjectId id) noexcept {
    text.append("object %u.%u, a ", id.index, id.generation);
    text.append_name(objects.at(slot_of(id))->changelist_state().layout().name());
}

void append_properties(RefusalText& text, const RepLayout& layout,
                       std::string_view meant) noexcept {
    const std::span<const RepParentCmd> parents = layout.parents();
    append_names(text, parents.size(), meant, [&](std::size_t i) -> std::string_view {
        return parents[i].handle_count == 0 ? std::string_view() : parents[i].property->name;
    });
}

std::string_view without_component(std::string_view function) noexcept {
    const std::size_t digits = std::min(function.find_first_not_of("0123456789"), function.size());
    const bool has_component =
        digits > 0 && digits + 1 < function.size() && function[digits] == '.';
    return has_component ? function.substr(digits + 1) : function;
}

void append_functions(RefusalText& text, const RepLayout& layout, std::string_view meant) noexcept {
    const std::span<const RepFunction> functions = layout.functions();
    append_names(text, functions.size(), without_component(meant),
                 [&](std::size_t i) -> std::string_view {
                     return without_component(functions[i].function->name);
                 });
}

RefusalText without_memory(const char* function, const ObjectStore& objects,
                           ObjectIndex index) noexcept {
    const ServerObject& info = *objects.at(index);
    RefusalText text;
    text.append("%s: object_memory() of the world is null for ", function);
    if (!info.is_torn_off()) {
        append_object(text, objects, objects.id_at(index));
        text.append(", handle %llu: call remove_object() before its memory goes",
                    static_cast<unsigned long long>(info.object().value));
        return text;
    }
    text.append("an object that is torn off, a ");
    text.append_name(info.changelist_state().layout().name());
    text.append(", handle %llu: keep its memory until the next tick_flush() is over",
                static_cast<unsigned long long>(info.object().value));
    return text;
}

RefusalText unknown_layout(const char* function, const RepLayout& layout) noexcept {
    RefusalText text;
    text.append("%s: the layout of ", function);
    text.append_name(layout.name());
    text.append(" was not added: call add_layout() on both ends, before listen() and connect()");
    return text;
}

}  // namespace replayout
