// SPDX-License-Identifier: MIT
#include "call_refusals.h"

namespace replayout {

std::optional<FunctionIndex> find_called(const RepLayout& layout,
                                         const CalledFunction& function) noexcept {
    return function.key.is_null() ? layout.find_function(function.name)
                                  : layout.find_function(function.key);
}

bool is_callable(const RepLayout& layout, FunctionIndex function,
                 const CallArguments& params) noexcept {
    if (function.value >= layout.functions().size()) {
        return false;
    }
    return params.are_of(layout.functions()[function.value].function->parameters);
}

RefusalText uncallable(const RepLayout& layout, FunctionIndex function,
                       const CallArguments& params) noexcept {
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
    text.append(": use call<&Class::function>(), or CallArguments with the type");
    return text;
}

RefusalText unknown_function(const RepLayout& layout, std::string_view function) noexcept {
    RefusalText text;
    text.append("call_function: ");
    text.append_name(layout.name());
    text.append(" has no function ");
    text.append_name(without_component(function));
    append_functions(text, layout, function);
    return text;
}

}  // namespace replayout
