// SPDX-License-Identifier: MIT
// The functions of a layout.
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include <string>
#include <utility>

namespace replayout {

namespace {

// As many as commands, so that an index fits 16 bits.
constexpr std::size_t function_count_max = 65'534;

constexpr FunctionFlags flags_on_wire = FunctionFlags::Server | FunctionFlags::Client |
                                        FunctionFlags::Multicast | FunctionFlags::Remote |
                                        FunctionFlags::Reliable;

[[nodiscard]] bool is_remote(const Function& function) noexcept {
    return has_flag(function.flags, FunctionFlags::Server | FunctionFlags::Client |
                                        FunctionFlags::Multicast | FunctionFlags::Remote);
}

}  // namespace

Status RepLayout::add_functions_of(const Type& type, std::uint32_t object_offset,
                                   const RepLayoutOptions& options, MemoryResource* resource) {
    if (type.base() != nullptr) {
        Status status =
            add_functions_of(*type.base(), object_offset + type.base_offset(), options, resource);
        if (!status) {
            return status;
        }
    }
    for (const Function& function : type.functions()) {
        if (!is_remote(function)) {
            continue;
        }
        if (functions_.size() >= function_count_max) {
            return Error{ErrorCode::TooManyFunctions, "layout of \"" + name_ + "\": function \"" +
                                                          function.name + "\" is one too many"};
        }
        RepFunction added{&function, object_offset, nullptr};
        if (function.parameters != nullptr) {
            Result<std::unique_ptr<RepLayout>> parameters =
                create(registry(), *function.parameters,
                       {options.limits, nullptr, options.is_unquantised}, resource);
            if (!parameters) {
                return Error{parameters.error().code, "function \"" + function.name + "\" of \"" +
                                                          name_ +
                                                          "\": " + parameters.error().message};
            }
            added.parameters = std::move(*parameters);
        }
        functions_.push_back(std::move(added));
    }
    return {};
}

Status RepLayout::add_functions(const RepLayoutOptions& options, MemoryResource* resource) {
    if (type_->kind() != TypeKind::Class) {
        return {};
    }
    Status status = add_functions_of(*type_, 0, options, resource);
    if (!status || functions_.empty()) {
        return status;
    }
    Fingerprint fingerprint;
    fingerprint.add("replayout functions 1");
    fingerprint.add(fingerprint_);
    for (const RepFunction& function : functions_) {
        fingerprint.add(function.function->name);
        fingerprint.add(static_cast<std::uint64_t>(function.function->flags) &
                        static_cast<std::uint64_t>(flags_on_wire));
        fingerprint.add(function.parameters != nullptr ? function.parameters->fingerprint()
                                                       : Digest128{});
    }
    fingerprint_ = fingerprint.digest();
    return {};
}

std::optional<FunctionIndex> RepLayout::find_function(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        if (functions_[i].function->name == name) {
            return FunctionIndex{static_cast<std::uint16_t>(i)};
        }
    }
    return std::nullopt;
}

std::optional<FunctionIndex> RepLayout::find_function(TypeKey function) const noexcept {
    for (std::size_t i = 0; i < functions_.size() && !function.is_null(); ++i) {
        if (functions_[i].function->key == function) {
            return FunctionIndex{static_cast<std::uint16_t>(i)};
        }
    }
    return std::nullopt;
}

}  // namespace replayout
