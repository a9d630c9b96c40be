// SPDX-License-Identifier: MIT
//
// Runs a call that arrived: its parameters are decoded whole, and then it is called. Nothing of a
// malformed call runs.
#pragma once

#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/peer_log.h>
#include <replayout/receive_properties.h>
#include <replayout/rep_layout.h>

#include <memory_resource>
#include <optional>
#include <span>

namespace replayout {

class CallRunner {
  public:
    enum class Outcome : std::uint8_t {
        Ran,
        Malformed,
        Refused,  ///< by the function's validation
        Missing,  ///< the world has no memory of the object: nothing of the call was read
    };

    CallRunner(const NetConfig& config, NetGUIDCache& guids, NetStats& stats, MemoryMeters& memory,
               bool& is_calling_out, PeerLog& peer_log, const NetTime& now);

    /// The budget that decoding one call gets, by its size.
    [[nodiscard]] DecodeBudget budget_for(std::size_t payload_bytes) const noexcept;

    /// `object` is the whole object, and may be gone when this returns; so may anything else that
    /// the game can remove. `reader` stands behind the function's index, and must end with the
    /// parameters. One call runs at a time; it may make others.
    [[nodiscard]] Outcome run(const RepFunction& function, void* object, BitReader& reader,
                              bool is_validated, const CurrentCall& call);

    /// Calls a function here, with parameters that never were bytes. From within a call, too.
    void run_here(const RepFunction& function, void* object, const void* params,
                  const CurrentCall& call);

    /// The innermost call that runs; null where none does.
    [[nodiscard]] const CurrentCall* current_call() const noexcept { return current_call_; }

  private:
    [[nodiscard]] Outcome decode_and_call(const RepFunction& function, std::byte* object,
                                          void* params, BitReader& reader, bool is_validated);

    const NetConfig& config_;
    NetGUIDCache& guids_;
    NetStats& stats_;
    bool& is_calling_out_;  // the driver's: off while a function runs, which may call it
    // One call is much like the one before: its parameters fit where that one's were.
    std::pmr::unsynchronized_pool_resource memory_;
    ReceiveScratch scratch_;
    Vector<NetGUID> unmapped_;
    PeerLog& peer_log_;
    const NetTime& now_;
    const CurrentCall* current_call_ = nullptr;
};

/// The head of a call, in front of its parameters: which function it is of. False: malformed.
/// `function` is empty where the layout has none of that number.
[[nodiscard]] bool read_call_head(BitReader& reader, std::span<const RepFunction> functions,
                                  std::optional<FunctionIndex>& function) noexcept;

}  // namespace replayout
