// SPDX-License-Identifier: MIT
//
// The functions of a class that can be called remotely, listed for its layout, with the layouts of
// their parameters and the fingerprint that includes them.
#pragma once

#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace replayout {

class RepFunctionBuilder {
  public:
    /// `layout` has all but functions. It must outlive the builder.
    RepFunctionBuilder(const RepLayout& layout, const RepLayoutOptions& options,
                       MemoryResource* resource)
        : layout_(layout), options_(options), resource_(resource), functions_(resource) {}

    /// Lists the functions; a struct has none.
    [[nodiscard]] Status build() {
        const Type& type = layout_.type();
        return type.kind() == TypeKind::Class ? add_functions_of(type, 0) : Status();
    }
    /// After build(): the fingerprint of the layout with its functions.
    [[nodiscard]] Digest128 fingerprint() const {
        if (functions_.empty()) {
            return layout_.fingerprint();
        }
        Fingerprint fingerprint;
        fingerprint.add("replayout functions 1");
        fingerprint.add(layout_.fingerprint());
        for (const RepFunction& function : functions_) {
            fingerprint.add(function.function->name);
            fingerprint.add(static_cast<std::uint64_t>(function.function->flags) &
                            static_cast<std::uint64_t>(flags_on_wire));
            fingerprint.add(function.parameters != nullptr ? function.parameters->fingerprint()
                                                           : Digest128{});
        }
        return fingerprint.digest();
    }
    /// After build(): the functions.
    [[nodiscard]] std::pmr::vector<RepFunction> take() noexcept { return std::move(functions_); }

  private:
    // As many as commands, so that an index fits 16 bits.
    static constexpr std::size_t function_count_max = 65'534;

    static constexpr FunctionFlags flags_on_wire = FunctionFlags::Server | FunctionFlags::Client |
                                                   FunctionFlags::Multicast |
                                                   FunctionFlags::Remote | FunctionFlags::Reliable;

    [[nodiscard]] static bool is_remote(const Function& function) noexcept {
        return has_flag(function.flags, FunctionFlags::Server | FunctionFlags::Client |
                                            FunctionFlags::Multicast | FunctionFlags::Remote);
    }

    /// Those of the base first. `object_offset`: of `type` within the object.
    [[nodiscard]] Status add_functions_of(const Type& type, std::uint32_t object_offset) {
        Status added;
        if (type.base() != nullptr) {
            added = add_functions_of(*type.base(), object_offset + type.base_offset());
        }
        for (const Function& function : type.functions()) {
            if (added && is_remote(function)) {
                added = add(function, object_offset);
            }
        }
        return added;
    }
    [[nodiscard]] Status add(const Function& function, std::uint32_t object_offset) {
        if (functions_.size() >= function_count_max) {
            return Error{ErrorCode::TooManyFunctions, "layout of \"" + std::string(layout_.name()) +
                                                          "\": function \"" + function.name +
                                                          "\" is one too many"};
        }
        RepFunction added{&function, object_offset, nullptr};
        if (function.parameters != nullptr) {
            Result<std::unique_ptr<RepLayout>> parameters =
                RepLayout::create(layout_.registry(), *function.parameters,
                                  {options_.limits, nullptr, options_.is_unquantised}, resource_);
            if (!parameters) {
                return Error{parameters.error().code, "function \"" + function.name + "\" of \"" +
                                                          std::string(layout_.name()) +
                                                          "\": " + parameters.error().message};
            }
            added.parameters = std::move(*parameters);
        }
        functions_.push_back(std::move(added));
        return {};
    }

    const RepLayout& layout_;
    const RepLayoutOptions& options_;
    MemoryResource* resource_;
    std::pmr::vector<RepFunction> functions_;
};

}  // namespace replayout
