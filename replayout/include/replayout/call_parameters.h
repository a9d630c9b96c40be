// SPDX-License-Identifier: MIT
//
// The parameters of a remote call: a struct type like any other, so a layout like any other.
// Only what differs from the defaults travels, and it is encoded once for all receivers.
//
//     CallParameters parameters(*show_damage_layout, resource);    // once, and used for each call
//     status = parameters.set(&show_damage, package_map, counters);
//     for each connection that is called:
//         status = parameters.write(writer, context);
//
//     ShowDamage params;                                          // at the receiver
//     if (receive_call_parameters(*show_damage_layout, reader, &params, state, unmapped, context))
//     {
//         if (unmapped.empty()) { ... call ... } else { ... or wait for these objects ... }
//     }
//
// A call is all or nothing: where a property would be left out, a call is refused.
#pragma once

#include <replayout/receive_properties.h>
#include <replayout/send_properties.h>

#include <cstdint>
#include <memory_resource>
#include <optional>

namespace replayout {

enum class CallParametersStatus : std::uint8_t {
    Ok,
    ValueOverLimit,   ///< text, array, map or set beyond its limit, or text that is not UTF-8
    SerializeFailed,  ///< a net_serialize said that it failed (ok = false)
    DoesNotFit,       ///< the writer has less room than the parameters take
};

struct WrittenParameters {
    CallParametersStatus status = CallParametersStatus::Ok;
    /// See SentBlock. BlockFindings::unmapped is what a serializer found missing at the receiver.
    const BlockFindings* findings = nullptr;

    friend bool operator==(const WrittenParameters& left, CallParametersStatus right) noexcept {
        return left.status == right;
    }
};

/// The sending side of one function. One thread at a time.
class CallParameters {
  public:
    /// `layout` is of the function's parameter type. Layout and resource must outlive this.
    CallParameters(const RepLayout& layout, MemoryResource* resource);
    CallParameters(const CallParameters&) = delete;
    CallParameters& operator=(const CallParameters&) = delete;

    /// Takes the parameters of the next call from `params`, an object of the layout's type, and
    /// forgets those of the call before. Ok or ValueOverLimit; then there is nothing to write.
    [[nodiscard]] CallParametersStatus set(const void* params, PackageMap& package_map,
                                           ReplicationCounters& counters);

    /// Writes them for one receiver, from a byte boundary to a byte boundary. Ok, SerializeFailed
    /// or DoesNotFit; then the writer stands where it stood.
    [[nodiscard]] WrittenParameters write(BitWriter& writer, SendContext& context);

    [[nodiscard]] const RepLayout& layout() const noexcept { return layout_; }

  private:
    [[nodiscard]] bool write_payload(BitWriter& writer, SendContext& context);
    [[nodiscard]] SentBlock encode(BitWriter& writer, SendContext& context);

    const RepLayout& layout_;
    // One call is much like the one before: its values fit where that one's were.
    std::pmr::unsynchronized_pool_resource memory_;
    // Anew for each call, so that the bytes do not depend on the calls before.
    std::optional<ChangelistState> state_;
};

/// Reads the parameters of a call up to a byte boundary. `params`, of the layout's type, holds the
/// defaults (the layout's archetype), and is filled in; `state` holds no references, and of what it
/// knows of an earlier call nothing is left. Ids of objects that are
/// not here are appended to `unmapped`, ascending, each once: a caller that waits for them keeps
/// `params` and `state`, and calls rebind_references. False: malformed, the reader has failed, and
/// nothing was touched. Checks and limits are those of receive_properties().
[[nodiscard]] bool receive_call_parameters(const RepLayout& layout, BitReader& reader, void* params,
                                           ReceivingRepState& state, Vector<NetGUID>& unmapped,
                                           ReceiveContext& context);

// The names of before, for one version.
using RpcParameters = CallParameters;
using RpcParametersStatus = CallParametersStatus;

}  // namespace replayout
