// SPDX-License-Identifier: MIT
//
// A class of behaviours: what of it is synchronized, and who is told. Built once by a
// BehaviourBuilder (behaviour_builder.h), owned by NetworkTypes, immutable then.
#pragma once

#include <replayout/behaviours/sync_settings.h>
#include <replayout/behaviours/sync_var.h>
#include <replayout/reflection/function.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_key.h>
#include <replayout/reflection/type_ops.h>

#include <cstdint>
#include <string>
#include <vector>

namespace replayout {

class SyncCollection;

/// SyncVars of one behaviour, those of its bases included; as many synchronized collections.
inline constexpr std::uint32_t sync_vars_max = 64;

/// What runs when a SyncVar changed. `owner` is the object of the class that declares it; values
/// are of its own type.
struct SyncVarHook {
    /// Null: there is none.
    void (*call)(void* owner, const void* previous, const void* current) = nullptr;
    /// UNet's way on a client: `value`, just received, is `*previous` again while the hook is given
    /// what was received.
    void (*replace)(void* owner, void* value, const void* previous) = nullptr;
};

/// A SyncVar as it lies in a behaviour of a class, its own or a derived one.
struct SyncVarInfo {
    Property property;               ///< its offset is from the start of that class
    std::uint32_t owner_offset = 0;  ///< of the class that declares it, for its hook
    SyncMode sync_mode = SyncMode::Observers;
    SyncVarHook hook;
    void (*bind)(void* variable, const detail::SyncVarLink& link) noexcept = nullptr;
};

/// A SyncList, SyncDictionary or SyncSet as it lies in a behaviour of a class.
struct SyncCollectionInfo {
    Property property;         ///< what is sent whole; its offset is from the start of that class
    std::uint32_t offset = 0;  ///< of the collection, likewise
    const Type* changes = nullptr;  ///< parameters of the function that brings operations
    SyncCollection& (*at)(void* memory) noexcept = nullptr;
    bool has_invalid_items = false;  ///< what is sent whole is to be looked at
    const Property* item = nullptr;  ///< what one item is
    bool has_limits = false;         ///< an item may be beyond a limit of the prefab
};

namespace detail {

template <auto Member>
struct RemoteMember {};

/// One value for each C++ function, whatever its name is to the other end.
template <auto Member>
[[nodiscard]] TypeKey remote_function_key() noexcept {
    return type_key_of<RemoteMember<Member>>();
}

}  // namespace detail

/// A function of a behaviour that is called remotely. `object` of the thunk is the object of the
/// class that the BehaviourType is of.
struct BehaviourFunction {
    Function function;
    TypeKey key;                     ///< of the C++ function: remote_function_key()
    std::uint32_t owner_offset = 0;  ///< of the class that declares it
};

struct BehaviourType {
    /// A class that an object may be seen as, and where it lies in it.
    struct Class {
        TypeKey key;
        std::uint32_t offset = 0;
    };

    std::string name;
    std::vector<Class> classes;  ///< itself first, then its bases
    TypeOps ops;
    /// From the start of an object to its NetworkBehaviour.
    std::uint32_t behaviour_offset = 0;
    /// Those of bases first; the index is the bit in the dirty mask.
    std::vector<SyncVarInfo> sync_vars;
    /// Bit i: values of the SyncVar i may hold references.
    std::uint64_t reference_variables = 0;
    /// Bit i: a limit of the prefab may refuse values of the SyncVar i.
    std::uint64_t limited_variables = 0;
    /// Those of bases first; they have a dirty mask of their own.
    std::vector<SyncCollectionInfo> collections;
    std::vector<BehaviourFunction> functions;  ///< those of bases first
    bool has_custom_serialization = false;     ///< it, or a base
};

}  // namespace replayout
