// SPDX-License-Identifier: MIT
#include "instructions/counted_tick.h"

#include "instructions/answering_clients.h"

namespace replayout::bench {

namespace {

/// Keeps a function that Callgrind finds by its name: after a call, the call does not become a
/// jump; in an empty function, its callers still call it.
void keep_function() noexcept {
    asm volatile("" ::: "memory");
}

}  // namespace

extern "C" {

[[gnu::noinline]] void replayout_counted_dispatch(NetDriver& driver, NetTime now) {
    driver.tick_dispatch(now);
    keep_function();
}

[[gnu::noinline]] void replayout_counted_flush(NetDriver& driver, NetTime now) {
    driver.tick_flush(now);
    keep_function();
}

[[gnu::noinline]] void replayout_counted_call(void (*call)(void*), void* context) {
    call(context);
    keep_function();
}

[[gnu::noinline]] void replayout_uncounted_send(AnsweringClients& clients, PeerId peer,
                                                const std::byte* datagram, std::size_t size) {
    clients.take(peer, std::span(datagram, size));
    keep_function();
}

[[gnu::noinline]] std::size_t replayout_uncounted_receive(AnsweringClients& clients, PeerId& peer,
                                                          std::byte* buffer, std::size_t size) {
    const std::size_t received = clients.hand_out(peer, std::span(buffer, size));
    keep_function();
    return received;
}

[[gnu::noinline]] void replayout_phase_ends() {
    keep_function();
}

}  // extern "C"

}  // namespace replayout::bench
