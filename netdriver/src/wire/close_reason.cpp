// SPDX-License-Identifier: MIT
#include <replayout/netdriver/close_reason.h>

namespace replayout {

std::string_view to_string(CloseReason reason) noexcept {
    switch (reason) {
        case CloseReason::None:
            return "none";
        case CloseReason::Requested:
            return "requested";
        case CloseReason::Timeout:
            return "timeout";
        case CloseReason::Replaced:
            return "replaced";
        case CloseReason::ServerFull:
            return "server full";
        case CloseReason::WireVersion:
            return "wire version";
        case CloseReason::LayoutMismatch:
            return "layout mismatch";
        case CloseReason::MalformedPacket:
            return "malformed packet";
        case CloseReason::MalformedBunch:
            return "malformed bunch";
        case CloseReason::MalformedBlock:
            return "malformed block";
        case CloseReason::NotAllowed:
            return "not allowed";
        case CloseReason::InvalidAck:
            return "invalid ack";
        case CloseReason::UnknownChannel:
            return "unknown channel";
        case CloseReason::ReliableOverflow:
            return "reliable overflow";
        case CloseReason::TooManyChannels:
            return "too many channels";
        case CloseReason::TooManyReferences:
            return "too many references";
        case CloseReason::TooManyLayouts:
            return "too many layouts";
        case CloseReason::UnknownFunction:
            return "unknown function";
        case CloseReason::CallRefused:
            return "call refused";
        case CloseReason::TooManyCalls:
            return "too many calls";
        case CloseReason::CallsStalled:
            return "calls stalled";
        case CloseReason::TooMuchMemory:
            return "too much memory";
    }
    return "unknown";
}

}  // namespace replayout
