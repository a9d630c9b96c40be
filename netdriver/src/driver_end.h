// SPDX-License-Identifier: MIT
//
// What a public function checks before it does anything, and the sentence of its refusal: one place
// for all functions of the driver and its facets.
//
//     REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
//                      end().refusal("tear_off", id).c_str());
#pragma once

#include <replayout/netdriver/call_params.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/remote_function.h>

#include "replication_client.h"
#include "replication_server.h"

#include <array>
#include <optional>
#include <string_view>

namespace replayout {

/// A sentence that takes no memory from the heap. It is cut where it is full.
class RefusalText {
  public:
    [[gnu::format(printf, 2, 3)]] void append(const char* format, ...) noexcept;
    /// In quotes; what does not print becomes a question mark.
    void append_name(std::string_view name) noexcept;
    [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

  private:
    std::array<char, 448> text_{};
    std::size_t size_ = 0;
};

/// A driver as one of its public functions finds it.
struct DriverEnd {
    const ReplicationServer* server = nullptr;  ///< null: it does not serve
    const ReplicationClient* client = nullptr;  ///< null: it is no client
    bool is_calling_out = false;                ///< within the world, a notify or a hook

    // Functions of a server. One that is const may run while the driver calls out.

    [[nodiscard]] bool may_read() const noexcept { return server != nullptr; }
    [[nodiscard]] bool may_change() const noexcept { return may_read() && !is_calling_out; }
    [[nodiscard]] bool may_read(NetObjectId id) const noexcept {
        return may_read() && server->objects().contains(id);
    }
    [[nodiscard]] bool may_change(NetObjectId id) const noexcept {
        return may_change() && server->objects().contains(id);
    }
    /// The object is no part of another.
    [[nodiscard]] bool may_change_whole(NetObjectId id) const noexcept {
        return may_change(id) && !server->objects().is_part(id.index);
    }

    // Why one of these was false, for the function of that name.

    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal(
        const char* function) const noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal(const char* function,
                                                                   NetObjectId id) const noexcept;
    /// Refuses a call to any driver from within the world, a notify or a hook that it calls.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] static RefusalText refusal_within(
        const char* function) noexcept;
    /// A client's function was called on a driver that is no client.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal_of_client(
        const char* function) const noexcept;
    /// A layout that was not added to the driver.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] static RefusalText unknown_layout(
        const char* function, const RepLayout& layout) noexcept;
};

// Inline, because the good path of each function is a few compares.
inline DriverEnd NetDriver::end() const noexcept {
    return {server_.get(), client_.get(), is_calling_out_};
}

/// Appends `object 7.1, a "Pawn"`: index and generation. Requires that the object exists.
void append_object(RefusalText& text, const ReplicationServer& server, NetObjectId id) noexcept;

/// The function that a call means, of that layout.
[[nodiscard]] std::optional<FunctionIndex> find_called(const RepLayout& layout,
                                                       const CalledFunction& function) noexcept;
/// There is such a function, and it takes these parameters.
[[nodiscard]] bool is_callable(const RepLayout& layout, FunctionIndex function,
                               const CallParams& params) noexcept;
/// Why it is not.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText uncallable(
    const RepLayout& layout, FunctionIndex function, const CallParams& params) noexcept;
/// For the log.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText unknown_function(
    const RepLayout& layout, std::string_view function) noexcept;

/// Appends the names that a class has, when `meant` is none of them: first the one that is likely
/// meant.
[[gnu::cold, gnu::noinline]] void append_properties(RefusalText& text, const RepLayout& layout,
                                                    std::string_view meant) noexcept;
[[gnu::cold, gnu::noinline]] void append_functions(RefusalText& text, const RepLayout& layout,
                                                   std::string_view meant) noexcept;

}  // namespace replayout
