// SPDX-License-Identifier: MIT
//
// Calls for a host's player of objects that are not shown to it yet. They run after
// on_start_client(), as calls of other clients do, with the next late_update(). Parameters are
// copied. Where parameters name an object that was unspawned meanwhile, the call finds null.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/type.h>

#include <cstdint>
#include <deque>
#include <utility>

namespace replayout {

class NetworkIdentity;

/// One kept call.
class HostCall {
  public:
    /// `parameters` is null where the function has none; its values can be copied.
    HostCall(NetworkIdentity& object, std::uint64_t net_id, void* place, const Type* parameters,
             const void* values, MemoryResource* resource)
        : object_(&object),
          net_id_(net_id),
          place_(place),
          parameters_(parameters),
          resource_(resource) {
        if (parameters != nullptr) {
            values_ = resource->allocate(parameters->size(), parameters->alignment());
            parameters->ops().copy_construct(values_, values);
        }
    }
    ~HostCall() {
        if (values_ != nullptr) {
            parameters_->ops().destroy(values_);
            resource_->deallocate(values_, parameters_->size(), parameters_->alignment());
        }
    }
    HostCall(HostCall&& other) noexcept
        : object_(other.object_),
          net_id_(other.net_id_),
          place_(other.place_),
          parameters_(other.parameters_),
          resource_(other.resource_),
          values_(std::exchange(other.values_, nullptr)) {}
    HostCall& operator=(HostCall&& other) noexcept {
        std::swap(object_, other.object_);
        std::swap(net_id_, other.net_id_);
        std::swap(place_, other.place_);
        std::swap(parameters_, other.parameters_);
        std::swap(resource_, other.resource_);
        std::swap(values_, other.values_);
        return *this;
    }

    [[nodiscard]] NetworkIdentity& object() const noexcept { return *object_; }
    /// The object's net id when it was called.
    [[nodiscard]] std::uint64_t net_id() const noexcept { return net_id_; }
    [[nodiscard]] void* place() const noexcept { return place_; }
    /// Null: the function has no parameters.
    [[nodiscard]] const Type* parameters() const noexcept { return parameters_; }
    [[nodiscard]] void* values() noexcept { return values_; }

  private:
    NetworkIdentity* object_;
    std::uint64_t net_id_;
    void* place_;
    const Type* parameters_;
    MemoryResource* resource_;
    void* values_ = nullptr;
};

using HostCalls = std::deque<HostCall>;

}  // namespace replayout
