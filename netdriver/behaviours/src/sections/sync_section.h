// SPDX-License-Identifier: MIT
//
// A component of SyncDirection::ClientToServer on its way between the client that owns it and the
// server. It travels as the parameters of a remote function, and these are an object of its own
// class: variables that are not sent are as they are constructed, and cost nothing.
//
//     owner                                server                               other observers
//       sync_to_server(mask, epoch)  ---->   takes it, and marks these variables  ---->
//       sync_to_owner(all, epoch)    <----   when it gives authority
//
// The epoch counts owners of the object. An owner tells nothing before it was told all by the
// server, and what it tells as an earlier owner is not taken: so both ends agree in the end. Where
// the server's word overtakes that this client is the owner now, the client asks for it again.
#pragma once

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/type_registry.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace replayout {

namespace detail {
class ObjectComponent;
}  // namespace detail

class SectionSender {
  public:
    static constexpr std::string_view to_server = "sync_to_server";
    static constexpr std::string_view to_owner = "sync_to_owner";

    explicit SectionSender(MemoryResource* resource) : resource_(resource) {}
    ~SectionSender();
    SectionSender(const SectionSender&) = delete;
    SectionSender& operator=(const SectionSender&) = delete;

    /// The struct that sections of such behaviours are; made with the first call.
    [[nodiscard]] static Result<const Type*> section_type(TypeRegistry& registry,
                                                          const BehaviourType& type);
    /// Parameters for one call: these variables of the component. Valid until the next.
    [[nodiscard]] const void* make(const detail::ObjectComponent& component, std::uint64_t mask,
                                   std::uint32_t epoch);

  private:
    MemoryResource* resource_;
    std::map<const BehaviourType*, std::byte*> sections_;  // constructed, one for each class
};

}  // namespace replayout
