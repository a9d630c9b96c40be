// SPDX-License-Identifier: MIT
//
// Describes the class of a prefab's objects, from which its layout is made: for each component the
// properties of its SyncVars, collections and section, and the functions that bring what properties
// cannot. Notes in the components where these are.
//
//     Description description(prefab, components, members, registry);
//     Result<const Type*> type = description.build();
//     ... the layout is made from the type ...
//     Description::find_functions(layout, components);
#pragma once

#include <replayout/behaviours/network_prefab.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace replayout {

class NetworkPrefab::Description {
  public:
    /// `components` are those of the prefab. `members` takes their places.
    Description(const NetworkPrefab& prefab, std::vector<Component>& components, Members& members,
                TypeRegistry& registry);
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;

    /// Call it once. An error names the prefab and the member.
    [[nodiscard]] Result<const Type*> build();
    /// Once built: something is for the owner alone, and is sent by calls.
    [[nodiscard]] bool has_calls_for_owner() const noexcept { return has_calls_for_owner_; }
    /// Notes in the components which functions of the layout are theirs.
    static void find_functions(const RepLayout& layout, std::vector<Component>& components);

  private:
    [[nodiscard]] Status add_variables(std::uint32_t component);
    [[nodiscard]] Result<Property> property_of(const SyncVarInfo& variable, Place& place) const;
    [[nodiscard]] Status add_collections(std::uint32_t component);
    void add_owner_calls(const Place& place, const SyncCollectionInfo& info);
    [[nodiscard]] Status add_section(std::uint32_t component);
    /// The functions that its class has.
    [[nodiscard]] Status add_functions(std::uint32_t component);
    /// The calls that bring SyncVars between an owner and its server.
    [[nodiscard]] Status add_owner_sections(std::uint32_t component);
    void add_function(const Place& place, std::string_view name, FunctionFlags flags,
                      const Type* parameters, decltype(FunctionThunk::call) call);
    /// The place in the layout of the property that is added next, which takes `count`.
    [[nodiscard]] ParentIndex next_parent(std::uint32_t count) noexcept;

    const NetworkPrefab& prefab_;
    std::vector<Component>& components_;
    Members& members_;
    DynamicTypeBuilder builder_;
    std::uint32_t parent_count_ = 0;
    bool has_calls_for_owner_ = false;
};

}  // namespace replayout
