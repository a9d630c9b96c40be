// SPDX-License-Identifier: MIT
#include "driver_end.h"

#include <algorithm>
#include <array>
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
    std::array<std::size_t, compared_letters_max + 1> row{};
    for (std::size_t i = 0; i <= right.size(); ++i) {
        row[i] = i;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < right.size(); ++j) {
            const std::size_t changed = diagonal + (left[i] == right[j] ? 0u : 1u);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[right.size()];
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

void append_object(RefusalText& text, const ReplicationServer& server, NetObjectId id) noexcept {
    text.append("object %u.%u, a ", id.index, id.generation);
    text.append_name(server.objects().at(id.index)->changelist_state().layout().name());
}

void append_properties(RefusalText& text, const RepLayout& layout,
                       std::string_view meant) noexcept {
    const std::span<const RepParentCmd> parents = layout.parents();
    append_names(text, parents.size(), meant, [&](std::size_t i) -> std::string_view {
        return parents[i].handle_count == 0 ? std::string_view() : parents[i].property->name;
    });
}

void append_functions(RefusalText& text, const RepLayout& layout, std::string_view meant) noexcept {
    const std::span<const RepFunction> functions = layout.functions();
    append_names(text, functions.size(), meant,
                 [&](std::size_t i) -> std::string_view { return functions[i].function->name; });
}

std::optional<FunctionIndex> find_called(const RepLayout& layout,
                                         const CalledFunction& function) noexcept {
    return function.key.is_null() ? layout.find_function(function.name)
                                  : layout.find_function(function.key);
}

bool is_callable(const RepLayout& layout, FunctionIndex function,
                 const CallParams& params) noexcept {
    if (function.value >= layout.functions().size()) {
        return false;
    }
    return params.are_of(layout.functions()[function.value].function->parameters);
}

RefusalText uncallable(const RepLayout& layout, FunctionIndex function,
                       const CallParams& params) noexcept {
    RefusalText text;
    if (function.value >= layout.functions().size()) {
        text.append("call_function: function %u of ", unsigned{function.value});
        text.append_name(layout.name());
        text.append(", which has %zu: use RepLayout::find_function() of this class",
                    layout.functions().size());
        return text;
    }
    const Function& called = *layout.functions()[function.value].function;
    text.append("call_function: ");
    text.append_name(called.name);
    text.append(" of ");
    text.append_name(layout.name());
    if (called.parameters == nullptr) {
        text.append(" takes no parameters: give null");
        return text;
    }
    text.append(" takes a ");
    text.append_name(called.parameters->name());
    const Type* given = params.type();
    if (given == nullptr && !params.key().is_null()) {
        given = layout.registry().find(params.key());
    }
    if (params.memory() == nullptr) {
        text.append(" and was given null");
    } else if (given != nullptr) {
        text.append(" and was given a ");
        text.append_name(given->name());
    } else {
        text.append(" and was given a struct that is not registered");
    }
    text.append(": use call<&Class::function>(), or CallParams with the type");
    return text;
}

RefusalText unknown_function(const RepLayout& layout, std::string_view function) noexcept {
    RefusalText text;
    text.append("call_function: ");
    text.append_name(layout.name());
    text.append(" has no function ");
    text.append_name(function);
    append_functions(text, layout, function);
    return text;
}

RefusalText DriverEnd::refusal(const char* function) const noexcept {
    RefusalText text;
    if (server == nullptr && client != nullptr) {
        text.append("%s: this driver is a client, and only a server may call it", function);
    } else if (server == nullptr) {
        text.append(
            "%s: this driver does not serve: call listen() before, and look at its Status; a "
            "client may not call it",
            function);
    } else {
        return refusal_within(function);
    }
    return text;
}

RefusalText DriverEnd::refusal_within(const char* function) noexcept {
    RefusalText text;
    text.append(
        "%s: called from within the world, a notify or a hook; do it after the tick or call has "
        "returned",
        function);
    return text;
}

RefusalText DriverEnd::refusal(const char* function, NetObjectId id) const noexcept {
    if (server == nullptr || (is_calling_out && server->objects().contains(id))) {
        return refusal(function);
    }
    const ObjectStore& objects = server->objects();
    RefusalText text;
    text.append("%s: ", function);
    if (id.generation == 0) {
        text.append("no object (generation 0): use the id that add_object() returned");
        return text;
    }
    if (objects.contains(id)) {
        append_object(text, *server, id);
        text.append(" is a part: say this of object %u.%u, which it is a part of",
                    objects.root_of(id.index), objects.id_at(objects.root_of(id.index)).generation);
        return text;
    }
    text.append("object %u.%u", id.index, id.generation);
    if (id.index >= objects.slot_count() || id.generation > objects.id_at(id.index).generation) {
        text.append(" was never added to this driver: an id is valid for the driver that gave it");
        return text;
    }
    const bool is_there = objects.at(id.index) != nullptr;
    const RepLayout* const last = server->layouts().find(objects.last_layout_at(id.index));
    if (!is_there && id == objects.id_at(id.index) && last != nullptr) {
        text.append(", a ");
        text.append_name(last->name());
        text.append(",");
    }
    text.append(" was removed or torn off: forget an id with its object");
    if (is_there && !objects.at(id.index)->is_departing()) {
        text.append("; in its place is ");
        append_object(text, *server, objects.id_at(id.index));
    }
    return text;
}

RefusalText DriverEnd::refusal_of_client(const char* function) const noexcept {
    RefusalText text;
    text.append("%s: this driver is %s", function,
                server != nullptr ? "a server, and only a client may call it"
                                  : "not connected: call connect() before, and look at its Status");
    return text;
}

RefusalText DriverEnd::unknown_layout(const char* function, const RepLayout& layout) noexcept {
    RefusalText text;
    text.append("%s: the layout of ", function);
    text.append_name(layout.name());
    text.append(" was not added: call add_layout() on both ends, before listen() and connect()");
    return text;
}

}  // namespace replayout
