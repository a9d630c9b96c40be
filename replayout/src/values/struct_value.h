// SPDX-License-Identifier: MIT
//
// Copy and comparison of a NetSerializer struct, in the order of preference that Unreal has: the
// trait, then what the C++ type offers. The registry has made sure that there is one of each.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/type.h>
#include <replayout/rep_layout.h>

#include <string>
#include <string_view>

namespace replayout {

inline void copy_struct(const Type& type, void* target, const void* source) {
    if (type.traits().copy != nullptr) {
        type.traits().copy(target, source);
    } else {
        type.ops().copy_assign(target, source);
    }
}

[[nodiscard]] inline bool structs_identical(const Type& type, const void* left, const void* right) {
    if (type.traits().identical != nullptr) {
        return type.traits().identical(left, right);
    }
    return type.ops().equal(left, right);
}

/// Also what Identical tolerates differs. Of a type without operator== what Identical says.
[[nodiscard]] inline bool structs_equal(const Type& type, const void* left, const void* right) {
    return type.ops().equal != nullptr ? type.ops().equal(left, right)
                                       : structs_identical(type, left, right);
}

/// Whether what Identical tolerates is sent in the end.
[[nodiscard]] inline bool is_sent_within(const RepLayout& layout,
                                         const RepLayoutCmd& cmd) noexcept {
    return layout.parents()[cmd.parent_index.value].property->sent_within_us != 0;
}

/// Values of the command that no end tells apart.
[[nodiscard]] inline bool structs_same(const RepLayout& layout, const RepLayoutCmd& cmd,
                                       const void* left, const void* right) {
    const Type& type = *cmd.property->struct_type;
    return is_sent_within(layout, cmd) ? structs_equal(type, left, right)
                                       : structs_identical(type, left, right);
}

[[nodiscard]] inline bool struct_can_be_sent(const Type& type, const void* value) {
    return type.traits().can_be_sent == nullptr || type.traits().can_be_sent(value);
}

/// A value of a type known only at run time, default-constructed.
class ErasedValue {
  public:
    ErasedValue(const TypeOps& ops, MemoryResource* resource)
        : ops_(ops), resource_(resource), memory_(resource->allocate(ops.size, ops.alignment)) {
        ops.construct(memory_);
    }
    ~ErasedValue() {
        ops_.destroy(memory_);
        resource_->deallocate(memory_, ops_.size, ops_.alignment);
    }
    ErasedValue(const ErasedValue&) = delete;
    ErasedValue& operator=(const ErasedValue&) = delete;

    [[nodiscard]] void* get() const noexcept { return memory_; }

  private:
    const TypeOps& ops_;
    MemoryResource* resource_;
    void* memory_;
};

/// For the log: which function of a struct failed, where (see value_path.h), while doing what.
[[nodiscard]] inline std::string describe_struct_failure(const RepLayoutCmd& cmd,
                                                         std::string_view path,
                                                         std::string_view doing) {
    return std::string(is_delta(cmd.type) ? "net_delta_serialize" : "net_serialize") + " of \"" +
           std::string(cmd.property->struct_type->name()) + "\" in property \"" +
           std::string(path) + "\" failed while " + std::string(doing);
}

}  // namespace replayout
