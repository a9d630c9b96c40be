// SPDX-License-Identifier: MIT
//
// The functions by which ./run instructions tells a server's instructions from all others.
// Callgrind finds them by their names, which count.py knows too: it collects while one of the
// replayout_counted functions runs, but not within a replayout_uncounted one. None of them calls
// itself, or another one of its kind.
//
//     main -> replayout_counted_flush -> NetDriver::tick_flush -> ... -> replayout_uncounted_send
//     no      yes                        yes                            no
#pragma once

#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <memory>
#include <span>

namespace replayout::bench {

class AnsweringClients;

extern "C" {

void replayout_counted_dispatch(NetDriver& driver, NetTime now);
void replayout_counted_flush(NetDriver& driver, NetTime now);
/// Calls that the game makes of the driver between the two.
void replayout_counted_call(void (*call)(void*), void* context);

void replayout_uncounted_send(AnsweringClients& clients, PeerId peer, const std::byte* datagram,
                              std::size_t size);
[[nodiscard]] std::size_t replayout_uncounted_receive(AnsweringClients& clients, PeerId& peer,
                                                      std::byte* buffer, std::size_t size);

/// What was collected since the last call is one phase of the run.
void replayout_phase_ends();

}  // extern "C"

/// Counts `call`, which takes nothing.
template <typename Call>
void count_call(Call call) {
    replayout_counted_call([](void* context) { (*static_cast<Call*>(context))(); },
                           std::addressof(call));
}

}  // namespace replayout::bench
