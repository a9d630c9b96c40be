// SPDX-License-Identifier: MIT
#include "instructions/answering_clients.h"

#include "instructions/counted_tick.h"

#include <replayout/reflection/hash.h>

namespace replayout::bench {

AnsweringClients::AnsweringClients(std::uint32_t count, std::span<const std::byte> hello,
                                   std::uint32_t delay_ticks)
    : clients_(count, hello), answers_(std::size_t{delay_ticks} + 1) {}

void AnsweringClients::answer() {
    clients_.answer();
    match::DatagramList& latest = answers_[due_];  // it was handed out, and is the last one now
    latest.clear();
    latest.add_all(clients_);
    due_ = (due_ + 1) % answers_.size();
    handed_out_ = 0;
}

std::size_t AnsweringClients::hand_out(PeerId& peer, std::span<std::byte> buffer) {
    const match::DatagramList& due = answers_[due_];
    if (handed_out_ == due.entries().size()) {
        return nothing_received;
    }
    return due.give(due.entries()[handed_out_++], peer, buffer);
}

void AnsweringClients::add_to_digest(PeerId peer, std::span<const std::byte> datagram) noexcept {
    digest_ = hash64(hash64(datagram), hash64(peer.value, digest_));
}

void AnsweringClients::send(PeerId peer, std::span<const std::byte> datagram) {
    replayout_uncounted_send(*this, peer, datagram.data(), datagram.size());
}

std::size_t AnsweringClients::receive(PeerId& peer, std::span<std::byte> buffer) {
    return replayout_uncounted_receive(*this, peer, buffer.data(), buffer.size());
}

}  // namespace replayout::bench
