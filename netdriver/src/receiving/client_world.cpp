// SPDX-License-Identifier: MIT
#include "client_world.h"

#include <replayout/reflection/diagnostics.h>

#include <string>

namespace replayout {

void* ClientWorld::memory_of(const ActorChannel& channel) {
    void* const memory = memory_of(channel.object);
    REPLAYOUT_EXPECT(memory != nullptr, nullptr,
                     "object_memory() of the world is null for a \"%s\" that the server shows "
                     "(network id %llu, handle %llu): keep its memory until despawn()",
                     std::string(channel.layout->name()).c_str(),
                     static_cast<unsigned long long>(channel.guid.value),
                     static_cast<unsigned long long>(channel.object.value));
    return memory;
}

}  // namespace replayout
